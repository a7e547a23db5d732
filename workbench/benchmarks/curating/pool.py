"""The pool of questions that curation works on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.core.database import people
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.transactions import some_at_a_time
from workbench.measuring.records.curation import PoolQuestion, Scope
from workbench.measuring.store import curation


def pool(project: Project, scope: Scope) -> list[PoolQuestion]:
    """The questions in scope, in the order of import.

    Raises:
        UsageError: There are none.
    """
    found = list(curation.questions(project.database.reader(), scope))
    if not found:
        raise UsageError(
            "There are no questions here." if scope == Scope() else "No question is of that data set and source.",
            "Import some: workbench import DB questions.jsonl, or see: workbench curate DB status",
        )
    return found


def inside(project: Project, scope: Scope) -> list[PoolQuestion]:
    """The questions in scope that are not out, in the order of import.

    Raises:
        UsageError: There are no questions in scope.
    """
    return [one for one in pool(project, scope) if one.out is None]


def by_ids(project: Project, ids: Iterable[str], dataset: str | None) -> list[int]:
    """Row ids of questions by their own ids.

    Raises:
        UsageError: There is no such question, or several data sets have it.
    """
    reader = project.database.reader()
    numbers = []
    for key in dict.fromkeys(ids):
        found = curation.with_keys(reader, key, dataset)
        if not found:
            raise UsageError(f"There is no question {key[:100]!r} in the pool.", "See: workbench curate DB status")
        if len(found) > 1:
            names = ", ".join(name for _, name in found)
            raise UsageError(f"Several data sets have a question {key[:100]!r}: {names}.", "Say which: --dataset NAME")
        numbers.append(found[0][0])
    return numbers


def decide(project: Project, decisions: Sequence[curation.CurationDecision], by: str) -> None:
    """Write what a person decides of questions.

    Raises:
        UsageError: ``by`` is no name.
    """
    for some in some_at_a_time(decisions):
        with project.database.write("full") as connection:
            curation.decide(connection, some, people.add(connection, by, people.COORDINATOR))
