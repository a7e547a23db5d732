"""The list of code problems, as a table reads it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from threading import Event

from workbench.coding.store import pass_matrix
from workbench.core.database.cancelling import cancellable
from workbench.core.project import Project
from workbench.data.records.pass_matrix import ProblemQuery, ProblemRow, SuiteRun
from workbench.data.store import problem_list


class ProblemTable:
    """The problems of one query; every method may run in a worker thread."""

    def __init__(self, project: Project, query: ProblemQuery) -> None:
        self.query = query
        self._database = project.database
        self._cancelled = Event()
        self._done = Event()
        self._count = 0
        self._ends: dict[int, int] = {}

    def cancel(self) -> None:
        """End a reading of ids that is under way; nobody wants this query any more."""
        self._cancelled.set()
        self._done.set()

    def ids(self) -> array[int]:
        """Row ids of all problems in the query's order.

        Raises:
            StoreError: ``cancel`` was called meanwhile.
        """
        reader = self._database.reader()
        try:
            with cancellable(reader, self._cancelled.is_set):
                found = problem_list.ids(reader, self.query)
            self._count = len(found)
        finally:
            self._done.set()
        return found

    @property
    def _everything(self) -> bool:
        return not self.query.search and self.query.kind == "all" and self.query.dataset is None

    def count(self) -> int:
        """How many problems there are; of a part of them it waits for the first ``ids``."""
        if self._everything:
            return problem_list.count(self._database.reader())
        self._done.wait()
        return self._count

    def first(self, limit: int, offset: int = 0) -> list[ProblemRow]:
        """Problems in the order of import, long before ``ids``; none of a part of them.

        A page can be read when the one before it has been; any other is empty.
        """
        after = self._ends.get(offset, 0)
        if not self._everything or (offset and not after):
            return []
        found = problem_list.first_ids(self._database.reader(), limit, after)
        if found:
            self._ends[offset + len(found)] = found[-1]
        return self.rows(found)

    def rows(self, ids: Sequence[int]) -> list[ProblemRow]:
        """Problems by the row ids of their questions, in the order asked for."""
        return problem_list.rows(self._database.reader(), ids, self.query.run)


def suite_runs(project: Project) -> list[SuiteRun]:
    """Runs that have outcomes, once a suite: those that have been complete first, then those over most items."""
    return pass_matrix.suite_runs(project.database.reader())


def datasets(project: Project) -> list[str]:
    """Names of the data sets that have problems."""
    return sorted(name for _, name in problem_list.datasets(project.database.reader()))


def find(project: Project, task_id: str) -> list[int]:
    """Row ids of the problems with this task id; several where data sets share ids."""
    return problem_list.with_key(project.database.reader(), task_id)


def task_ids(project: Project, questions: Sequence[int]) -> dict[int, str]:
    """Task ids by the row ids of the problems' questions; what is no problem is left out."""
    rows = problem_list.rows(project.database.reader(), questions, None)
    return {row.id: row.task_id for row in rows}


def problem_of(project: Project, completion: int) -> int | None:
    """Row id of the problem a completion is to solve; None where its question is no code problem."""
    return pass_matrix.problem_of(project.database.reader(), completion)
