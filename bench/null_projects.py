"""How often accuracy tables announce a group that differs in projects where none does, through the real commands.

Usage: python -m bench.null_projects [--projects 500] [--seed 0]

Each project is imported (``workbench import``, ``workbench verdicts import``) and asked (``workbench accuracy --json``)
by subtype and by model: 80 questions of geometric sizes, in four types of two subtypes each, of unequal frequency, with
completions by three models of unequal frequency. Two verifiers are right with a chance of the question's own. One JSON
line a table: the share of projects in which any q is at most .05.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np
from click.testing import CliRunner

from workbench.app.cli import root

TABLES: Final = ("subtype", "model")
SUBTYPES: Final = ("A1", "A2", "B1", "B2", "C1", "C2", "D1", "D2")
MODELS: Final = ("small", "middle", "large")
_QUESTIONS: Final = 80
_CORRELATION: Final = 0.3
_ACCURACIES: Final = {"one": 0.9, "other": 0.75}
_GOAL: Final = 0.06


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--projects", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options, _ = parser.parse_known_args()
    found: dict[str, list[bool]] = {table: [] for table in TABLES}
    tested = dict.fromkeys(TABLES, 0)
    for number in range(options.projects):
        with tempfile.TemporaryDirectory() as folder:
            for table, q in _announced(Path(folder), np.random.default_rng([options.seed, number])).items():
                tested[table] += len(q)
                found[table].append(min(q, default=1.0) <= 0.05)
    for table, announced in found.items():
        value = float(np.mean(announced))
        line = {"figure": f"null projects with any q <= .05 by {table}", "value": value, "goal": f"<= {_GOAL}"}
        print(
            json.dumps({**line, "ok": value <= _GOAL, "projects": len(announced), "cells": tested[table]}), flush=True
        )


def _announced(folder: Path, generator: np.random.Generator) -> dict[str, list[float]]:
    """The q-values of each table of a project in which no group differs."""
    items, verdicts = _drawn(generator)
    for name, lines in (("items.jsonl", items), ("verdicts.jsonl", verdicts)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    database = str(folder / "p.db")
    _run("import", database, str(folder / "items.jsonl"), "--dataset", "null")
    _run("verdicts", database, "import", str(folder / "verdicts.jsonl"))
    reports = {table: json.loads(_run("accuracy", database, "--by", table, "--json")) for table in TABLES}
    return {table: [row["q"] for row in report["rows"] if row["q"] is not None] for table, report in reports.items()}


def _drawn(generator: np.random.Generator) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Lines of items and of verdicts."""
    often = generator.dirichlet(np.full(len(SUBTYPES), 2.0))
    sharp = (1 - _CORRELATION) / _CORRELATION
    items: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for question in range(_QUESTIONS):
        subtype = str(generator.choice(SUBTYPES, p=often))
        chance = {name: generator.beta(mean * sharp, (1 - mean) * sharp) for name, mean in _ACCURACIES.items()}
        for completion in range(int(generator.geometric(0.25))):
            gold = bool(generator.random() < 0.4)
            identity = {"question_id": f"q{question}", "completion_id": f"q{question}-{completion}"}
            model = str(generator.choice(MODELS, p=(0.6, 0.3, 0.1)))
            texts = {"question": f"Question {question}?", "reference": "7", "completion": f"7, {question}.{completion}"}
            items.append({**identity, **texts, "gold": gold, "subtype": subtype, "model": model})
            for name, own in chance.items():
                says = gold == bool(generator.random() < own)
                verdicts.append({**identity, "verifier": name, "verdict": "correct" if says else "incorrect"})
    return items, verdicts


def _run(*arguments: str) -> str:
    result = CliRunner().invoke(root, list(arguments), catch_exceptions=False)
    if result.exit_code:
        raise RuntimeError(f"workbench {' '.join(arguments)}: {result.output}")
    return result.stdout


if __name__ == "__main__":
    main()
