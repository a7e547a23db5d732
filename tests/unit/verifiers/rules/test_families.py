"""Families of answers that are equal, and of answers that look alike and are not, written without knowing the rules."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.unit.verifiers.rules.judging import by_rules
from workbench.core.verdict import Outcome, VerifierInput

ROWS = [
    json.loads(line) for line in (Path(__file__).parent / "families.jsonl").read_text(encoding="utf-8").splitlines()
]
MOST_REFUSED = 0.25
"""Of the right answers; many of them are right by what words mean."""


@pytest.fixture(scope="module")
def accepted() -> list[bool]:
    inputs = [
        VerifierInput(item=0, question=row["question"], reference=row["reference"], completion=row["completion"])
        for row in ROWS
    ]
    return [verdict.outcome is Outcome.CORRECT for verdict in by_rules(inputs)]


def test_nothing_wrong_is_accepted(accepted: list[bool]) -> None:
    wrong = [row["completion"] for row, said in zip(ROWS, accepted, strict=True) if said and not row["gold"]]
    assert wrong == []


def test_most_of_what_is_right_is_accepted(accepted: list[bool]) -> None:
    right = [said for row, said in zip(ROWS, accepted, strict=True) if row["gold"]]
    assert right.count(False) <= MOST_REFUSED * len(right)


def test_every_family_has_rows_of_both_kinds() -> None:
    for gold in (True, False):
        rows = Counter(row["family"] for row in ROWS if row["gold"] is gold)
        assert len(rows) == 29
        assert min(rows.values()) >= 12
