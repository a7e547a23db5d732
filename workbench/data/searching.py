"""Searches the texts of a project with an index, and builds that index in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TypeVar

from workbench.core.database.connection import Database
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
