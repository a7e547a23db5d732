"""Chooses as many questions with judged completions as possible within quotas and caps.

The choice is an integer programme: a question counts towards the limits of its stratum, its source and two models at
once. Neither a network flow nor a greedy rule solves this exactly, since an early choice can exclude two later ones.
HiGHS (scipy.optimize.milp) finds a proven optimum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import numpy as np
from msgspec import Struct
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from workbench.core.errors import WorkbenchError
from workbench.core.options import grouped
from workbench.data.alike import drawn_number, drawn_places
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray

# -- Questions whose completions a judge or annotators called correct or incorrect.


Lack = Literal["no_verdict", "too_few_correct", "too_few_incorrect", "too_few_of_both"]
"""Why a question lacks the required numbers of correct and incorrect completions."""
LACKS: Final[dict[str, str]] = {
    "no_verdict": "no completion is decided",
    "too_few_correct": "too few are correct",
    "too_few_incorrect": "too few are incorrect",
    "too_few_of_both": "too few are correct, too few incorrect",
}


class Completion(Struct, frozen=True, kw_only=True):
    """A completion to choose from.

    Attributes:
        item: The completion's row id.
        key: The completion's id within its question.
        correct: The verdict or label on it; None for an abstention, an error, a conflict, or no verdict.
    """

    item: int
    key: str
    model: str
    correct: bool | None


class Question(Struct, frozen=True, kw_only=True):
    """A question with its completions to choose from.

    Attributes:
        id: The question's row id.
        dataset, key: The question's data set and id, which are the same in every database.
        type: The letter of its answer type; `UNTYPED` without one.
        subtype: The code of its answer subtype; `UNTYPED` without one.
    """

    id: int
    dataset: str
    key: str
    type: str
    subtype: str
    source: str
    completions: tuple[Completion, ...]

    def drawn_by(self, step: str) -> tuple[str, str, str]:
        return step, self.dataset, self.key


def shortage(question: Question, each: int) -> Lack | None:
    """Explain why a question lacks ``each`` correct and ``each`` incorrect completions; None if it has them."""
    correct = sum(one.correct is True for one in question.completions)
    incorrect = sum(one.correct is False for one in question.completions)
    if correct + incorrect == 0:
        return "no_verdict"
    if correct >= each and incorrect >= each:
        return None
    if max(correct, incorrect) < each:
        return "too_few_of_both"
    return "too_few_correct" if correct < each else "too_few_incorrect"


def pick(question: Question, each: int, seed: int, step: str) -> tuple[Completion, ...]:
    """Draw ``each`` correct and ``each`` incorrect completions of a question. If there are fewer of a kind, return all
    of that kind."""
    names = [one.key for one in question.completions]
    verdicts = [one.correct for one in question.completions]
    places = picked(names, verdicts, each, seed, question.drawn_by(step))
    return tuple(question.completions[place] for place in places)


def picked(
    names: Sequence[str], said: Sequence[bool | None], each: int, seed: int, drawn_by: tuple[str, ...]
) -> list[int]:
    """Return the positions of the completions that `pick` draws.

    Args:
        names: Keys of a question's completions.
        said: The verdict or label on each: whether it is correct; None without one.
        drawn_by: Identifies the question in the draw; see `Question.drawn_by`.
    """
    found = []
    for correct in (True, False):
        places = [place for place, word in enumerate(said) if word is correct]
        drawn = drawn_places([names[place] for place in places], each, seed, *drawn_by)
        found += [places[place] for place in drawn]
    return found


STEP = "balanced"
"""Separates its draws from those of other steps with the same seed."""
Chosen = list[tuple[Question, tuple[Completion, ...]]]
"""Questions, each with the completion that is correct and the one that is not."""


class Caps(Struct, frozen=True):
    """The maximum that one source or one model may contribute; None for no limit.

    Attributes:
        source: Maximum number of questions of a source.
        model: Maximum number of completions of a model.
    """

    source: int | None = None
    model: int | None = None

    def are_met(self, chosen: Chosen) -> bool:
        sources = Counter(question.source for question, _ in chosen)
        models = Counter(one.model for _, both in chosen for one in both)
        most_of_source, most_of_model = (max(counts.values(), default=0) for counts in (sources, models))
        return most_of_source <= (self.source or len(chosen)) and most_of_model <= (self.model or 2 * len(chosen))


def choose_most(
    questions: Sequence[Question], strata: Sequence[str], quotas: Mapping[str, int], caps: Caps, seed: int
) -> Chosen:
    """Choose one correct and one incorrect completion of as many questions as quotas and caps allow.

    Each completion has a random number that depends on ``seed``; of all optimal choices, the one with the smallest sum
    of these numbers is returned.

    Args:
        questions: Questions to choose from.
        strata: The stratum of each question.
        quotas: Stratum -> maximum number of questions.

    Raises:
        WorkbenchError: The solver finds no optimum.
    """
    options = [(place, one) for place, question in enumerate(questions) for one in question.completions]
    options = [(place, one) for place, one in options if one.correct is not None]
    of = np.array([place for place, _ in options])
    correct = np.array([bool(one.correct) for _, one in options])
    limits = _linear_constraints(questions, strata, quotas, caps, options)
    most = _solve(-correct.astype(float), limits)[correct].sum()
    exactly = LinearConstraint(sparse.csr_array(correct[None, :].astype(float)), most, most)
    cost = [float(drawn_number(seed, *questions[place].drawn_by(STEP), one.key)) for place, one in options]
    chosen = _solve(np.array(cost), [*limits, exactly])
    places = sorted(np.flatnonzero(chosen), key=lambda place: not correct[place])
    both = grouped((int(of[place]), options[place][1]) for place in places)
    return [(questions[place], tuple(both[place])) for place in sorted(both)]


def _linear_constraints(
    questions: Sequence[Question],
    strata: Sequence[str],
    quotas: Mapping[str, int],
    caps: Caps,
    options: Sequence[tuple[int, Completion]],
) -> list[LinearConstraint]:
    of = np.array([place for place, _ in options])
    sign = np.array([1 if one.correct else -1 for _, one in options])
    # A question is counted by its correct completion.
    counted = np.flatnonzero(sign > 0)
    limits = [
        LinearConstraint(_sum_matrix(of, np.arange(len(of)), sign), 0, 0),
        _upper_limit(of[counted], counted, len(of), 1),
    ]
    stratum, names = _encode_names(strata)
    limits.append(_upper_limit(stratum[of[counted]], counted, len(of), np.array([quotas[name] for name in names])))
    if caps.source is not None:
        source, _ = _encode_names([question.source for question in questions])
        limits.append(_upper_limit(source[of[counted]], counted, len(of), caps.source))
    if caps.model is not None:
        model, _ = _encode_names([one.model for _, one in options])
        limits.append(_upper_limit(model, np.arange(len(of)), len(of), caps.model))
    return limits


def _upper_limit(group: IntArray, option: IntArray, options: int, most: int | IntArray) -> LinearConstraint:
    return LinearConstraint(_sum_matrix(group, option, np.ones(len(option)), options), 0, most)


def _sum_matrix(
    group: IntArray, option: IntArray, weight: IntArray | FloatArray, options: int | None = None
) -> sparse.csr_array:
    shape = (int(group.max()) + 1, options or len(option))
    return sparse.csr_array((weight.astype(float), (group, option)), shape=shape)


def _encode_names(names: Sequence[str]) -> tuple[IntArray, list[str]]:
    known = list(dict.fromkeys(names))
    place = {name: number for number, name in enumerate(known)}
    return np.array([place[name] for name in names]), known


def _solve(cost: FloatArray, limits: Sequence[LinearConstraint]) -> BoolArray:
    found = milp(
        cost, integrality=np.ones(len(cost)), bounds=Bounds(0, 1), constraints=limits, options={"mip_rel_gap": 0}
    )
    if found.x is None or found.status != 0:
        raise WorkbenchError(f"No selection within the caps was found: {found.message}", "Change the caps.")
    return np.asarray(found.x > 0.5)
