"""Items and verdicts with the counts that the paper's numbers imply, as files to import."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.paper.figures import BENCH, HARD, JUDGES, SUBTYPES, TABLE_2, TABLE_3, TABLE_4, TABLE_5, TYPES
from workbench.core.taxonomy import type_display

HARD_TYPES = {"A": 252, "B": 88, "C": 430, "D": 230}
HARD_DOMAINS = (("general_reasoning", 303), ("logic_reasoning", 315), ("math_reasoning", 382))
HARD_CORRECT, HARD_TWICE = 291, 55
BENCH_DOMAINS = (("general_reasoning", 202), ("logic_reasoning", 249), ("math_reasoning", 549))
WITHOUT = "+no-reference"

Row = dict[str, Any]


def rows_of(table: str) -> dict[str, list[str]]:
    """Return the rows of a printed table by name."""
    return {name: cells for name, *cells in (line.split() for line in table.split("\n") if line)}


def share(printed: str) -> float:
    """Return a printed number as a share, without the difference after it."""
    return float(printed.replace("-", " ").replace("+", " ").split()[0]) / 100


def count(printed: str, n: int) -> int:
    """Return the count out of ``n`` that a printed percentage implies."""
    return round(share(printed) * n)


def bench_items() -> list[Row]:
    """VerifyBench: 1,000 questions with one correct and one incorrect completion each."""
    subtypes = [code for code, size in SUBTYPES.items() for _ in range(size // 2)]
    domains = _spread(BENCH_DOMAINS)
    return [
        _row(BENCH, question, number, code, domain, number == 0)
        for question, (code, domain) in enumerate(zip(subtypes, domains, strict=True))
        for number in (0, 1)
    ]


def hard_items() -> list[Row]:
    """VerifyBench-Hard: 1,000 completions of 945 questions; the questions with two completions are of type C."""
    types = [code for code, size in HARD_TYPES.items() for _ in range(size)]
    domains = _spread(HARD_DOMAINS)
    first = types.index("C")
    rows, question = [], -1
    for place, (code, domain) in enumerate(zip(types, domains, strict=True)):
        second = first <= place < first + 2 * HARD_TWICE and (place - first) % 2 == 1
        question += not second
        correct = (place + 1) * HARD_CORRECT // 1000 > place * HARD_CORRECT // 1000
        rows.append(_row(HARD, question, int(second), f"{code}1", domain, correct))
    return rows


def verdicts(bench: list[Row], hard: list[Row]) -> Iterator[Row]:
    """Return the verdicts of every verifier of tables 2 to 5."""
    by_subtype = {
        judge: {code: cells[place] for code, cells in rows_of(TABLE_5).items() if len(code) > 1}
        for place, judge in enumerate(JUDGES.values())
    }
    for name, cells in rows_of(TABLE_2).items():
        groups = by_subtype.get(name) or dict(zip(TYPES, cells, strict=False))
        yield from _verdicts(name, bench, groups)
        yield from _verdicts(name, hard, dict(zip(TYPES, cells[5:], strict=False)))
    for name, (_, without, _) in rows_of(TABLE_3).items():
        yield from _verdicts(name + WITHOUT, bench, {"": without})
    for name, cells in rows_of(TABLE_4).items():
        yield from _scored(name, bench, dict(zip(TYPES, cells, strict=False)))


def write(path: Path, rows: Iterable[Row]) -> Path:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _row(dataset: str, question: int, number: int, subtype: str, domain: str, correct: bool) -> Row:
    return {
        "question_id": f"{dataset}-q{question}",
        "completion_id": f"{dataset}-q{question}-{number}",
        "question": f"Question {question}?",
        "answer": "7",
        "completion": f"It is {7 if correct else 8}.",
        "gold_correct": correct,
        "completion_model": "m",
        "source": f"{domain}/made",
        "answer_type": type_display(subtype),
        "answer_subtype": type_display(subtype[0]),
    }


def _spread(sizes: Iterable[tuple[str, int]]) -> list[str]:
    return [name for name, size in sizes for _ in range(size)]


def _members(items: list[Row], group: str) -> list[Row]:
    return [row for row in items if row["answer_type"].startswith(group)]


def _verdicts(name: str, items: list[Row], figures: Mapping[str, str]) -> Iterator[Row]:
    """Return verdicts: in each group as many are right as its number implies; every third wrong one abstains."""
    for group, printed in figures.items():
        members = _members(items, group)
        right = count(printed, len(members))
        for place, row in enumerate(members):
            verdict = row["gold_correct"] if place < right else not row["gold_correct"]
            word = "correct" if verdict else "incorrect"
            undecided = place >= right and place % 3 == 0
            yield {"completion_id": row["completion_id"], "verifier": name, "verdict": "abstain" if undecided else word}


def _scored(name: str, items: list[Row], figures: Mapping[str, str]) -> Iterator[Row]:
    """Return scores: in each type as many pairs are right as its number implies; every other wrong one is a tie."""
    for group, printed in figures.items():
        members = _members(items, group)
        pairs = list(zip(members[::2], members[1::2], strict=True))
        right = count(printed, len(pairs))
        for place, (correct, incorrect) in enumerate(pairs):
            scores = (1.5, 0.5) if place < right else (0.5, 0.5) if place % 2 else (0.5, 1.5)
            for row, score in zip((correct, incorrect), scores, strict=True):
                yield {"completion_id": row["completion_id"], "verifier": name, "score": score}
