"""List and select a project's code problems, read the outcomes of their tests, and open sandboxes."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, cast

from msgspec import Struct, field

from workbench.coding import store
from workbench.coding.options import ProgramOptions, Targets
from workbench.core.code import BASE, HARNESS_KILLED, Execution, NotRun, SolutionResult
from workbench.core.database.selection import chosen_ids, ids_of
from workbench.core.errors import Command, UsageError, opt
from workbench.core.options import record_from
from workbench.core.project import Project, batches
from workbench.core.selection import Selection
from workbench.data.paging import QueryTable
from workbench.data.records import ProblemQuery, ProblemRow, SuiteRun
from workbench.data.store import problems, tests
from workbench.data.store.tests import SolutionName
from workbench.runs.run_status import run_row
from workbench.runs.store import runs as stored_runs
from workbench.runs.store import verdicts
from workbench.runs.store.runs import RunRow
from workbench.runs.trust import require_level, require_trust
from workbench.runs.verdict_files import run_of
from workbench.verifiers.registry import Registry

if TYPE_CHECKING:
    import sqlite3

    from workbench.core.run import ClusterUse
    from workbench.runs.executing import ProgramPool
    from workbench.verifiers.base import SandboxedVerifier


_CONTEST: Final = "contest_date"
"""The field of LiveCodeBench's rows with a problem's contest date."""
_OPEN: Final = {"since": "0001-01-01", "until": "9999-12-31"}
"""The two ends of a time window -> their values if an end is open."""
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


class ProblemTable(QueryTable[ProblemRow]):
    def __init__(self, project: Project, query: ProblemQuery) -> None:
        super().__init__(project.database)
        self.query = query

    def read_ids(self, reader: sqlite3.Connection) -> array[int]:
        return problems.ids(reader, self.query)

    def read_first(self, reader: sqlite3.Connection, limit: int) -> Sequence[int]:
        """Return the first row ids if all problems are listed; for a filtered list return none."""
        query = self.query
        is_whole = not query.search and query.kind == "all" and query.dataset is None
        return problems.first_ids(reader, limit) if is_whole else []

    def rows(self, ids: Sequence[int]) -> list[ProblemRow]:
        return problems.rows(self._database.reader(), ids, self.query.run, self.query.beside)


def suite_runs(project: Project) -> list[SuiteRun]:
    return store.suite_runs(project.database.reader())


class SuitesToRun(NamedTuple):
    """The suites that one run of a verifier may cover.

    Attributes:
        name: Name of the verifier that already runs them, else a new one.
    """

    suites: tuple[str, ...]
    name: str

    @property
    def option(self) -> str:
        return ",".join(self.suites)

    @property
    def words(self) -> str:
        """Return the names of the suites as text: ``base and plus``."""
        return " and ".join(filter(None, (", ".join(self.suites[:-1]), *self.suites[-1:])))


def runnable_suites(project: Project) -> list[SuitesToRun]:
    names = tests.suite_names(project.database.reader())
    alone, several = [(name,) for name in names], tuple(name for name in names if name != _WHOLE)
    together = [several] if len(several) > 1 else []
    return [suites_to_run(project, suites) for suites in (*alone[:1], *together, *alone[1:])]


def suites_to_run(project: Project, suites: tuple[str, ...]) -> SuitesToRun:
    option = ",".join(suites)
    bound = {one.name: one for one in stored_runs.verifiers(project.database.reader())}
    own = [one for one in bound.values() if one.kind == KIND and one.options.keys() <= {"suite"}]
    same = (one.name for one in own if one.options.get("suite", BASE) == option)
    wanted = KIND if suites == (BASE,) else "-".join((KIND, *suites))
    names = (wanted, *(f"{wanted}-{number}" for number in range(2, len(bound) + 3)))
    return SuitesToRun(suites, next(same, None) or next(name for name in names if name not in bound))


def datasets(project: Project) -> list[str]:
    return sorted(name for _, name in problems.datasets(project.database.reader()))


def find(project: Project, task_id: str) -> list[int]:
    return problems.with_key(project.database.reader(), task_id)


def task_ids(project: Project, questions: Sequence[int]) -> dict[int, str]:
    rows = problems.rows(project.database.reader(), questions, None)
    return {row.id: row.task_id for row in rows}


def problem_of(project: Project, completion: int) -> int | None:
    return store.problem_of(project.database.reader(), completion)


# -- Outcomes of tests: one line for every solution and executed suite; the others are counted.


KIND: Final = "execution"
"""The kind of verifier that runs solutions."""
_WHOLE: Final = "whole"
"""The suite with the tests of other suites combined in one program."""
_Line = TypeVar("_Line")


class LeftOut(Struct):
    """Solutions without lines of outcomes.

    Attributes:
        without_tests: Number of solutions without a test in a suite, counted once for each suite.
        not_run: Solutions without outcomes, by run.
    """

    without_tests: int = 0
    not_run: list[NotRun] = field(default_factory=list)


class OutcomeLines(Iterator[_Line]):
    """An iterator over lines of outcomes.

    Attributes:
        left_out: The omitted solutions so far.
    """

    def __init__(self, lines: Iterator[_Line], left_out: LeftOut) -> None:
        self.left_out = left_out
        self._lines = lines

    def __next__(self) -> _Line:
        return next(self._lines)


class SolutionOutcome(NamedTuple):
    """The outcomes of a solution's tests in one suite of a run."""

    solution: SolutionName
    suite: str
    execution: Execution


