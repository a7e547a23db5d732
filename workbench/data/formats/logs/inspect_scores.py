"""Scores of Inspect's scorers as grades: letters, truth values, numbers, and several of them under names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from workbench.core.verdict import OutcomeWord
from workbench.data.formats.logs.logged import Grade, graded, number_of, verifier_name

_WORDS: Final[dict[str, OutcomeWord]] = {
    "C": "correct",
    "I": "incorrect",
    "yes": "correct",
    "true": "correct",
    "no": "incorrect",
    "false": "incorrect",
}
_CODE: Final = re.compile(r"[\w.-]{1,60}")
_PARTIAL: Final = "P"
_NO_ANSWER: Final = "N"
_LONGEST: Final = 10_000
"""Characters of an explanation that are kept."""

UNSCORED: Final = "unscored"
"""Reason of a grade of a scorer that gave no value."""
NO_VERDICT: Final = "no_verdict"
"""Reason of a grade whose value is a word that we don't know."""


def scales_in(scored: Iterable[object]) -> list[str]:
    """The scorers, or parts of them, that give numbers beyond [0, 1] in some sample."""
    found: dict[str, None] = {}
    for scores in scored:
        for name, _, value in _values(scores):
            number = number_of(value)
            if number is not None and not 0 <= number <= 1:
                found[name] = None
    return list(found)


def grades_of(scores: object, task: str, completion: str, scales: Collection[str]) -> tuple[Grade, ...]:
    """What scorers said of a completion.

    Args:
        scores: Scorer -> its score.
        scales: What `scales_in` says of the log.
    """
    return tuple(
        _grade(verifier_name("inspect", task, name), score, value, completion, scale=name in scales)
        for name, score, value in _values(scores)
    )


def _values(scores: object) -> Iterator[tuple[str, Mapping[str, Any], object]]:
    """Every single value with its name and the score that it is of."""
    for name, score in scores.items() if isinstance(scores, Mapping) else ():
        if not isinstance(score, Mapping) or "value" not in score:
            continue
        value = score["value"]
        if isinstance(value, Mapping):
            yield from ((f"{name}/{key}", score, one) for key, one in value.items())
        elif isinstance(value, list):
            yield from ((f"{name}/{number}", score, one) for number, one in enumerate(value, 1))
        else:
            yield str(name), score, value


def _grade(verifier: str, score: Mapping[str, Any], value: object, completion: str, *, scale: bool) -> Grade:
    answer, explanation, reason = (_text(score.get(key)) for key in ("answer", "explanation", "reason"))
    found = _judged(verifier, value, scale=scale)
    return Grade(
        verifier=verifier,
        verdict=found.verdict,
        score=found.score,
        reason=reason if found.reason and reason and _CODE.fullmatch(reason) else found.reason,
        answer=answer if answer != completion else None,
        detail=explanation[:_LONGEST] if explanation and explanation != completion else found.detail,
    )


def _judged(verifier: str, value: object, *, scale: bool) -> Grade:
    """What a value says; a partly right answer has half a score, and an answer that is not there no verdict."""
    number = number_of(value)
    if isinstance(value, str) and number is None:
        word = value.strip()
        if word == _PARTIAL:
            return Grade(verifier=verifier, score=0.5)
        if word == _NO_ANSWER:
            return Grade(verifier=verifier, reason="no_answer_found")
        verdict = _WORDS.get(word) or _WORDS.get(word.lower())
        detail = None if verdict else word[:_LONGEST]
        return Grade(verifier=verifier, verdict=verdict, reason=None if verdict else NO_VERDICT, detail=detail)
    found = graded(verifier, value if isinstance(value, bool) else number, scale=scale)
    return found or Grade(verifier=verifier, reason=UNSCORED)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
