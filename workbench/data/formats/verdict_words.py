"""The words that other programs and people use for verdicts in tables, with their meanings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Final

import msgspec

from workbench.core.errors import UsageError, opt
from workbench.core.item import Refusal
from workbench.core.options import split_pair
from workbench.core.run import VerdictColumn
from workbench.core.verdict import OutcomeWord
from workbench.data.formats.fields import add_word
from workbench.data.formats.logs.logged import Grade, number_of
from workbench.data.formats.places import ColumnPath, value_at

MISSING: Final = frozenset(("", "nan", "none", "null", "na", "n/a", "#n/a", "<na>", "nat"))
"""Spellings of a missing value in tables."""

WORDS: Final[dict[str, OutcomeWord | None]] = {
    **dict.fromkeys(("correct", "true", "t", "yes", "y", "1", "1.0", "right", "pass", "passed"), "correct"),
    **dict.fromkeys(("incorrect", "false", "f", "no", "n", "0", "0.0", "wrong", "fail", "failed"), "incorrect"),
    **dict.fromkeys(("abstain", "abstained", "undecided", "unsure"), "abstain"),
    "error": "error",
    **dict.fromkeys(MISSING, None),
}
"""The verdict that each word (in lower case) stands for; None for a missing value. Any other number is a score."""

MISTAKES: Final = 2
"""Number of rows with another number or grade from which a column of people's labels is a scale; a single such row is
taken for a mistake."""
_GRADES: Final = frozenset("abcde")
"""Letters that, in addition to "f", show that a column has letter grades."""
_MAX_WORD: Final = 40
_CALLED: Final = "correct, incorrect, true, false, yes, no, 1, 0, pass, fail, abstain, error, or a number for a score"
_tokens = msgspec.json.Decoder(dict[str, msgspec.Raw])


def parse_verdicts(texts: Iterable[str]) -> dict[str, str]:
    """Parse ``--verdict NAME=COLUMN`` options; return the columns by verifier.

    Raises:
        UsageError: An option is not a pair, or names a verifier twice.
    """
    columns: dict[str, str] = {}
    for text in texts:
        try:
            name, column = (side.strip() for side in split_pair(text))
        except UsageError:
            name = column = ""
        if not name or not column:
            raise UsageError(
                f"{opt.verdict}: {text!r} is not a FIELD=COLUMN pair.", f"Write {opt.verdict:NAME=COLUMN}."
            )
        if name in columns:
            raise UsageError(f"{opt.verdict} names {name!r} twice.", "Give each column its own verifier.")
        columns[name] = column
    return columns


def is_scale(sample: Iterable[Mapping[str, msgspec.Raw]], place: ColumnPath, least: int = 1) -> bool:
    """Return whether at least ``least`` values are numbers other than 0 and 1, or grades such as A. If so, 0, 1 and F
    in this column are scores or grades as well, not verdicts.
    """
    found = (value_at(cells, place) for cells in sample)
    values = chain.from_iterable(value if isinstance(value, list) else [value] for value in found)
    return sum(number_of(value) not in (None, 0, 1) or _normalised_word(value) in _GRADES for value in values) >= least


def in_words(value: object) -> str | None:
    """Return the verdict that a value stands for; any other value is returned in lower case, an empty one as None."""
    return WORDS.get(word := _normalised_word(value), word)


def are_all_verdicts(values: Iterable[Any]) -> bool:
    words = {_normalised_word(value) for value in values}
    return words <= WORDS.keys() and not words <= MISSING


def mostly_verdicts(values: Iterable[Any]) -> bool:
    words = [word for value in values if (word := _normalised_word(value)) not in MISSING]
    return 2 * sum(word in WORDS for word in words) >= len(words)


def may_be_verdicts(values: Iterable[Any]) -> bool:
    return any(number_of(one) is not None or WORDS.get(_normalised_word(one)) is not None for one in values)


class GraderColumns:
    """Reads columns of a file as verifiers' verdicts, and counts their values.

    Args:
        columns: The columns by verifier.
        places: The paths of the columns in a row, by verifier.
        scales: Verifiers whose columns are scores or grades.

    Attributes:
        counts: The counts of each column's values, by verifier.
    """

    def __init__(self, columns: Mapping[str, str], places: Mapping[str, ColumnPath], scales: frozenset[str]) -> None:
        self.counts = {name: VerdictColumn(verifier=name, column=column, words={}) for name, column in columns.items()}
        self._places, self._scales = places, scales

    def read(self, line: int, document: bytes) -> tuple[Grade | Refusal, ...]:
        """Return the verdicts in a row, and rejections of invalid ones.

        Args:
            document: The row as a valid JSON object.
        """
        cells = _tokens.decode(document)
        found = (self._read(line, count, value_at(cells, self._places[name])) for name, count in self.counts.items())
        return tuple(one for one in found if one is not None)

    def _read(self, line: int, count: VerdictColumn, value: Any) -> Grade | Refusal | None:
        word, number = _normalised_word(value), number_of(value)
        if number is not None and (count.verifier in self._scales or word not in WORDS):
            count.scored += 1
            return Grade(verifier=count.verifier, score=number)
        if word not in WORDS or (count.verifier in self._scales and len(word) == 1):
            count.unknown += 1
            said = (value if isinstance(value, str) else json.dumps(value))[:_MAX_WORD]
            add_word(count.words, said)
            message = f"{said!r} is not a word for a verdict of {count.verifier}. Write {_CALLED}."
            return Refusal(line=line, code="wrong_type", field=count.column, message=message, raw=b"")
        verdict = WORDS[word]
        if verdict is None:
            count.missing += 1
            return None
        setattr(count, verdict, getattr(count, verdict) + 1)
        return Grade(verifier=count.verifier, verdict=verdict)


def _normalised_word(value: Any) -> str:
    if value is None or isinstance(value, list | dict):
        return "" if value is None else json.dumps(value)
    return str(value).strip().casefold()
