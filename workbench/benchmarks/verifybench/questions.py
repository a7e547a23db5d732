"""Questions with completions that somebody, a judge or people, has called correct or incorrect."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.benchmarks.draws import first_drawn_of

Lack = Literal["no_verdict", "too_few_correct", "too_few_incorrect", "too_few_of_both"]
"""Why a question gives nothing to a set of so many correct and so many incorrect completions."""

LACKS: Final[dict[str, str]] = {
    "no_verdict": "no completion is decided",
    "too_few_correct": "too few are correct",
    "too_few_incorrect": "too few are incorrect",
    "too_few_of_both": "too few are correct, too few incorrect",
}


class Completion(Struct, frozen=True, kw_only=True):
    """One completion.

    Attributes:
        item: Row id.
        key: Its id within its question.
        correct: What was said of it; None for neither: an abstention, an error, a conflict, or nothing at all.
    """

    item: int
    key: str
    model: str
    correct: bool | None


class Question(Struct, frozen=True, kw_only=True):
    """One question.

    Attributes:
        id: Row id.
        dataset, key: What it is known by in every database.
        type: The letter of its answer type; `UNTYPED` for none.
        subtype: Its code; `UNTYPED` for none.
    """

    id: int
    dataset: str
    key: str
    type: str
    subtype: str
    source: str
    completions: tuple[Completion, ...]

    def drawn_by(self, step: str) -> tuple[str, str, str]:
        """What chance knows the question by in a step."""
        return step, self.dataset, self.key


def lack(question: Question, each: int) -> Lack | None:
    """Why a question hasn't ``each`` correct and ``each`` incorrect completions; None if it has."""
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
    """``each`` correct and ``each`` incorrect completions of a question, drawn; all of a kind that it lacks."""
    drawn: list[Completion] = []
    for correct in (True, False):
        said = [one for one in question.completions if one.correct is correct]
        drawn += first_drawn_of(said, each, seed, question.drawn_by(step), lambda one: one.key)
    return tuple(drawn)
