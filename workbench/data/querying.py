"""Reads a project's current state as tables, for notebooks: predefined views by name, and any read-only SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.core.database import selection as stored_selection
from workbench.core.database.selection import chosen_ids
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.data.store import columns as stored
from workbench.data.store.columns import FIELDS, Result, View

__all__ = ["FIELDS", "Result", "View", "query", "require_items", "view"]


def require_items(project: Project, selection: Selection) -> None:
    """Check that a selection has items, and that all names in it exist.

    Raises:
        UsageError: The selection has no items or an unknown name; see
            `workbench.core.database.selection.require_items`.
    """
    stored_selection.require_items(project.database.reader(), selection)


def view(project: Project, name: View, selection: Selection | None = None) -> Result:
    """Return all rows of a view, or those of the selected items.

    Raises:
        UsageError: A name in the selection does not exist.
    """
    reader = project.database.reader()
    return stored.view(reader, name, None if selection is None else chosen_ids(reader, selection))


def query(project: Project, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> Result:
    """Return the result of a read-only statement.

    Raises:
        UsageError: The statement is invalid or would write, or its parameters don't match.
    """
    return stored.query(project.database.reader(), sql, parameters)
