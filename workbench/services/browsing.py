"""Browse: ids and pages of items for a table, and one item's detail."""

from __future__ import annotations

import getpass
from array import array
from collections.abc import Sequence

from workbench.model.browse import BrowseQuery, BrowseRow, ItemDetail
from workbench.model.label import LabelEvent, Task
from workbench.services import ledger
from workbench.services.project import Project
from workbench.store import browsing, events, people, states


class ItemTable:
    """The items of one query as a table reads them; every method may run in a worker thread."""

    def __init__(self, project: Project, query: BrowseQuery) -> None:
        self.query = query
        self._database = project.database
        self._runs: dict[int, str] | None = None

    @property
    def verifiers(self) -> list[str]:
        """Names of the verdict columns: verifiers that have a complete run."""
        return list(self._columns().values())

    def ids(self) -> array[int]:
        """Row ids of all items in the query's order; slow at a million rows."""
        return browsing.ids(self._database.reader(), self.query)

    def first(self, limit: int) -> list[BrowseRow]:
        """A first page in the order of import, there at once."""
        return self.rows(browsing.first_ids(self._database.reader(), self.query, limit))

    def rows(self, ids: Sequence[int]) -> list[BrowseRow]:
        """Rows by id, in the order asked for."""
        return browsing.rows(self._database.reader(), ids, self._columns())

    def _columns(self) -> dict[int, str]:
        if self._runs is None:
            self._runs = browsing.newest_runs(self._database.reader())
        return self._runs


def item_count(project: Project) -> int:
    """How many items there are."""
    return sum(states.counts(project.database).values())


def detail(project: Project, completion: int) -> ItemDetail:
    """Everything of one item, for the coordinator; the look is recorded as a reveal.

    A later label by the same person on the item is marked unblinded.
    """
    found = browsing.detail(project.database.reader(), completion)
    reveal(project, completion)
    return found


def coordinator_name() -> str:
    """Who the coordinator is: the login name."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "coordinator"


def reveal(project: Project, completion: int) -> None:
    """Record that the coordinator has seen gold, verdicts or labels of an item (once an item)."""
    with project.database.write("normal") as connection:
        person = people.add(connection, coordinator_name(), "coordinator")
        question, _ = states.question_of(connection, completion)
        subjects: tuple[tuple[Task, int], ...] = (("correctness", completion), ("type", question))
        for task, subject in subjects:
            if events.was_revealed(connection, person, task, subject):
                continue
            event = LabelEvent(
                uuid=events.new_uuid(),
                kind="reveal",
                task=task,
                subject=subject,
                annotator=person,
                created_at=people.now(),
                view="detail",
            )
            ledger.record(connection, event)
