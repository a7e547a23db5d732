"""Questions with completions that somebody, a judge or people, has called correct or incorrect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from workbench.data.draws import drawn_places

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
    names = [one.key for one in question.completions]
    said = [one.correct for one in question.completions]
    places = picked(names, said, each, seed, question.drawn_by(step))
    return tuple(question.completions[place] for place in places)


def picked(
    names: Sequence[str], said: Sequence[bool | None], each: int, seed: int, drawn_by: tuple[str, ...]
) -> list[int]:
    """Where those stand that `pick` takes.

    Args:
        names: Keys of a question's completions.
        said: Whether each is correct; None for neither.
        drawn_by: What chance knows the question by; see `Question.drawn_by`.
    """
    found = []
    for correct in (True, False):
        places = [place for place, word in enumerate(said) if word is correct]
        drawn = drawn_places([names[place] for place in places], each, seed, *drawn_by)
        found += [places[place] for place in drawn]
    return found
