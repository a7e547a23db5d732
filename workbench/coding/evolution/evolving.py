"""Run evolutions by rounds: each problem's steps are executed in sequence, and each is stored once.

A process that is killed at any point can be resumed with the same command, and the result is the same byte for byte:
every step of a problem is one transaction, every draw has a separate seed, and equal requests get their stored reply.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from msgspec import Struct, structs

from workbench.coding import store
from workbench.coding.evolution import growing
from workbench.coding.problems import code_dataset
from workbench.coding.records.evolution import (
    MODES,
    EvolutionSettings,
    Evolved,
    FinalStep,
    GrowthStep,
    Mode,
    PoolStep,
    Step,
)
from workbench.coding.store import Connection, EvolutionRow
from workbench.coding.templates import OURS, OwnPrompts
from workbench.core.code import Execution, Problem, Program
from workbench.core.database.hashes import secret
from workbench.core.errors import UsageError
from workbench.core.project import Project, batches
from workbench.data.store import problems
from workbench.data.store import tests as suites
from workbench.data.store.problems import Task
from workbench.data.store.tests import SolutionText, problems_of
from workbench.runs.generation import Executor, Watch, Writer, WritingRequest
from workbench.verifiers.execution.interpreter import EXTRACTORS, code_of, program_of

MIN_SOLUTIONS: Final = 2
"""A pool of one solution can't be split by tests."""
SKIPPED: Final[dict[str, str]] = {
    "no_tests": "no tests in the suite it is to start from",
    "stdio": "tests of standard input: rewrite the problem first (code refine)",
    "language": "not Python",
    "few_solutions": "fewer than two solutions in its pool",
}
"""Why a problem does not evolve, by code."""
_BATCH_PROBLEMS = 32
"""Problems whose requests and executions are in progress at a time."""
_NEW: Final = "new"


class _Evolution(Struct, frozen=True):
    project: Project
    row: EvolutionRow
    writer: Writer
    executor: Executor
    secret: bytes
    own: OwnPrompts


_Work = Callable[[_Evolution, Sequence[int]], dict[int, Step]]
"""A step's work on some problems."""


def begin(project: Project, name: str, settings: EvolutionSettings, dataset: str | None = None) -> EvolutionRow:
    """Return the evolution with a name, creating it if it is missing; nothing is requested or executed yet.

    Args:
        dataset: The data set whose problems evolve; only needed if several contain problems.

    Raises:
        UsageError: The name has other settings or belongs to a suite, or the data set is ambiguous.
    """
    _require_extractor(settings.extractor)
    found = code_dataset(project, dataset)
    with project.database.write() as connection:
        return store.bind_evolution(connection, found.id, name, settings)


def evolve(
    project: Project,
    row: EvolutionRow,
    writer: Writer,
    executor: Executor,
    *,
    own: OwnPrompts = OURS,
    problems: int | None = None,
    only: frozenset[str] | None = None,
    watch: Watch | None = None,
) -> None:
    """Run every problem through its remaining steps.

    Args:
        own: Custom prompts that replace the built-in ones.
        problems: Maximum number of problems, the first that can evolve; None for all.
        only: Use only problems with these ids; None for all.
        watch: Called with the current step, the number of finished problems, and their total.

    Raises:
        RunError: No call can succeed now; replies received are stored, and the same call continues from there.
    """
    run = _Evolution(project, row, writer, executor, secret(project.database.reader()), own)
    able = (one.question for one in _evolvable_tasks(project, row) if only is None or one.task_id in only)
    chosen = list(islice(able, problems))
    for position, (words, work) in enumerate(_steps(row.settings.rounds)):
        _execute_step(run, chosen, position, words, work, watch)


def count_skipped(project: Project, row: EvolutionRow) -> dict[str, int]:
    """Count the problems of the data set that do not evolve, by a code of `SKIPPED`."""
    return dict(Counter(why for _, why in _tasks_with_obstacles(project, row) if why is not None))


def count_not_started(project: Project, row: EvolutionRow) -> int:
    begun = store.step_counts(project.database.reader(), row.id)
    return sum(one.question not in begun for one in _evolvable_tasks(project, row))


def _require_extractor(name: str) -> None:
    """Reject an unknown extractor, by its name with its version.

    Raises:
        UsageError: No extractor has this name and version.
    """
    known = [str(extractor) for extractor in EXTRACTORS.values()]
    if name not in known:
        raise UsageError(f"There is no extractor {name!r}.", f"There are: {', '.join(known)}.")


