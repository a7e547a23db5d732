"""Tables of a project as they stand, for notebooks: views by name, and any reading SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.model.selection import Selection
from workbench.services.project import Project
from workbench.store import querying as stored
from workbench.store import selection as stored_selection
from workbench.store.querying import Result, View
from workbench.store.selection import chosen_ids

__all__ = ["Result", "View", "query", "require_items", "view"]


def require_items(project: Project, selection: Selection) -> None:
    """Refuse a selection that chooses nothing, or names what is not there.

    Raises:
        UsageError: It does; see `workbench.store.selection.require_items`.
    """
    stored_selection.require_items(project.database.reader(), selection)


def view(project: Project, name: View, selection: Selection | None = None) -> Result:
    """All rows of a view, or those of the selected items.

    Raises:
        UsageError: The selection names something unknown.
    """
    reader = project.database.reader()
    return stored.view(reader, name, None if selection is None else chosen_ids(reader, selection))


def query(project: Project, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> Result:
    """What a statement gives; it can't write.

    Raises:
        UsageError: It is no statement that reads, or its parameters don't fit.
    """
    return stored.query(project.database.reader(), sql, parameters)