def results(
    project: Project,
    verifier: str | None = None,
    run: int | None = None,
    suite: str | None = None,
    selection: Selection | None = None,
) -> OutcomeLines[SolutionResult]:
    """Yield outcomes of the executed solutions, in the order of import; count solutions that weren't executed.

    Args:
        verifier: The verifier's name; by default all verifiers that run solutions, one after the other.
        run: A run; by default each verifier's newest complete run, else its newest.
        suite: One suite; by default all of the run.
        selection: Yield only outcomes of these solutions.

    Raises:
        UsageError: The verifier, run, suite or field doesn't exist, or the run belongs to another verifier.
    """
    reader = project.database.reader()
    rows = chosen_runs(project, verifier, run)
    known = {row.id: suites_of(reader, row) for row in rows}
    if suite is not None and not any(suite in names for names in known.values()):
        there = ", ".join(dict.fromkeys(name for names in known.values() for name in names))
        raise UsageError(f"There are no outcomes of a suite {suite!r}.", f"Suites: {there or 'none'}.")
    wanted = None if selection is None else set(chosen_ids(reader, selection))
    asked = {run: tuple(name for name in names if suite in (None, name)) for run, names in known.items()}
    left_out = LeftOut()
    lines = (
        _solution_result(row.verifier.name, one)
        for row in rows
        for one in outcomes_in(project, row, asked[row.id], wanted, left_out)
    )
    return OutcomeLines(lines, left_out)


def chosen_runs(project: Project, verifier: str | None, run: int | None) -> list[RunRow]:
    """Return the chosen runs, with the verifiers in the order in which they were added."""
    reader = project.database.reader()
    if run is None and verifier is None:
        names = [one.name for one in stored_runs.verifiers(reader)]
    else:
        names = [verifier or run_row(reader, run or 0).verifier.name]
    numbers = [number for name in names if (number := run_of(project, name, run)) is not None]
    ran = verdicts.runs_with(reader)
    rows = [row for number in numbers if (row := run_row(reader, number)).verifier.kind == KIND or number in ran]
    if not rows:
        who = f"{verifier} has run no solution." if verifier else "No solution was run here."
        raise UsageError(who, "Run them", Command("verify DB execution"))
    return rows