def _evolvable_tasks(project: Project, row: EvolutionRow) -> Iterator[Task]:
    begun = store.step_counts(project.database.reader(), row.id)
    return (one for one, why in _tasks_with_obstacles(project, row) if why is None or one.question in begun)


def _tasks_with_obstacles(project: Project, row: EvolutionRow) -> Iterator[tuple[Task, str | None]]:
    reader = project.database.reader()
    sizes = store.evolution_pool_sizes(reader, row.dataset_id)
    for one in problems.tasks(reader, row.dataset_id, row.settings.suite):
        yield one, _skip_reason(one, sizes.get(one.question, 0))


def _skip_reason(one: Task, solutions: int) -> str | None:
    if not one.tests:
        return "no_tests"
    if one.stdio:
        return "stdio"
    if one.language != "python":
        return "language"
    return "few_solutions" if solutions < MIN_SOLUTIONS else None


def _steps(rounds: int) -> Iterator[tuple[str, _Work]]:
    yield "pool", _pool_steps
    for round in range(1, rounds + 1):
        for mode in MODES:
            yield f"round {round}, {mode}", partial(_growth_steps, round=round, mode=mode)
    yield "final", _final_steps


def _execute_step(
    run: _Evolution, chosen: Sequence[int], position: int, words: str, work: _Work, watch: Watch | None
) -> None:
    reached = store.step_counts(run.project.database.reader(), run.row.id)
    waiting = [question for question in chosen if reached.get(question, 0) == position]
    done = len(chosen) - len(waiting)
    for some in batches(waiting, _BATCH_PROBLEMS):
        if watch is not None:
            watch(words, done, len(chosen))
        for question, found in work(run, some).items():
            with run.project.database.write() as connection:
                write_step(connection, run.row, question, position, found)
            done += 1


def write_step(connection: Connection, row: EvolutionRow, question: int, position: int, step: Step) -> None:
    store.put_step(connection, row.id, question, position, step)
    if not isinstance(step, FinalStep):
        return
    (evolved,) = store.evolved_problems(connection, row.id, [question])
    snapshots = [*step.snapshots[1:], step.snapshots[-1]]
    names = store.suite_names(row.name, row.settings.rounds)
    for name, snapshot in zip(names, snapshots, strict=True):
        suite = suites.find_suite(connection, row.dataset_id, name)
        if suite is not None and snapshot.left_out is None:
            tests = [evolved.tests[place] for place in snapshot.kept]
            suites.put_tests(connection, "question", suite.id, {question: tests})


def _pool_steps(run: _Evolution, questions: Sequence[int]) -> dict[int, Step]:
    suite = run.row.settings.suite
    reader = run.project.database.reader()
    problems = problems_of(run.project.database, questions, [suite])
    pools = _solution_texts(run, {question: store.evolution_pool(reader, question) for question in questions})
    outcomes, lost = _run_tests(run, problems, pools, suite)
    return {
        question: PoolStep(
            solutions=tuple(solution.id for solution in pools[question]),
            tests=problems[question].suites[suite],
            outcomes=tuple(outcomes[question, solution.id] for solution in pools[question]),
            reference=outcomes.get((question, None)),
        )
        for question in questions
        if question not in lost
    }


def _growth_steps(run: _Evolution, questions: Sequence[int], round: int, mode: Mode) -> dict[int, Step]:
    settings, database = run.row.settings, run.project.database
    problems = problems_of(database, questions, [])
    found = {one.question: one for one in store.evolved_problems(database.reader(), run.row.id, questions)}
    plans = {question: growing.plan_step(found[question], settings, round, mode) for question in questions}
    pools = _solution_texts(run, {question: one.pool.solutions for question, one in found.items()})
    replies = _ask_model(run, problems, found, plans, pools)
    taken = {
        question: growing.read(replies.get(question), found[question], problems[question]) for question in questions
    }
    tested = {
        question: structs.replace(problems[question], suites={_NEW: one.tests})
        for question, one in taken.items()
        if one.tests
    }
    outcomes, lost = _run_tests(run, tested, pools, _NEW)
    return {
        question: growing.finish_step(
            plans[question],
            taken[question],
            [outcomes.get((question, item), "") for item in found[question].pool.solutions],
            outcomes.get((question, None)),
            settings,
            replied=replies.get(question) is not None,
        )
        for question in questions
        if question not in lost
    }


def _final_steps(run: _Evolution, questions: Sequence[int]) -> dict[int, Step]:
    found = store.evolved_problems(run.project.database.reader(), run.row.id, questions)
    return {one.question: growing.final_step(one, run.row.settings) for one in found}


