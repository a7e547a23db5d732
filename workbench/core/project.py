"""A project: one database and the settings beside it, as the front ends hold it; and work on many of its rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from workbench.core.database.connection import Database
from workbench.core.database.looking import open_to_read, why_unwritable
from workbench.core.errors import StoreError
from workbench.core.kept import BegunNotes, Kept
from workbench.core.progress import step

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


class Project:
    """What every service takes first.

    Attributes:
        path: The database file.
        database: The open database.
        kept: Labels that wait until the database's file is back where it was.
        begun: Notes that go with no label yet.
    """

    def __init__(self, path: Path, database: Database) -> None:
        self.path = path
        self.database = database
        self.kept = Kept(path)
        self.begun = BegunNotes(database)

    def require_writable(self) -> None:
        """Make sure that it can be written.

        Raises:
            StoreError: It was opened to be read alone; the message says why.
        """
        self.database.require_writable()

    def stop_reading(self) -> None:
        """End long reads in other threads, whose results nobody waits for any more."""
        self.database.interrupt_readers()

    def close(self) -> None:
        """Close the database's connections."""
        self.database.close()


def open_project(path: Path | str, *, create: bool = False) -> Project:
    """Open a database, or make it when ``create`` is set; one that may not be written is opened to be read.

    Raises:
        StoreError: See ``workbench.core.database.connection.Database``.
    """
    place = Path(path)
    why = why_unwritable(place)
    return Project(place, Database(place, create=create) if why is None else open_to_read(place, why))


def at_one_moment(
    found: Callable[Concatenate[Project, Arguments], Found],
) -> Callable[Concatenate[Project, Arguments], Found]:
    """Let what is found come from one state of the database, whatever others write meanwhile.

    For what makes several figures that are seen together; it must not read what it wrote itself.
    """

    @wraps(found)
    def of_one_state(project: Project, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Found:
        with project.database.reading():
            return found(project, *args, **kwargs)

    return of_one_state


@contextmanager
def opened_project(path: Path | str, *, create: bool = False) -> Iterator[Project]:
    """A project for as long as one command takes.

    Raises:
        StoreError: As ``open_project``; also for what the database can't do meanwhile.
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


# -- Work on many rows in several transactions, so that whoever labels meanwhile does not wait long.


T = TypeVar("T")
ROWS = 500
"""Items, lines or events in one transaction."""


class Parts:
    """How much of such work is stored already, said where the rest can't be.

    Args:
        what: What is counted, in the plural.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._done = 0

    @contextmanager
    def storing(self, count: int) -> Iterator[None]:
        """Around one transaction.

        Raises:
            StoreError: It failed; the message says also what those before it have stored.
        """
        try:
            yield
        except StoreError as error:
            if self._done:
                error.message += f" What the first {self._done:,} {self._what} say is stored; the rest is not."
                error.hint = f"{error.hint} The same command goes on with the rest.".strip()
            raise
        self._done += count


def some_at_a_time(values: Iterable[T], most: int = ROWS) -> Iterator[Sequence[T]]:
    """The values in their order, at most so many together."""
    left = iter(values)
    with step("working through", len(values) if isinstance(values, Sized) else None) as advance:
        while some := list(islice(left, most)):
            yield some
            advance(len(some))