def suites_of(connection: sqlite3.Connection, row: RunRow) -> tuple[str, ...]:
    configured = row.verifier.config.get("suites") if row.verifier.kind == KIND else None
    # A foreign file may contain anything there.
    named = isinstance(configured, list) and all(isinstance(name, str) for name in configured)
    return tuple(configured if named and configured else verdicts.suites_of(connection, row.id))


def outcomes_in(
    project: Project, row: RunRow, suites: Sequence[str], wanted: Container[int] | None, left_out: LeftOut
) -> Iterator[SolutionOutcome]:
    """Yield a run's outcomes, as of the first read.

    Args:
        wanted: Row ids of the solutions to include; None for all.
        left_out: Receives the counts of solutions without outcomes.
    """
    with project.database.reading() as reader:
        ran = set(verdicts.items_of(reader, row.id))
        judged = verdicts.count(reader, row.id)
        lost = set(verdicts.with_reason(reader, row.id, HARNESS_KILLED))
        items = sorted({*ids_of(reader, row.selection), *ran})
    items = items if wanted is None else [item for item in items if item in wanted]
    not_run = killed = 0
    for chunk in batches(items):
        found = verdicts.of_run(project.database.reader(), row.id, [item for item in chunk if item in ran])
        for solution in tests.named_solutions(project.database, chunk, suites):
            there = {suite: one for suite, one in found.get(solution.item, {}).items() if one.outcomes}
            yield from (SolutionOutcome(solution, suite, there[suite]) for suite in suites if suite in there)
            missing = [suite for suite in suites if suite not in there]
            tested = [suite for suite in missing if solution.tests.get(suite)]
            left_out.without_tests += len(missing) - len(tested)
            if tested:
                not_run += 1
                killed += solution.item in lost
    if not_run:
        left_out.not_run.append(NotRun(run=row.id, solutions=not_run, judged=judged, items=row.items, killed=killed))


def _solution_result(verifier: str, one: SolutionOutcome) -> SolutionResult:
    solution, execution = one.solution, one.execution
    return record_from(
        SolutionResult,
        execution,
        task_id=solution.question_id,
        solution_id=solution.completion_id.removeprefix(f"{solution.question_id}/"),
        completion_id=solution.completion_id,
        suite=one.suite,
        total=execution.counted,
        isolation=execution.level,
        verifier=verifier,
        dataset=solution.dataset,
    )


# -- Which data set of code problems is meant, and which of its problems can be used for writing.


class Dataset(NamedTuple):
    id: int
    name: str


EVERY_PROBLEM: Final = Targets()
"""All problems of the only data set."""


def code_dataset(project: Project, wanted: str | None) -> Dataset:
    """Return the data set with a name, or the only one that contains code problems.

    Raises:
        UsageError: No such data set exists, or the choice is ambiguous.
    """
    found = [Dataset(*row) for row in problems.datasets(project.database.reader())]
    if not found:
        raise UsageError("There are no code problems here.", f"{Command('import DB problems.jsonl solutions.jsonl')}")
    names = ", ".join(one.name for one in found)
    if wanted is None and len(found) > 1:
        raise UsageError(f"Several data sets hold code problems: {names}.", f"Say which: {opt.dataset:NAME}")
    for one in found:
        if wanted in (None, one.name):
            return one
    raise UsageError(f"No data set {wanted!r} holds code problems.", f"There are: {names}.")


def problems_for(
    project: Project, dataset: Dataset, targets: Targets, *, needs_calls: bool
) -> tuple[list[int], dict[str, int]]:
    """Return row ids of the chosen problems, in the order of import, and counts of the others, by code.

    Args:
        needs_calls: Whether to include only problems whose solutions can be called by a test, not those of standard
            input.

    Raises:
        UsageError: A problem's id is unknown, or the first day is after the last.
    """
    outside = _date_filter(project, dataset, targets)
    found = problems.tasks(project.database.reader(), dataset.id, BASE)
    known = {one.task_id for one in found}
    for task in targets.tasks:
        if task not in known:
            raise UsageError(f"{dataset.name!r} has no problem {task!r}.")
    meant = [one for one in found if not targets.tasks or one.task_id in targets.tasks]
    skipped: Counter[str] = Counter()
    chosen = []
    for one in meant:
        if one.language != "python":
            skipped["language"] += 1
        elif needs_calls and one.stdio:
            skipped["stdio"] += 1
        elif (why := outside(one.question)) is not None:
            skipped[why] += 1
        else:
            chosen.append(one.question)
    return chosen[: targets.limit], dict(skipped)


