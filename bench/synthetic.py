"""Synthetic projects of any size: 18 subtypes, 3 models or more, gold, runs of verdicts, and a few labelled items.

Everything follows from the item's number, so two builds of a size are equal.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from workbench.core.database.connection import Database
from workbench.core.database.schema import build_large_indexes, drop_large_indexes
from workbench.core.taxonomy import SUBTYPES, type_display

QUESTIONS = 8_012
"""Questions at full size; smaller sizes have at least one completion each."""

FULL = 1_450_000
MODELS = ("model-a", "model-b", "model-c")
SOURCES = (("algebra", "math"), ("physics", "science"), ("history", "humanities"), ("logic", "general"))
CREATED = "2025-01-01T00:00:00.000000Z"
VERIFIER = "rules"

_CODES = tuple(SUBTYPES)
_PUBLIC = ("labelled", "conflict", "final", "excluded")
_BATCH = 50_000


class _UncheckedDatabase(Database):
    """A database that is written while some of its indexes are missing."""

    def _require_same_schema(self, connection: Connection) -> None:
        pass


def build(
    path: Path,
    items: int,
    *,
    verdicts: bool = True,
    runs: int = 1,
    labelled: int = 2_000,
    pad: int = 0,
    models: int = len(MODELS),
) -> Path:
    """Create the database unless it exists.

    Args:
        path: The file; an unfinished build never has this name.
        items: The number of completions; about 181 per question at 1.45M.
        verdicts: Whether complete runs of verdicts are stored.
        runs: The number of runs, each of a different verifier.
        labelled: The number of items (evenly spread) with a state other than unlabelled.
        pad: Characters added before each completion's final answer.
        models: The number of models that wrote the completions.
    """
    if path.exists():
        return path
    unfinished = path.with_name(path.name + ".unfinished")
    for left in (unfinished, *(unfinished.with_name(unfinished.name + end) for end in ("-wal", "-shm"))):
        left.unlink(missing_ok=True)
    database = _UncheckedDatabase(unfinished, create=True)
    with database.write("normal") as connection:
        drop_large_indexes(connection)
    _names(database, items, runs, models)
    questions = min(QUESTIONS, items)
    _fill(database, "questions", _questions(questions))
    _fill(database, "question_text", _question_texts(questions))
    _fill(database, "completions", _completions(items, questions, models))
    _fill(database, "completion_text", _completion_texts(items, questions, _working(pad)))
    for run in range(1, runs + 1 if verdicts else 1):
        _fill(database, "verdicts", _verdicts(items, run))
    _fill(database, "item_states", _states(items, labelled))
    with database.write("normal") as connection:
        build_large_indexes(connection)
    database.reader().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return unfinished.rename(path)


def cached(items: int, **options: Any) -> Path:
    """Return a database of so many items in the temporary folder, built if missing; see `build`."""
    folder = Path(tempfile.gettempdir()) / "workbench-bench"
    folder.mkdir(exist_ok=True)
    name = "-".join(["items", str(items), *(f"{key}-{value}" for key, value in sorted(options.items()))])
    return build(folder / f"{name}.db", items, **options)


def released_rows(count: int, *, pad: int = 0, far: int = 5) -> Iterator[dict[str, Any]]:
    """Yield rows in the released schema with final answers of many kinds, half of them right, each with another
    question.

    Args:
        pad: Characters added before each completion's final answer.
        far: Every ``far``-th pair of answers can only be compared symbolically.
    """
    working = _working(pad)
    for number in range(1, count + 1):
        kind, reference, candidate = _pair(number, far)
        yield {
            "question_id": f"{number:032x}",
            "completion_id": f"{number + count:032x}",
            "question": f"Problem {number}. What is the result?\nA. {number}\nB. {number + 1}\nC. none of these",
            "answer": rf"We work it out and find $\boxed{{{reference}}}$.",
            "completion": rf"Attempt {number}. {working}So the result is $\boxed{{{candidate}}}$.",
            "gold_correct": number % 2 == 0,
            "completion_model": MODELS[number % len(MODELS)],
            "source": "algebra/synthetic",
            "answer_type": type_display(kind),
            "answer_subtype": type_display(kind[0]),
        }


def _pair(number: int, far: int) -> tuple[str, str, str]:
    """Return a subtype, a reference's final answer and a candidate, equal if the number is even."""
    other = number + number % 2
    if number % far == 0:
        return "B1", rf"\sum_{{i=1}}^{{n}} {number} i", rf"\sum_{{k=1}}^{{n}} {other} k"
    return (
        ("A1", f"{number}", f"{other}.0"),
        ("A2", rf"\frac{{{number}}}{{4}}", f"{other / 4}"),
        ("B1", f"x^2+{2 * number}x+{number**2}", rf"\left(x+{other}\right)^2"),
        ("B3", f"(0, {number}]", rf"\left(0, {other}\right]"),
        ("C1", "AB"[number % 2], "A"),
        ("D1", f"{number} km", f"{other}000 m"),
    )[number // 2 % 6]


def _names(database: Database, items: int, runs: int, models: int) -> None:
    with database.write("normal") as connection:
        connection.execute("INSERT INTO datasets (id, name, created_at) VALUES (1, 'synthetic', ?)", (CREATED,))
        connection.executemany(
            "INSERT INTO models (name) VALUES (?)", [(model_name(place),) for place in range(models)]
        )
        connection.executemany("INSERT INTO sources (name, domain) VALUES (?, ?)", SOURCES)
        for run in range(1, runs + 1):
            _run(connection, items, run)


def model_name(place: int) -> str:
    """Return the name of a model, counted from 0."""
    return f"model-{chr(ord('a') + place)}"


def verifier(run: int) -> str:
    """Return the name of the verifier of a run, counted from 1."""
    return VERIFIER if run == 1 else f"{VERIFIER}-{run}"


def _run(connection: Connection, items: int, run: int) -> None:
    connection.execute(
        "INSERT INTO verifiers (id, name, kind, config, config_hash, created_at) VALUES (?, ?, 'rule', ?, '0', ?)",
        (run, verifier(run), '{"options":{},"config":{}}', CREATED),
    )
    connection.execute(
        "INSERT INTO runs (id, verifier_id, version, selection, workers, state, items, created_at, started_at, "
        "finished_at, completed_at) VALUES (?, ?, '1', ?, 1, 'complete', ?, ?, ?, ?, ?)",
        (run, run, '{"conditions":[],"limit":null}', items, *[CREATED] * 4),
    )


_INSERTS = {
    "questions": "(id, dataset_id, key, source_id, type, subtype, hash) VALUES (?, 1, ?, ?, ?, ?, ?)",
    "question_text": "(id, text, reference) VALUES (?, ?, ?)",
    "completions": "(id, question_id, key, model_id, imported_gold, hash, characters) VALUES (?, ?, ?, ?, ?, ?, ?)",
    "completion_text": "(id, text) VALUES (?, ?)",
    "verdicts": "(run_id, completion_id, outcome, score, reason, ms) VALUES (?, ?, ?, NULL, ?, 0.5)",
    "item_states": "(completion_id, state, gold, gold_from, reason) VALUES (?, ?, ?, ?, ?)",
}


def _fill(database: Database, table: str, rows: Iterator[tuple[object, ...]]) -> None:
    while batch := list(islice(rows, _BATCH)):
        with database.write("normal") as connection:
            connection.executemany(f"INSERT INTO {table} {_INSERTS[table]}", batch)


def _scattered(number: int, size: int) -> int:
    """Return a pseudo-random number below ``size`` that follows from ``number`` (Knuth's multiplicative hash)."""
    return ((number * 2_654_435_761) % 2**32) * size >> 32


def _question_of(number: int, questions: int) -> int:
    return (number - 1) % questions + 1


def _questions(count: int) -> Iterator[tuple[object, ...]]:
    for number in range(1, count + 1):
        code = _CODES[_scattered(number, len(_CODES))]
        yield number, f"q-{number:05}", number % len(SOURCES) + 1, code[0], code, number.to_bytes(16, "big")


def _question_texts(count: int) -> Iterator[tuple[object, ...]]:
    for number in range(1, count + 1):
        text = f"Problem {number}. A sequence begins with {number} and grows by {number % 7 + 1}. Give its fifth term."
        yield number, text, rf"The fifth term is $\boxed{{{_answer(number)}}}$."


def _completions(count: int, questions: int, models: int) -> Iterator[tuple[object, ...]]:
    for number in range(1, count + 1):
        model = _scattered(number, models) + 1
        gold = int(_is_right(number))
        length = 1_000 + _scattered(number, 9_000)
        question = _question_of(number, questions)
        yield number, question, f"c-{number:07}", model, gold, number.to_bytes(16, "big"), length


def _completion_texts(count: int, questions: int, working: str) -> Iterator[tuple[object, ...]]:
    for number in range(1, count + 1):
        question = _question_of(number, questions)
        found = _answer(question) + (0 if _is_right(number) else 1)
        yield (
            number,
            f"We begin with {question} and add {question % 7 + 1} four times; attempt {number}. {working}"
            rf"Each step adds the same amount, so the fifth term is \(a_5 = a_1 + 4d\). Hence $\boxed{{{found}}}$.",
        )


def _working(characters: int) -> str:
    step = "Let $x = \\frac{a + 1}{b}$; then \\(x^2 + 2x + 1 = (x + 1)^2\\), which we check term by term.\n\n"
    return ("\n\n" + step * (characters // len(step) + 1))[:characters] + "\n\n" if characters else ""


def _answer(question: int) -> int:
    return question + 4 * (question % 7 + 1)


def _is_right(number: int) -> bool:
    return _scattered(number + 17, 5) == 0


def _verdicts(count: int, run: int) -> Iterator[tuple[object, ...]]:
    """Return the verdicts of a run: errors of different runs are independent, and each run is 8 points worse than the
    last.

    The square decorrelates them: with multiples of one number, no two runs would err together.
    """
    for number in range(1, count + 1):
        luck = _scattered(number * number * (run - 1) + number + 5 * run, 100)
        right = _is_right(number)
        outcome = 3 if luck == 0 else 2 if luck < 4 else int(right) if luck < 103 - 8 * run else int(not right)
        yield run, number, outcome, {2: "no_final_answer", 3: "timeout"}.get(outcome)


def _states(count: int, labelled: int) -> Iterator[tuple[object, ...]]:
    for position in range(min(labelled, count)):
        number = 1 + position * count // labelled if labelled < count else position + 1
        state = _PUBLIC[position % len(_PUBLIC)]
        final = state == "final"
        gold = int(_is_right(number)) if final else None
        yield number, state, gold, "agreed" if final else None, "proof" if state == "excluded" else None
