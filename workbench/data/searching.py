"""Searches the texts of a project with an index, and builds that index in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TypeVar

from workbench.core.database.connection import Database
from workbench.core.health import Finding
from workbench.core.project import Project
from workbench.data.store import text_index
from workbench.data.store.text_index import NO_INDEX, DamagedIndexError, TextIndex

Found = TypeVar("Found")
WORTH = 20_000
"""Number of texts from which an index is built; fewer are searched quickly without one."""


def search_with_index(database: Database, search: str, read: Callable[[TextIndex], Found]) -> Found:
    try:
        with text_index.reading(database.path, database.reader()) as index:
            return read(index if text_index.can_search(search) else NO_INDEX)
    except DamagedIndexError:
        text_index.remove(database.path)
        return read(NO_INDEX)


def index_texts(project: Project) -> Iterator[float]:
    """Build or update the index, if the project is large enough for one.

    Yields:
        The share of texts in the index, after each of many short steps; the caller can stop at any step.

    Raises:
        StoreError: No index can be stored; the message says why.
    """
    with closing(project.database.open()) as reader:
        questions, completions = text_index.last_rows(reader)
        if questions + completions < WORTH:
            return
        while (through := text_index.extend(project.path, reader)) is not None:
            yield min(1.0, sum(through) / (questions + completions))


def check_index(project: Project) -> Finding | None:
    """Check on samples whether the index finds the texts in it; None if it does, or there is no index."""
    if not text_index.path(project.path).exists():
        return None
    reader = project.database.reader()
    try:
        with text_index.reading(project.path, reader) as index:
            missing = text_index.misses_texts(index, reader)
    except DamagedIndexError:
        missing = True
    if missing:
        what = f"the index of the texts does not hold what it says; {text_index.path(project.path)} may be deleted"
        return Finding(name="search", ok=False, message=what, remedy="repair")
    return Finding(name="search", ok=True, message="ok, the index finds the texts that were tried")
