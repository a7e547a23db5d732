"""Recorded replies: parser version 1 reproduces upstream, version 2 agrees with a human reader."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from workbench.verifiers.judges.parsers import Reading, parser

pytestmark = pytest.mark.real_data
YES_NO: dict[object, str] = {
    True: "correct",
    False: "incorrect",
    None: "abstain",
    "correct": "correct",
    "incorrect": "incorrect",
}


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> list[dict[str, Any]]:
    return rows_of(shared_data / "judges" / "ice_score_java.jsonl")


def agrees(judge: str, reading: Reading, expected: object) -> bool:
    if judge == "ice_score":
        return reading.score == expected
    if judge == "compassverifier":
        return reading.label == expected
    return reading.verdict == YES_NO[expected]


def test_every_case_in_both_versions(shared_data: Path) -> None:
    cases = rows_of(shared_data / "judges" / "parser_cases.jsonl")
    assert len(cases) == 25
    for version, field in ((1, "upstream"), (2, "recommended")):
        wrong = [
            case
            for case in cases
            if not agrees(case["judge"], parser(f"{case['judge']}@{version}").parse(case["raw"]), case[field])
        ]
        assert wrong == []


def test_ice_score_as_upstream_reads_it(recorded: list[dict[str, Any]]) -> None:
    scores = [parser("ice-score@1").parse(row["raw"]).score for row in recorded]
    assert scores == [row["score_reparsed"] for row in recorded]
    published = [row["score_published"] for row in recorded]
    assert sum(ours != theirs for ours, theirs in zip(scores, published, strict=True)) == 7


def test_strict_ice_score_differs_from_upstream_where_expected(recorded: list[dict[str, Any]]) -> None:
    other = [row for row in recorded if row["raw"].strip() not in {"0", "1", "2", "3", "4"}]
    assert len(other) == 93
    pairs = Counter(
        (first.score, second.score)
        for row in recorded
        for first, second in [(parser("ice-score@1").parse(row["raw"]), parser("ice-score@2").parse(row["raw"]))]
        if first.score != second.score
    )
    assert sum(pairs.values()) == 71
    assert pairs[0, None] == 2
    assert sum(number for (first, second), number in pairs.items() if first == 0 and second) == 69


@pytest.mark.parametrize(
    ("judge", "counts", "accuracies"),
    [("nsnr", (936, 1200, 964, 119), (0.5902, 0.5899)), ("nswr", (675, 496, 1668, 380), (0.7279, 0.7276))],
)
def test_correct_means_four(
    recorded: list[dict[str, Any]], judge: str, counts: tuple[int, ...], accuracies: tuple[float, float]
) -> None:
    rows = [row for row in recorded if row["judge"] == judge]
    for version in (1, 2):
        read = parser(f"ice-score@{version}").parse
        found = Counter((read(row["raw"]).verdict, row["gold"]) for row in rows)
        forced = found["incorrect", 0] + found["abstain", 0]
        assert (found["correct", 1], found["correct", 0], forced, found["incorrect", 1]) == counts
        right = found["correct", 1] + found["incorrect", 0]
        assert round(right / len(rows), 4) == accuracies[version - 1]
        assert round((found["correct", 1] + forced) / len(rows), 4) == accuracies[0]
