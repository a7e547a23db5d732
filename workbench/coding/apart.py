"""Exclude single tests, so that their stored and new outcomes no longer count."""

from __future__ import annotations

from msgspec import Struct

from workbench.coding import store
from workbench.core.database import people
from workbench.core.errors import UsageError, opt
from workbench.core.project import Project

_LONGEST = 500


class ExcludedSuiteTest(Struct, frozen=True, kw_only=True):
    """An excluded test; also an element of ``workbench code exclude DB --list --json``.

    Attributes:
        test: The test's number in the suite, from 1.
    """

    __test__ = False

    dataset: str
    task_id: str
    suite: str
    test: int
    reason: str
    by: str
    at: str


def excluded_tests(project: Project) -> list[ExcludedSuiteTest]:
    return [
        ExcludedSuiteTest(dataset=dataset, task_id=key, suite=suite, test=place + 1, reason=reason, by=by, at=at)
        for dataset, key, suite, place, reason, by, at in store.exclusion_rows(project.database.reader())
    ]


def problem_named(project: Project, task_id: str, dataset: str | None = None) -> int:
    """Return the row id of the problem with this id.

    Raises:
        UsageError: No problem has this id, or problems of several data sets have it.
    """
    found = store.problems_named(project.database.reader(), task_id, dataset)
    if not found:
        raise UsageError(f"There is no code problem {task_id[:100]!r}{f' in {dataset!r}' if dataset else ''}.")
    if len(found) > 1:
        raise UsageError(
            f"Several data sets have a problem {task_id[:100]!r}: {', '.join(name for _, name in found)}.",
            f"Say which: {opt.dataset:NAME}",
        )
    return found[0][0]


def exclude_test(project: Project, question: int, suite: str, position: int, *, reason: str, by: str) -> bool:
    """Exclude a test; return whether it counted before.

    Metrics of stored outcomes change at once; stored verdicts change when the solutions are run again.

    Args:
        question: Row id of the problem.
        position: The test's place in the suite, from 0.
        by: The person who excludes the test.

    Raises:
        UsageError: No such test exists, or the reason is empty.
    """
    text = " ".join(reason.split())
    if not text or len(text) > _LONGEST:
        raise UsageError("Excluding a test requires a reason.", f"Write why, in at most {_LONGEST} characters.")
    return _set_exclusion(project, question, suite, position, text, by)


def include_test(project: Project, question: int, suite: str, position: int, *, by: str) -> bool:
    """Include an excluded test again; return whether it was excluded. Arguments and errors as in `exclude_test`."""
    return _set_exclusion(project, question, suite, position, None, by)


def _set_exclusion(project: Project, question: int, suite: str, position: int, reason: str | None, by: str) -> bool:
    with project.database.write("full") as connection:
        number = store.suite_with(connection, question, suite, position)
        if number is None:
            raise UsageError(
                f"The problem has no test {position + 1} in its suite {suite!r}.",
                "Tests that were written for a single solution can't be excluded.",
            )
        if store.is_excluded_test(connection, question, suite, position) == (reason is not None):
            return False
        store.put_exclusion(connection, question, number, position, reason, people.add(connection, by, "coordinator"))
        return True