def _date_filter(project: Project, dataset: Dataset, targets: Targets) -> Callable[[int], str | None]:
    if targets.since is None and targets.until is None:
        return lambda _: None
    first, last = (_parse_day(name, getattr(targets, name)) or open for name, open in _OPEN.items())
    if first > last:
        raise UsageError(f"{opt.since:{first}} is later than {opt.until:{last}}.", "Swap them.")
    days = problems.extra_texts(project.database.reader(), dataset.id, _CONTEST)

    def why(question: int) -> str | None:
        day = days.get(question, "")[:10]
        if not _DAY.fullmatch(day):
            return "no_date"
        return None if first <= day <= last else "outside"

    return why


def _parse_day(name: str, text: str | None) -> str | None:
    try:
        return None if text is None else date.fromisoformat(text).isoformat()
    except ValueError:
        raise UsageError(f"--{name}: {text!r} is not a valid day.", "Write it as 2025-01-31.") from None


# -- The sandbox, for services that execute code in the calling process.


@contextmanager
def opened_sandbox(
    project: Project,
    options: Mapping[str, str] = MappingProxyType({}),
    *,
    workers: int | None = None,
    allow_unsafe: bool = False,
    cluster: ClusterUse | None = None,
    run: str | None = None,
    trust: bool = False,
) -> Iterator[ProgramPool]:
    """Open a sandbox like that of a run of the verifier `KIND`; nothing remains afterwards.

    Args:
        options: The verifier's options by name: ``scratch``, ``python`` …
        workers: Number of solutions that run at a time; by default one per core.
        allow_unsafe: Whether the user approves resource limits without isolation.
        cluster: The cluster that runs solutions instead, at the same level; counts of its nodes' work are recorded in
            it.
        run: The name of the run that this is for, which also records the work of the nodes.
        trust: Whether the user approves the interpreter that the options name.

    Raises:
        UsageError: An option doesn't exist or is invalid; the cluster's address is invalid, or is combined with workers
            of this machine.
        NotTrustedError: The user has not approved the interpreter.
        UnsafeError: Only resource limits would apply, and the user has not approved that.
        RunError, VerifierError: This machine doesn't support the level or a writable folder; or no cluster runs at the
        address, or it has no usable node.
    """
    # Only commands that execute code need the sandbox.
    from workbench.runs.executing import opened_pool

    verifier = execution_verifier(options)
    require_trust(project, verifier, options, accept=trust)
    if cluster is not None:
        from workbench.runs.cluster import require_cluster

        require_cluster(cluster.address, workers)
    level = require_level(project, verifier.wanted, allow_unsafe=allow_unsafe, scratch=verifier.scratch > 0)
    named = None if run is None else (project.database, run)
    with opened_pool(level, workers, verifier.settings(verifier.seeds[0]), cluster, run=named) as pool:
        yield pool


def programs_sandbox(
    project: Project, programs: ProgramOptions, cluster: ClusterUse | None, run: str
) -> AbstractContextManager[ProgramPool]:
    return opened_sandbox(
        project,
        programs.execution,
        workers=programs.workers,
        allow_unsafe=programs.allow_unsafe,
        cluster=cluster,
        run=run,
        trust=True,
    )


def execution_verifier(options: Mapping[str, str]) -> SandboxedVerifier:
    """Return the verifier `KIND` with these options.

    Raises:
        UsageError: An option doesn't exist, or a value is invalid.
    """
    return cast("SandboxedVerifier", Registry().load(KIND, dict(options)))
