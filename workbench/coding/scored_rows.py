"""Files of scored solutions, one a line, as Scoring Verifiers' ``evaluate.py`` reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.core.numbers import is_figure
from workbench.data.formats.explain import RefusedError, refusal
from workbench.data.formats.records import read_checked
from workbench.statistics.records.ranking import ScoredRow

DATASETS: Final = ("HE_plus", "HE_base", "MBPP_plus", "MBPP_base")
"""Names that such a file may use; the released code passes over any other without a word."""

SCORES: Final = {"utg": "average_test_score", "reward": "reward.reward_score"}
"""Verifier -> the key of its scores: generated tests, and a reward model."""

_DECODER = msgspec.json.Decoder(ScoredRow)


class ScoredRows(Struct, frozen=True, kw_only=True):
    """A file's rows.

    Attributes:
        verifiers: Those that have scores: every row taken has one of each.
        rows: With their scores by verifier.
        refused: Lines that were not taken.
    """

    verifiers: tuple[str, ...]
    rows: list[tuple[ScoredRow, dict[str, float]]]
    refused: list[Refusal]


def read(path: Path) -> ScoredRows:
    """Read a file. A row that lacks a score which others have is refused.

    Raises:
        FormatError: The file can't be read, has no score or row at all, or names a data set that is none of `DATASETS`.
    """
    taken: list[tuple[int, ScoredRow]] = []
    refused: list[Refusal] = []
    for line, found in read_checked(path, _DECODER, _fault):
        if isinstance(found, Refusal):
            refused.append(found)
        else:
            _require_known(path, line, found.dataset)
            taken.append((line, found))
    scores = [(line, row, _scores(row)) for line, row in taken]
    verifiers = tuple(name for name in SCORES if any(name in found for _, _, found in scores))
    if not verifiers and not refused:
        raise FormatError(f"{path}: no row has a score.", f"Scores are {' or '.join(SCORES.values())}.")
    rows = []
    for line, row, given in scores:
        missing = next((name for name in verifiers if name not in given), None)
        if missing is None:
            rows.append((row, given))
        else:
            message = f"{SCORES[missing]} is missing, and other rows have it."
            refused.append(refusal(line, b"", RefusedError("missing_field", SCORES[missing], message)))
    return ScoredRows(verifiers=verifiers, rows=rows, refused=sorted(refused, key=lambda one: one.line))


def _require_known(path: Path, line: int, dataset: str) -> None:
    if dataset not in DATASETS:
        raise FormatError(
            f"{path}:{line}:dataset: {dataset!r} is none of the data sets.", f"They are {', '.join(DATASETS)}."
        )


def _scores(row: ScoredRow) -> dict[str, float]:
    found = {"utg": row.average_test_score, "reward": None if row.reward is None else row.reward.reward_score}
    return {name: score for name, score in found.items() if score is not None}


def _fault(row: ScoredRow) -> tuple[str, str] | None:
    """A number that is none: JSON can spell numbers that are too large for a float."""
    values = {"rank": row.rank, "ground_average_test_score": row.ground_average_test_score}
    values |= {SCORES[name]: score for name, score in _scores(row).items()}
    wrong = next((name for name, value in values.items() if not is_figure(value)), None)
    return None if wrong is None else (wrong, f"{wrong} is no finite number, or above 1e100.")
