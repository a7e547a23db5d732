"""pass@k: how often at least one of k solutions of a problem passes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from workbench.coding import pass_counts
from workbench.coding.ranking.truth import Truth, outcomes_by_problem, runs_in_words
from workbench.coding.records.figures import PassReport, PassRow
from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome
from workbench.data.store import solutions
from workbench.measuring.columns import columns
from workbench.measuring.judged import judges_of
from workbench.statistics.records.candidates import Id

K = TypeVar("K")

Counts = dict[tuple[str, Id], tuple[int, int]]
"""Data set and problem -> solutions, and those of them that pass."""


class FilePasses(Struct, frozen=True, kw_only=True):
    """The figures of a file, and its lines that were not taken."""

    report: PassReport
    refused: list[Refusal]


def pass_of_file(path: Path, sizes: Sequence[int]) -> FilePasses:
    """pass@k of a file's counts; lines on the same problem are added up, and those on the same solution first.

    Raises:
        FormatError: The file can't be read, or there is no line in it.
    """
    counts: Counts = {}
    refused: list[Refusal] = []
    tests: dict[tuple[str, Id, Id | tuple[int]], tuple[int, int]] = {}
    for number, found in enumerate(pass_counts.read(path)):
        if isinstance(found, Refusal):
            refused.append(found)
        elif found.n is not None:
            _add(counts, (found.dataset, found.task_id), found.n, found.c or 0)
        else:
            own = (number,) if found.solution_id is None else found.solution_id
            _add(tests, (found.dataset, found.task_id, own), found.total or 0, found.passed or 0)
    for (dataset, task_id, _), (total, passed) in tests.items():
        _add(counts, (dataset, task_id), int(total > 0), int(0 < total == passed))
    if not counts and not refused:
        raise FormatError(f"{path}: there is no line in it.", 'A line has "task_id", "n" and "c", or "passed".')
    report = PassReport(rows=_rows(counts, sizes), judge=str(path), refused=len(refused))
    return FilePasses(report=report, refused=refused)


def pass_by_tests(
    project: Project, truth: Truth, sizes: Sequence[int], selection: Selection | None = None
) -> PassReport:
    """pass@k where a solution passes that passes all tests; one that was not run against all doesn't count.

    Raises:
        UsageError: The selection names something unknown.
    """
    counts: Counts = {}
    for problem in outcomes_by_problem(project, truth, selection):
        run = [one for one in problem.solutions if one.complete]
        passed = sum(one.passed == one.total for one in run)
        _add(counts, (problem.dataset, problem.task_id), len(run), passed)
    return PassReport(rows=_rows(counts, sizes), judge=f"{truth.name} on {runs_in_words(truth.runs)}")


def pass_by_verdict(
    project: Project, verifier: str, sizes: Sequence[int], selection: Selection | None = None
) -> PassReport:
    """pass@k where a solution passes that a verifier calls correct; one without a verdict doesn't count.

    Raises:
        UsageError: There is no complete run of the verifier, or the selection names something unknown.
    """
    judge = judges_of(project, (verifier,))[0]
    known = columns(project)
    outcomes = dict(zip(known.item.tolist(), known.outcome(judge.run).tolist(), strict=True))
    counts: Counts = {}
    for row in solutions.by_problem(project.database.reader(), selection or Selection()):
        outcome = outcomes.get(row.item, -1)
        _add(counts, (row.dataset, row.task_id), int(outcome >= 0), int(outcome == Outcome.CORRECT))
    return PassReport(rows=_rows(counts, sizes), judge=f"{verifier} (run {judge.run})")


def _add(counts: dict[K, tuple[int, int]], key: K, n: int, c: int) -> None:
    before = counts.get(key, (0, 0))
    counts[key] = before[0] + n, before[1] + c


def _rows(counts: Counts, sizes: Sequence[int]) -> list[PassRow]:
    by_dataset: dict[str, list[tuple[int, int]]] = {}
    for (dataset, _), count in counts.items():
        by_dataset.setdefault(dataset, []).append(count)
    return [_row(dataset, k, found) for dataset, found in by_dataset.items() for k in sizes]


def _row(dataset: str, k: int, counts: Iterable[tuple[int, int]]) -> PassRow:
    import numpy as np

    from workbench.statistics.selectors import mean_interval, pass_at

    size, right = np.array(list(counts), dtype=np.int64).T
    enough = size >= k
    shares = pass_at(k, size[enough], right[enough])
    there = bool(enough.any())
    number = int(size[enough].sum())
    return PassRow(
        dataset=dataset,
        k=k,
        problems=int(enough.sum()),
        fewer=int((~enough).sum()),
        solutions=number,
        value=float(shares.mean()) if there else None,
        ci=mean_interval(shares, number) if there else None,
    )
