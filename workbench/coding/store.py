"""The SQL of code: rounds of evolutions, decisions on single tests, and outcomes of a problem's solutions."""

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
from workbench.data.records import SuiteRun
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


def evolutions_named(connection: sqlite3.Connection, name: str) -> list[EvolutionRow]:
    return [row for row in every_evolution(connection) if row.name == name]


def every_evolution(connection: sqlite3.Connection) -> list[EvolutionRow]:
    rows = connection.execute(
        "SELECT e.id, e.dataset_id, d.name, e.name, e.config FROM evolutions AS e "
        "JOIN datasets AS d ON d.id = e.dataset_id ORDER BY e.id"
    )
    return [
        EvolutionRow(number, dataset_id, dataset, name, decode_stored(_SETTINGS, config, f"The settings of {name!r}"))
        for number, dataset_id, dataset, name, config in rows
    ]


def bind_evolution(
    connection: sqlite3.Connection, dataset: int, name: str, settings: EvolutionSettings
) -> EvolutionRow:
    """Return the evolution with a name; if it is missing, create it with its final suites.

    Raises:
        UsageError: The name has other settings, or belongs to a suite outside this evolution.
    """
    for row in evolutions_named(connection, name):
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
    return next(row for row in evolutions_named(connection, name) if row.dataset_id == dataset)


def suite_names(name: str, rounds: int) -> list[str]:
    return [*(f"{name}-round-{round}" for round in range(1, rounds + 1)), name]


def evolution_pool(connection: sqlite3.Connection, question: int) -> list[int]:
    """Return row ids of the solutions of a problem's pool, in the order of import."""
    rows = connection.execute(f"SELECT c.id {_POOL} AND c.question_id = ? ORDER BY c.id", (question,))
    return [item for (item,) in rows]


def evolution_pool_sizes(connection: sqlite3.Connection, dataset: int) -> dict[int, int]:
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


def evolved_problems(
    connection: sqlite3.Connection, evolution: int, questions: Sequence[int] | None = None
) -> list[Evolved]:
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


def evolution_run(connection: sqlite3.Connection, name: str) -> int | None:
    """Return the run that counts an evolution's calls; None before the first call."""
    row: tuple[int] | None = connection.execute(
        "SELECT r.id FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id WHERE v.name = ?", (run_name(name),)
    ).fetchone()
    return None if row is None else row[0]


def run_name(name: str) -> str:
    return f"evolution/{name}"


def evolution_models(connection: sqlite3.Connection, evolution: int) -> dict[int, str | None]:
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


def suite_with(connection: sqlite3.Connection, question: int, suite: str, position: int) -> int | None:
    """Return the row id of the suite in which a problem has a test at this position; None without one."""
    row: tuple[int] | None = connection.execute(
        "SELECT t.suite_id FROM tests AS t JOIN suites AS s ON s.id = t.suite_id "
        "WHERE t.question_id = ? AND s.name = ? AND t.position = ?",
        (question, suite, position),
    ).fetchone()
    return None if row is None else row[0]


def is_excluded_test(connection: sqlite3.Connection, question: int, suite: str, position: int) -> bool:
    row = connection.execute(
        "SELECT 1 FROM tests_apart WHERE question_id = ? AND suite = ? AND position = ?", (question, suite, position)
    ).fetchone()
    return row is not None


def exclusion_rows(connection: sqlite3.Connection) -> list[tuple[str, str, str, int, str, str, str]]:
    return connection.execute(
        "SELECT d.name, q.key, x.suite, x.position, x.reason, x.person, x.created_at FROM tests_apart AS x "
        "JOIN questions AS q ON q.id = x.question_id JOIN datasets AS d ON d.id = q.dataset_id "
        "ORDER BY q.id, x.suite, x.position"
    ).fetchall()


def problems_named(connection: sqlite3.Connection, task_id: str, dataset: str | None) -> list[tuple[int, str]]:
    return connection.execute(
        "SELECT q.id, d.name FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id "
        "JOIN code_problems AS p ON p.question_id = q.id WHERE q.key = ? AND ? IN (d.name, '') ORDER BY q.id",
        (task_id, dataset or ""),
    ).fetchall()


def put_exclusion(
    connection: sqlite3.Connection, question: int, suite: int, position: int, reason: str | None, person: int
) -> None:
    """Store a decision that applies from now on, in the caller's transaction.

    Args:
        suite: The suite's row id.
        reason: Why the test is excluded; None includes it again.
    """
    connection.execute(
        "INSERT INTO test_exclusions (question_id, suite_id, position, kind, reason, annotator_id, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (question, suite, position, "restore" if reason is None else "exclude", reason, person, now()),
    )


class GridSolution(NamedTuple):
    id: int
    ground_truth: bool


def grid_solutions(connection: sqlite3.Connection, question: int) -> list[GridSolution]:
    rows = connection.execute(
        "SELECT c.id, coalesce(s.ground_truth, 0) FROM completions AS c LEFT JOIN code_solutions AS s ON "
        f"s.completion_id = c.id WHERE c.question_id = ? AND {VISIBLE} ORDER BY c.id",
        (question,),
    )
    return [GridSolution(item, bool(truth)) for item, truth in rows]


def own_suites(connection: sqlite3.Connection, question: int) -> dict[str, int]:
    rows = connection.execute(
        "SELECT name, max(number) FROM (SELECT s.name AS name, s.id AS suite, count(*) AS number FROM completions AS c "
        "CROSS JOIN solution_tests AS t ON t.completion_id = c.id JOIN suites AS s ON s.id = t.suite_id "
        f"WHERE c.question_id = ? AND {VISIBLE} GROUP BY c.id, s.id) GROUP BY suite ORDER BY suite",
        (question,),
    )
    return dict(rows.fetchall())


def suite_runs(connection: sqlite3.Connection, question: int | None = None) -> list[SuiteRun]:
    """Return runs with outcomes, one row for each suite: complete runs first, then by number of items and age.

    Args:
        question: Return only runs with outcomes of this problem's solutions; None for all runs, whose suites are then
            those of their first solution.
    """
    first = "(SELECT x.completion_id FROM test_results AS x WHERE x.run_id = r.id ORDER BY x.completion_id LIMIT 1)"
    item = first if question is None else "(SELECT c.id FROM completions AS c WHERE c.question_id = ?)"
    rows = connection.execute(
        "SELECT DISTINCT r.id, v.name, t.suite, r.state, r.completed_at IS NOT NULL, r.items FROM runs AS r JOIN "
        "verifiers AS v ON v.id = r.verifier_id CROSS JOIN test_results AS t ON t.run_id = r.id AND t.completion_id IN "
        f"{item} ORDER BY r.completed_at IS NULL, r.items DESC, r.id DESC, t.suite",
        () if question is None else (question,),
    )
    return [
        SuiteRun(run=run, verifier=name, suite=suite, state=state, complete=bool(complete))
        for run, name, suite, state, complete, _ in rows
    ]


def problem_of(connection: sqlite3.Connection, completion: int) -> int | None:
    """Return the row id of a completion's problem; None if its question is not a code problem."""
    row: tuple[int] | None = connection.execute(
        "SELECT p.question_id FROM completions AS c JOIN code_problems AS p ON p.question_id = c.question_id "
        "WHERE c.id = ?",
        (completion,),
    ).fetchone()
    return None if row is None else row[0]
