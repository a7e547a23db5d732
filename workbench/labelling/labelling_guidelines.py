"""What annotators are asked to do: the text in force, its versions, and cases added to it.

The built-in text is version 1. The text in force is the newest version: the greatest number, and of two with one
number (after a merge) the later one.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from workbench.core.database import people
from workbench.core.errors import FormatError, UsageError
from workbench.core.project import Project
from workbench.labelling import guidelines as rules
from workbench.labelling.store import guidelines as store

_LIMIT = f"Guidelines have at most {rules.MAX_CHARACTERS:,} characters."
_MOST_BYTES = 4 * rules.MAX_CHARACTERS


class Guideline(Struct, frozen=True, kw_only=True):
    """One version of the guidelines, as annotators see it.

    Attributes:
        text: Markdown, as people wrote it.
    """

    version: str
    text: str


class Version(Guideline, frozen=True, kw_only=True):
    """One version, as the coordinator sees it.

    Attributes:
        author: Who wrote it; empty for the built-in text.
        created_at: When; empty for the built-in text.
        read_by: Who has had it before them in the app.
    """

    author: str = ""
    created_at: str = ""
    read_by: tuple[str, ...] = ()


def versions(project: Project) -> list[Version]:
    """Every version, the one in force last."""
    return every(project.database.reader())


def every(connection: people.Connection) -> list[Version]:
    """The same, in the caller's transaction."""
    readers = store.readers(connection)
    built_in = Version(version=rules.VERSION, text=rules.TEXT, read_by=tuple(readers.get(rules.VERSION, ())))
    stored = [
        Version(
            version=row.version,
            text=row.text,
            author=row.author,
            created_at=row.created_at,
            read_by=tuple(readers.get(row.version, ())),
        )
        for row in store.every(connection)
    ]
    return sorted([built_in, *stored], key=lambda row: _age(row.version, row.created_at))


def _age(version: str, created_at: str) -> tuple[int, str, str]:
    return rules.number_of(version), created_at, version


def current(project: Project) -> Guideline:
    """The text in force."""
    newest = versions(project)[-1]
    return Guideline(version=newest.version, text=newest.text)


def version_in_force(connection: people.Connection) -> str:
    """The newest version."""
    return max(_times(connection), key=lambda row: _age(*row))[0]


def newest(connection: people.Connection, *, among: Collection[str]) -> str | None:
    """The newest of some versions that are here; None where none is."""
    return max((row for row in _times(connection) if row[0] in among), key=lambda row: _age(*row), default=(None,))[0]


def _times(connection: people.Connection) -> list[tuple[str, str]]:
    return [(rules.VERSION, ""), *store.times(connection)]


def of_version(project: Project, version: str) -> Version:
    """One version's text.

    Raises:
        UsageError: There is no such version; the message lists those there are.
    """
    found = {guideline.version: guideline for guideline in versions(project)}
    if version not in found:
        raise UsageError(f"There is no version {version!r} of the guidelines.", f"Versions: {', '.join(found)}.")
    return found[version]


def read_text(path: Path) -> str:
    """A text of guidelines from a file.

    Raises:
        FormatError: The file can't be read, is no UTF-8, or is far too long.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            raise FormatError(f"{path}: it is too long for guidelines.", _LIMIT)
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: byte {error.start} is no UTF-8.", "Save it as UTF-8.") from error
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror}.", "Name a file of Markdown text.") from error


def add_version(project: Project, text: str, *, by: str = people.COORDINATOR) -> Version:
    """Put a text in force; the one that is in force already stays what it is.

    Raises:
        UsageError: The text is empty or too long, or ``by`` is no name.
    """
    with project.database.write("full") as connection:
        return _add(connection, text, by)


def add_case(project: Project, case: str, *, by: str = people.COORDINATOR) -> Version:
    """Put a text in force that says one decided case more.

    Args:
        case: What was decided, in a sentence. Annotators read it: it names no item, as ids may name models.

    Raises:
        UsageError: The case is empty, the text would be too long, or ``by`` is no name.
    """
    said = " ".join(case.split())
    if not said:
        raise UsageError("The case is empty.", "Say what was decided, in a sentence.")
    with project.database.write("full") as connection:
        text = every(connection)[-1].text
        return _add(connection, rules.with_case(text, said), by)


def _add(connection: people.Connection, text: str, by: str) -> Version:
    text = text.strip() + "\n"
    if not text.strip():
        raise UsageError("The guidelines are empty.")
    if len(text) > rules.MAX_CHARACTERS:
        raise UsageError(f"The guidelines have {len(text):,} characters.", _LIMIT)
    held = every(connection)
    if held[-1].text.strip() == text.strip():
        return held[-1]
    version = rules.next_version((guideline.version for guideline in held), text)
    author = people.add(connection, by, people.COORDINATOR)
    store.add(connection, version, text, author, people.now())
    store.note_reading(connection, author, version, people.now())
    return every(connection)[-1]
