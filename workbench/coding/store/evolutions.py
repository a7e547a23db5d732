"""Store evolutions of test suites: their settings, their problems, and each problem's steps, written once."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from workbench.coding.records.evolution import EvolutionSettings, Evolved, FinalStep, GrowthStep, PoolStep, Step
from workbench.core.database.selection import STATE, VISIBLE
from workbench.core.database.values import decode_stored, now
from workbench.core.errors import UsageError, opt
from workbench.data.store import tests

Connection = sqlite3.Connection
_STEP: Final = msgspec.json.Decoder(Step)
_SETTINGS: Final = msgspec.json.Decoder(EvolutionSettings)

# Pools exclude retracted solutions and copies of the reference.
_POOL: Final = (
    "FROM completions AS c LEFT JOIN code_solutions AS s ON s.completion_id = c.id LEFT JOIN item_states AS i ON "
    f"i.completion_id = c.id WHERE {VISIBLE} AND {STATE} <> 'excluded' AND coalesce(s.ground_truth, 0) = 0"
)


class EvolutionRow(NamedTuple):
    id: int
    dataset_id: int
    dataset: str
    name: str
    settings: EvolutionSettings


def named(connection: sqlite3.Connection, name: str) -> list[EvolutionRow]:
    return [row for row in every(connection) if row.name == name]


def every(connection: sqlite3.Connection) -> list[EvolutionRow]:
    rows = connection.execute(
        "SELECT e.id, e.dataset_id, d.name, e.name, e.config FROM evolutions AS e "
        "JOIN datasets AS d ON d.id = e.dataset_id ORDER BY e.id"
    )
    return [
        EvolutionRow(number, dataset_id, dataset, name, decode_stored(_SETTINGS, config, f"The settings of {name!r}"))
        for number, dataset_id, dataset, name, config in rows
    ]


def bind(connection: sqlite3.Connection, dataset: int, name: str, settings: EvolutionSettings) -> EvolutionRow:
    """Return the evolution with a name; if it is missing, create it with its final suites.

    Raises:
        UsageError: The name has other settings, or belongs to a suite outside this evolution.
    """
    for row in named(connection, name):
        _require_same_settings(row, settings)
        if row.dataset_id == dataset:
            return row
    connection.execute(
        "INSERT INTO evolutions (dataset_id, name, config, created_at) VALUES (?, ?, ?, ?)",
        (dataset, name, _encode(settings), now()),
    )
    rounds = (*range(1, settings.rounds + 1), settings.rounds)
    for round, suite in zip(rounds, suite_names(name, settings.rounds), strict=True):
        if tests.find_suite(connection, dataset, suite) is not None:
            raise UsageError(f"There is a suite {suite!r} already.", f"Give the evolution another {opt.name}.")
        about = {"evolution": name, "round": round, "settings": settings}
        tests.add_suite(connection, dataset, suite, "evolved", _encode(about))
    return next(row for row in named(connection, name) if row.dataset_id == dataset)


def suite_names(name: str, rounds: int) -> list[str]:
    return [*(f"{name}-round-{round}" for round in range(1, rounds + 1)), name]


def pool(connection: sqlite3.Connection, question: int) -> list[int]:
    """Return row ids of the solutions of a problem's pool, in the order of import."""
    rows = connection.execute(f"SELECT c.id {_POOL} AND c.question_id = ? ORDER BY c.id", (question,))
    return [item for (item,) in rows]


def pool_sizes(connection: sqlite3.Connection, dataset: int) -> dict[int, int]:
    """Count the solutions in the pools of a data set's problems, by the question's row id; empty pools are omitted."""
    rows = connection.execute(
        f"SELECT c.question_id, count(*) {_POOL} AND c.question_id IN (SELECT id FROM questions WHERE dataset_id = ?) "
        "GROUP BY c.question_id",
        (dataset,),
    )
    return dict(rows.fetchall())


def put_step(connection: sqlite3.Connection, evolution: int, question: int, position: int, step: Step) -> None:
    """Write a problem's next step, in the caller's transaction.

    Args:
        position: The step's position among the problem's steps, from 0.

    Raises:
        sqlite3.IntegrityError: The step exists already.
    """
    connection.execute(
        "INSERT INTO evolution_steps (evolution_id, question_id, position, step, document) VALUES (?, ?, ?, ?, ?)",
        (evolution, question, position, _step_kind(step), _encode(step)),
    )


def step_counts(connection: sqlite3.Connection, evolution: int) -> dict[int, int]:
    rows = connection.execute(
        "SELECT question_id, count(*) FROM evolution_steps WHERE evolution_id = ? GROUP BY question_id", (evolution,)
    )
    return dict(rows.fetchall())


def evolved(connection: sqlite3.Connection, evolution: int, questions: Sequence[int] | None = None) -> list[Evolved]:
    """Return problems with their progress, in the order of import; ``questions`` is None for all problems."""
    rows = connection.execute(
        "SELECT e.question_id, q.key, s.name, e.document FROM evolution_steps AS e JOIN questions AS q ON q.id = "
        "e.question_id LEFT JOIN sources AS s ON s.id = q.source_id WHERE e.evolution_id = ? AND (? IS NULL OR "
        "e.question_id IN (SELECT value FROM json_each(?))) ORDER BY e.question_id, e.position",
        (evolution, None if questions is None else 1, _encode(list(questions or ()))),
    )
    steps: dict[tuple[int, str, str | None], list[Step]] = defaultdict(list)
    for question, key, source, document in rows:
        steps[question, key, source].append(decode_stored(_STEP, document, f"A step of {key!r}"))
    return [_evolved_from(*problem, found) for problem, found in steps.items()]


def run_of(connection: sqlite3.Connection, name: str) -> int | None:
    """Return the run that counts an evolution's calls; None before the first call."""
    row: tuple[int] | None = connection.execute(
        "SELECT r.id FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id WHERE v.name = ?", (run_name(name),)
    ).fetchone()
    return None if row is None else row[0]


def run_name(name: str) -> str:
    return f"evolution/{name}"


def models_of(connection: sqlite3.Connection, evolution: int) -> dict[int, str | None]:
    rows = connection.execute(
        "SELECT c.id, m.name FROM evolution_steps AS e JOIN json_each(e.document, '$.solutions') AS item "
        "JOIN completions AS c ON c.id = item.value LEFT JOIN models AS m ON m.id = c.model_id "
        "WHERE e.evolution_id = ? AND e.position = 0",
        (evolution,),
    )
    return dict(rows.fetchall())


def _evolved_from(question: int, task_id: str, source: str | None, steps: list[Step]) -> Evolved:
    pool_step, *rest = steps
    assert isinstance(pool_step, PoolStep)
    return Evolved(
        question=question,
        task_id=task_id,
        source=source,
        pool=pool_step,
        growth=tuple(step for step in rest if isinstance(step, GrowthStep)),
        final=next((step for step in rest if isinstance(step, FinalStep)), None),
    )


def _require_same_settings(found: EvolutionRow, settings: EvolutionSettings) -> None:
    before, after = msgspec.to_builtins(found.settings), msgspec.to_builtins(settings)
    changed = [name for name in after if before[name] != after[name]]
    if changed:
        words = ", ".join(f"{name} was {before[name]}" for name in changed)
        raise UsageError(f"{found.name!r} was started with other settings: {words}.", f"Choose another {opt.name}.")


def _step_kind(step: Step) -> str:
    if isinstance(step, GrowthStep):
        return f"{step.mode}-{step.round}"
    return "pool" if isinstance(step, PoolStep) else "final"


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()
