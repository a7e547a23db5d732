"""Run reference solutions that are not stored as solutions, in the same way as the solutions of their problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from workbench.coding.problems import KIND, execution_verifier, opened_sandbox
from workbench.coding.ranking.truth import Truth, outcomes_by_problem
from workbench.core.code import Execution, Program
from workbench.core.project import Project, batches
from workbench.core.run import ClusterUse
from workbench.core.selection import Selection
from workbench.data.store.tests import problems_of
from workbench.runs.run_status import run_row

ReferenceOutcomes = dict[int, dict[str, Execution]]
"""Row id of a problem -> suite -> the results of its reference solution."""
_BATCH_PROBLEMS: Final = 100
"""Problems whose tests are in memory at a time."""


def outcomes_of_references(
    project: Project,
    truth: Truth,
    selection: Selection | None = None,
    *,
    workers: int | None = None,
    allow_unsafe: bool = False,
    cluster: ClusterUse | None = None,
    trust: bool = False,
) -> ReferenceOutcomes:
    """Return outcomes by suite of the human reference solutions of problems without a known ground truth.

    A reference is run with the options of the run of its problem's solutions: limits, packages, a writable folder. A
    sandbox is opened only if there is a reference to run. A reference that crashed the harness has no outcomes.

    Args:
        selection: Use only problems of these solutions.
        workers: Number of programs executed at a time; by default one per core.
        allow_unsafe: Whether the user approves resource limits without isolation.
        cluster: The cluster that runs them instead of this machine; counts of its nodes' work are recorded in it.
        trust: Whether the user approves the interpreter of a run.

    Raises:
        UsageError: The selection names something unknown.
        NotTrustedError: The user has not approved the interpreter.
        UnsafeError: Only resource limits would apply, and the user has not approved that.
        RunError, VerifierError: This machine doesn't support the sandbox of a run.
    """
    by_suite: ReferenceOutcomes = {}
    lost: set[int] = set()
    if not truth.runs:
        return by_suite
    lacking = [one.question for one in outcomes_by_problem(project, truth, selection) if not one.known]
    for run in dict.fromkeys(truth.runs.values()):
        suites = [suite for suite, number in truth.runs.items() if number == run]
        jobs = _reference_programs(project, lacking, suites, _run_options(project, run))
        if (first := next(jobs, None)) is None:
            continue
        with opened_sandbox(
            project,
            _run_options(project, run),
            workers=workers,
            allow_unsafe=allow_unsafe,
            cluster=cluster,
            trust=trust,
        ) as sandbox:
            for (question, suite), execution in sandbox.run(chain([first], jobs)):
                by_suite.setdefault(question, {})[suite] = execution
                if execution.harness_killed:
                    lost.add(question)
    return {
        question: {suite: found[suite] for suite in truth.suites if suite in found}
        for question, found in by_suite.items()
        if question not in lost
    }


def _run_options(project: Project, run: int) -> Mapping[str, str]:
    verifier = run_row(project.database.reader(), run).verifier
    return verifier.options if verifier.kind == KIND else {}


def _reference_programs(
    project: Project, questions: Sequence[int], suites: Sequence[str], options: Mapping[str, str]
) -> Iterator[tuple[tuple[int, str], Program]]:
    verifier = execution_verifier({**options, "suite": ",".join(suites)})
    for some in batches(questions, _BATCH_PROBLEMS):
        for question, problem in problems_of(project.database, some, suites).items():
            if problem.oracle:
                for suite, program in verifier.programs(problem, problem.oracle, "program").items():
                    yield (question, suite), program
