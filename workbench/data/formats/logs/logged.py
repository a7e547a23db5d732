"""What a row of a log holds: an item, and what the tool's own graders said of it."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any, Final

from msgspec import Struct

from workbench.core.numbers import is_figure
from workbench.core.verdict import OutcomeWord

_LONGEST: Final = 100
"""Characters of a verifier's name."""
_LONGEST_REPLY: Final = 200
_VERDICTS: Final[dict[float, OutcomeWord]] = {1: "correct", 0: "incorrect"}
_UNUSUAL = re.compile(r"[^\w.+@/-]+")


class Grade(Struct, frozen=True, kw_only=True):
    """What one grader said of one completion.

    Attributes:
        verifier: The grader's name, as `verifier_name` makes it.
        verdict: Its verdict; None where it gave a score only, or said that it could not tell.
        score: Its number, finite; None where it gave none.
        reason: A code of its own.
        answer: The completion's final answer as the grader read it.
        detail: More for a person, such as the grader's explanation.
    """

    verifier: str
    verdict: OutcomeWord | None = None
    score: float | None = None
    reason: str | None = None
    answer: str | None = None
    detail: str | None = None


class Logged(Struct, frozen=True, kw_only=True):
    """One completion of a log.

    Attributes:
        item: Our field -> value, None where there is none; other keys are kept beside them as they are.
        grades: What was said of it, one grade a grader.
    """

    item: dict[str, Any]
    grades: tuple[Grade, ...] = ()


def verifier_name(*parts: str) -> str:
    """A grader's name from what tells it from others: ``lm-eval/gsm8k/exact_match-strict-match``.

    What no verifier's name may have becomes ``-``; a long name ends in a hash of the whole.
    """
    name = "/".join(_UNUSUAL.sub("-", part).strip("-") or "-" for part in parts)
    if len(name) <= _LONGEST:
        return name
    mark = blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{name[: _LONGEST - len(mark) - 1]}-{mark}"


def graded(verifier: str, value: object, answer: str | None = None, *, scale: bool = False) -> Grade | None:
    """A grade from a number or a truth value; None where it is neither.

    True and 1 are the verdict "correct", False and 0 are "incorrect"; any other number is a score, and says nothing
    until a threshold makes a verdict of it.

    Args:
        answer: The completion's final answer as the grader read it.
        scale: The grader gives numbers beyond [0, 1]: then 0 and 1 are scores, too.
    """
    if isinstance(value, bool):
        return Grade(verifier=verifier, verdict="correct" if value else "incorrect", answer=answer)
    number = None if isinstance(value, str) else number_of(value)
    if number is None:
        return None
    verdict = None if scale else _VERDICTS.get(number)
    return Grade(verifier=verifier, verdict=verdict, score=number, answer=answer)


def unread(verifier: str, reply: str) -> Grade:
    """The grade of a grader whose reply holds no verdict that we know."""
    return Grade(verifier=verifier, verdict="abstain", reason="unparsed", detail=reply[-_LONGEST_REPLY:])


def sample_id(task: str, number: object, question: str, reference: str) -> str:
    """The id of a task's question: its number there, and a hash of its texts, which tasks of one name may not share."""
    content = blake2b(f"{question}\0{reference}".encode(errors="replace"), digest_size=4).hexdigest()
    return f"{task}/{number}-{content}"


def number_of(value: object) -> float | None:
    """A finite number, or a text that is one; None for anything else, truth values among it."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if is_figure(number) else None