def _ask_model(
    run: _Evolution,
    problems: Mapping[int, Problem],
    found: Mapping[int, Evolved],
    plans: Mapping[int, GrowthStep],
    pools: Mapping[int, Sequence[SolutionText]],
) -> dict[int, str | None]:
    asking = [question for question, plan in plans.items() if plan.skipped is None]
    asked = []
    for question in asking:
        plan, problem = plans[question], problems[question]
        programs = {place: _solution_code(run, problem, pools[question][place]) for place in plan.shown}
        messages = growing.request(plan, found[question], problem, programs, run.row.settings, run.secret, run.own)
        # If a round has added no test, the next round sends the same request, which needs a new reply.
        asked.append(WritingRequest(messages=messages, sample=plan.round, step=f"{plan.mode} tests"))
    return dict(zip(asking, run.writer.ask(asked) if asked else [], strict=True))


def _solution_texts(run: _Evolution, pools: Mapping[int, Sequence[int]]) -> dict[int, list[SolutionText]]:
    texts = suites.texts(run.project.database.reader(), [item for pool in pools.values() for item in pool])
    return {question: [texts[item] for item in pool] for question, pool in pools.items()}


def _run_tests(
    run: _Evolution, problems: Mapping[int, Problem], pools: Mapping[int, Sequence[SolutionText]], suite: str
) -> tuple[dict[tuple[int, int | None], str], set[int]]:
    """Return outcomes by problem and solution (None for the reference solution), and the problems to execute again.

    A problem of which a solution crashed the harness is executed again by the next call.
    """

    def jobs() -> Iterator[tuple[tuple[int, int | None], Program]]:
        seconds = run.row.settings.seconds
        for question, problem in problems.items():
            for one in pools[question]:
                source = _solution_code(run, problem, one)
                yield (question, one.id), program_of(problem, suite, source, "program", seconds=seconds)
            if problem.oracle:
                yield (question, None), program_of(problem, suite, problem.oracle, "program", seconds=seconds)

    outcomes: dict[tuple[int, int | None], str] = {}
    lost: set[int] = set()
    found: Iterator[tuple[tuple[int, int | None], Execution]] = run.executor.run(jobs())
    for key, execution in found:
        outcomes[key] = execution.outcomes
        if execution.harness_killed:
            lost.add(key[0])
    return outcomes, lost


def _solution_code(run: _Evolution, problem: Problem, solution: SolutionText) -> str:
    extractor = run.row.settings.extractor.partition("-")[0]
    return code_of(problem, solution.text, solution.form, extractor).source


# -- Evolutions by name and problem: the origin of the tests in their suites, and outcomes of the pool.


class SuiteOrigin(NamedTuple):
    """The origin of a problem's tests in a suite of an evolution.

    Attributes:
        evolution: The evolution's name.
        rounds: The round in which each test was added, in the suite's order; 0 for the initial tests.
        outcomes: Outcome letters of the pool's solutions, by the completion's row id.
    """

    evolution: str
    rounds: tuple[int, ...]
    outcomes: dict[int, str]


class EvolutionName(NamedTuple):
    """An evolution; its name is unique within its data set."""

    dataset: str
    name: str


def evolution_names(project: Project) -> tuple[EvolutionName, ...]:
    return tuple(EvolutionName(row.dataset, row.name) for row in store.every_evolution(project.database.reader()))


def problems_in(project: Project, wanted: EvolutionName) -> array[int]:
    """Return row ids of the problems that an evolution started with, in the order of import."""
    reader = project.database.reader()
    rows = [row for row in store.evolutions_named(reader, wanted.name) if row.dataset == wanted.dataset]
    return array("q", sorted(question for row in rows for question in store.step_counts(reader, row.id)))


def origin_of(project: Project, question: int, suite: str) -> SuiteOrigin | None:
    """Return the origin of a problem's tests in a suite; None if the suite comes from no evolution."""
    reader = project.database.reader()
    for row in store.every_evolution(reader):
        names = store.suite_names(row.name, row.settings.rounds)
        found = store.evolved_problems(reader, row.id, [question]) if suite in names else []
        if found and found[0].final is not None:
            return _suite_origin(row, found[0], min(names.index(suite) + 1, row.settings.rounds))
    return None


def _suite_origin(row: EvolutionRow, one: Evolved, round: int) -> SuiteOrigin:
    assert one.final is not None
    kept = one.final.snapshots[round].kept
    steps = one.origins
    return SuiteOrigin(
        evolution=row.name,
        rounds=tuple(0 if (step := steps[place]) is None else step.round for place in kept),
        outcomes={
            item: "".join(letters[place] for place in kept)
            for item, letters in zip(one.pool.solutions, one.outcomes, strict=True)
        },
    )
