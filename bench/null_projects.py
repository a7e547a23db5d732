"""False positives in projects without any real difference, through the real commands.

Usage: python -m bench.null_projects [--projects 500] [--seed 0] [--single]

Each project is imported (``workbench import``, ``workbench verdicts import``) and evaluated (``accuracy``, ``compare``,
``estimate``, ``downstream``, all ``--json``): 80 questions of geometric sizes, with ``--single`` 320 of one completion
each, in four types of two subtypes each, of unequal frequency, with completions by three models of unequal frequency.
Four verifiers are right with a probability that varies by question, three of them with the same mean; three more guess,
and half of gold is correct. For ``estimate`` gold is there for a third of the items, or of the questions; scores of
models trained with them are random. A JSON line for each kind of p has the share of all that are at most .05, one for
each kind of adjusted p the share of projects in which any is.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from click.testing import CliRunner

from workbench.app.cli import root

TABLES: Final = ("subtype", "model")
SUBTYPES: Final = ("A1", "A2", "B1", "B2", "C1", "C2", "D1", "D2")
MODELS: Final = ("small", "middle", "large")
ALIKE: Final = ("one", "second", "third")
GUESSING: Final = ("coin", "die", "card")
VERIFIERS: Final = {**dict.fromkeys(ALIKE, 0.9), "other": 0.75, **dict.fromkeys(GUESSING, 0.5)}
"""The mean probability over questions that each is right."""
_QUESTIONS: Final = 80
_SINGLE: Final = 320
"""The number of questions where each has one completion: the total number of completions is the same."""
_CORRELATION: Final = 0.3
_CORRECT: Final = 0.5
_LEVEL: Final = 0.05
_GOAL: Final = 0.06


class Found(NamedTuple):
    """One kind of value from a table of a project, for each of its tests.

    Attributes:
        name: The table and the kind of value.
        values: p-values, or adjusted ones.
        adjusted: Whether they control the error rate of the whole table.
    """

    name: str
    values: list[float]
    adjusted: bool


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--projects", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--single", action="store_true", help="one completion a question")
    options, _ = parser.parse_known_args()
    of_all: dict[tuple[str, bool], list[list[float]]] = defaultdict(list)
    for number in range(options.projects):
        with tempfile.TemporaryDirectory() as folder:
            for found in _found(Path(folder), np.random.default_rng([options.seed, number]), options.single):
                of_all[found.name, found.adjusted].append(found.values)
    for (name, adjusted), projects in of_all.items():
        low = [[value <= _LEVEL for value in values] for values in projects]
        each = [any(values) for values in low] if adjusted else [value for values in low for value in values]
        value = float(np.mean(each)) if each else 0.0
        line = {
            "figure": f"null projects with any {name} <= .05" if adjusted else f"size of {name}",
            "value": value,
            "goal": f"<= {_GOAL}",
            "ok": value <= _GOAL,
            "projects": len(projects),
            "tests": sum(map(len, low)),
        }
        print(json.dumps(line), flush=True)


def _found(folder: Path, generator: np.random.Generator, single: bool) -> Iterator[Found]:
    """Return the values of every table of a project in which nothing differs."""
    items, verdicts = _drawn(generator, single)
    whole, partly = folder / "whole.db", folder / "partly.db"
    _made(whole, items, verdicts)
    for table in TABLES:
        rows = _evaluate("accuracy", whole, "--by", table)["rows"]
        yield _values(f"p of accuracy by {table}", rows, "p")
        yield _values(f"q of accuracy by {table}", rows, "q", adjusted=True)
    for table in TABLES:
        pair = _evaluate("compare", whole, *ALIKE[:2], "--by", table)
        if table == TABLES[0]:
            yield _values("permutation p of two", [pair], "permutation_p")
            yield _values("McNemar's p of two", [pair], "mcnemar_p")
        yield _values(f"p of two by {table}", pair["groups"], "permutation_p")
        yield _values(f"q of two by {table}", pair["groups"], "q", adjusted=True)
    family = _evaluate("compare", whole, *ALIKE)["family"]
    yield _values("Holm's p of a family", family, "holm_p", adjusted=True)
    yield _values("q of a family", family, "q", adjusted=True)
    lines = [
        {"verifier": name, "benchmark": "random", "score": score}
        for name, score in zip(VERIFIERS, generator.random(len(VERIFIERS)).tolist(), strict=True)
    ]
    scores = [
        row[name]
        for row in _evaluate("downstream", whole, _written(folder / "scores.jsonl", lines))["rows"]
        for name in ("spearman", "kendall")
    ]
    yield _values("p of a rank correlation", scores, "p")
    for drawn, of_question in (("items", False), ("questions", True)):
        database = partly.with_stem(drawn)
        _made(database, _partly(items, generator, by_question=of_question), verdicts)
        checked = _evaluate("estimate", database, "one")["checks"]
        yield _values(f"p of a check of labels, drawn by {drawn}", checked, "p")
        # Adjusted like the values of `uneven`: by Bonferroni.
        known = [one["p"] * len(checked) for one in checked if one["p"] is not None]
        yield Found(f"adjusted p of a check of labels, drawn by {drawn},", known, adjusted=True)


def _values(name: str, rows: Sequence[dict[str, Any]], field: str, *, adjusted: bool = False) -> Found:
    return Found(name, [row[field] for row in rows if row[field] is not None], adjusted)


def _drawn(generator: np.random.Generator, single: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the lines of items and of verdicts.

    Args:
        single: Whether each question has one completion.
    """
    often = generator.dirichlet(np.full(len(SUBTYPES), 2.0))
    sharp = (1 - _CORRELATION) / _CORRELATION
    items: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for question in range(_SINGLE if single else _QUESTIONS):
        subtype = str(generator.choice(SUBTYPES, p=often))
        chance = {name: generator.beta(mean * sharp, (1 - mean) * sharp) for name, mean in VERIFIERS.items()}
        for completion in range(1 if single else int(generator.geometric(0.25))):
            gold = bool(generator.random() < _CORRECT)
            identity = {"question_id": f"q{question}", "completion_id": f"q{question}-{completion}"}
            model = str(generator.choice(MODELS, p=(0.6, 0.3, 0.1)))
            texts = {"question": f"Question {question}?", "reference": "7", "completion": f"7, {question}.{completion}"}
            items.append({**identity, **texts, "gold": gold, "subtype": subtype, "model": model})
            for name, own in chance.items():
                says = gold == bool(generator.random() < own)
                verdicts.append({**identity, "verifier": name, "verdict": "correct" if says else "incorrect"})
    return items, verdicts


def _partly(
    items: Sequence[dict[str, Any]], generator: np.random.Generator, *, by_question: bool
) -> list[dict[str, Any]]:
    """Return the same items with gold for only a third."""
    units = [item["question_id" if by_question else "completion_id"] for item in items]
    labelled = {unit for unit in dict.fromkeys(units) if generator.random() < 1 / 3} or {units[0]}
    return [
        item if unit in labelled else {name: value for name, value in item.items() if name != "gold"}
        for item, unit in zip(items, units, strict=True)
    ]


def _made(database: Path, items: Sequence[dict[str, Any]], verdicts: Sequence[dict[str, Any]]) -> None:
    """Import items and verdicts."""
    _run("import", database, _written(database.with_suffix(".items.jsonl"), items), "--dataset", "null")
    _run("verdicts", database, "import", _written(database.with_suffix(".verdicts.jsonl"), verdicts))


def _written(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _evaluate(command: str, database: Path, *words: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_run(command, database, *words, "--json"))
    return found


def _run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(root, list(map(str, arguments)), catch_exceptions=False)
    if result.exit_code:
        raise RuntimeError(f"workbench {' '.join(map(str, arguments))}: {result.output}")
    return result.stdout


if __name__ == "__main__":
    main()
