"""All texts with a known label that `rules` is judged on, by corpus."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.documents import ROOT
from tests.unit.verifiers.rules.table import PAIRS, boxed
from workbench.core.verdict import VerifierInput

FOLDER = Path(__file__).resolve().parent
SHARED = ROOT.parent / "shared" / "data"
WHOLE = re.compile(r"boxed|\*\*|[.。!?？✗]$|\n|~~|答案|^Wie|Antwort|respuesta")
"""A text that is a completion; others are tried in a box and after "the answer is"."""
TRIED = ("refused", "accepted")
LABELS = {"refused": False, "wrong": False, "accepted": True, "dressed": True}


class Case(NamedTuple):
    """An input and whether its completion is right."""

    item: VerifierInput
    gold: bool


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def case(row: dict[str, Any], reference: str, gold: str, subtype: str) -> Case:
    label = row.get(subtype)
    return Case(
        VerifierInput(
            item=0,
            question=row["question"],
            reference=row[reference],
            completion=row["completion"],
            subtype=label.split(" ")[0] if label else None,
        ),
        row[gold],
    )


def ours(name: str) -> list[Case]:
    return [case(row, "reference", "gold", "subtype") for row in rows(FOLDER / name)]


def shared(name: str) -> list[Case]:
    return [case(row, "answer", "gold_correct", "answer_type") for row in rows(SHARED / name)]


def pairs() -> list[Case]:
    return [
        Case(item, pair.equal)
        for pair in PAIRS
        for item in ((pair.forward, pair.backward) if pair.both_ways else (pair.forward,))
    ]


def twin_items(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((FOLDER / "twins" / name).read_text(encoding="utf-8"))["item"]
    return found


def completions(text: str) -> list[str]:
    return [text] if WHOLE.search(text) else [boxed(text), f"The reasoning is over.\n\nThe answer is {text}"]


def twins() -> Iterator[Case]:
    for path in sorted((FOLDER / "twins").glob("*.toml")):
        for item in twin_items(path.name):
            for key, gold in LABELS.items():
                for text in item.get(key, ()):
                    for completion in completions(text) if key in TRIED else [text]:
                        yield case(item | {"completion": completion, "gold": gold}, "reference", "gold", "subtype")


CORPORA: dict[str, Callable[[], list[Case]]] = {
    "rows": lambda: ours("rows.jsonl"),
    "families": lambda: ours("families.jsonl"),
    "pairs": pairs,
    "twins": lambda: list(twins()),
}
SHARED_CORPORA: dict[str, Callable[[], list[Case]]] = {
    "reported_cases": lambda: [
        case(row, "reference", "gold", "subtype") for row in rows(SHARED / "reported_cases.jsonl")
    ],
    "near_misses": lambda: shared("near_misses.jsonl"),
    "verifybench_hard_dev": lambda: shared("verifybench_hard_dev.jsonl"),
}
"""Read from the folder of shared data; absent elsewhere."""
