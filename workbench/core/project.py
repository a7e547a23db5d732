"""A project: one database and the settings next to it. Also helpers for work on many rows in several transactions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from workbench.core.database.connection import Database
from workbench.core.database.looking import open_read_only, why_unwritable
from workbench.core.errors import StoreError
from workbench.core.progress import step

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


class Project:
    """An open project.

    Attributes:
        path: The database file.
        database: The open database.
    """

    def __init__(self, path: Path, database: Database) -> None:
        self.path = path
        self.database = database

    def require_writable(self) -> None:
        """Check that the database can be written.

        Raises:
            StoreError: The database was opened read-only; the message gives the reason.
        """
        self.database.require_writable()

    def close(self) -> None:
        self.database.close()


def open_project(path: Path | str, *, create: bool = False) -> Project:
    """Open a database, or create it if ``create`` is set; a database that can't be written is opened read-only.

    Raises:
        StoreError: See ``workbench.core.database.connection.Database``.
    """
    place = Path(path)
    why = why_unwritable(place)
    return Project(place, Database(place, create=create) if why is None else open_read_only(place, why))


def at_one_moment(
    found: Callable[Concatenate[Project, Arguments], Found],
) -> Callable[Concatenate[Project, Arguments], Found]:
    """Decorate a function so that all its reads see one state of the database, despite concurrent writes.

    For functions that compute several metrics shown together. The function can't read what it has written itself.
    """

    @wraps(found)
    def of_one_state(project: Project, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Found:
        with project.database.reading():
            return found(project, *args, **kwargs)

    return of_one_state


@contextmanager
def opened_project(path: Path | str, *, create: bool = False) -> Iterator[Project]:
    """Open a project for the duration of one command.

    Raises:
        StoreError: See ``open_project``; also if a database operation in the block fails.
    """
    is_new = create and not os.path.lexists(path)
    project = open_project(path, create=create)
    try:
        with project.database.explained():
            yield project
    except BaseException:
        if is_new:
            project.database.remove_if_empty()
        raise
    finally:
        project.close()


# -- Work on many rows in several transactions, so that concurrent labelling doesn't wait long.


T = TypeVar("T")
ROWS = 500
"""Number of items, lines or events stored in one transaction."""


class Parts:
    """Counts the rows that long work has stored; if a later transaction fails, the error message reports the number.

    Args:
        what: What is counted, in the plural.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._done = 0

    @contextmanager
    def storing(self, count: int) -> Iterator[None]:
        """Wrap one transaction.

        Raises:
            StoreError: The transaction failed; the message also reports what earlier ones have stored.
        """
        try:
            yield
        except StoreError as error:
            if self._done:
                error.message += f" The data of the first {self._done:,} {self._what} is stored; the rest is not."
                error.hint = f"{error.hint} Run the same command again for the rest.".strip()
            raise
        self._done += count


def batches(values: Iterable[T], most: int = ROWS) -> Iterator[Sequence[T]]:
    left = iter(values)
    with step("working through", len(values) if isinstance(values, Sized) else None) as advance:
        while some := list(islice(left, most)):
            yield some
            advance(len(some))
