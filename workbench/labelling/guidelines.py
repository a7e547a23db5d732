"""Annotation guidelines; every label stores the version it was given under."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import ndiff
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from workbench.core.database import people
from workbench.core.errors import FormatError, UsageError
from workbench.core.files import require_input
from workbench.core.label import coordinator_name
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.labelling.store import guidelines as store

VERSION = "1"
"""The built-in text's version; the numbers of a project's own texts continue from it."""
TEXT = Path(__file__).with_suffix(".md").read_text(encoding="utf-8").replace("\n  ", " ")
"""The text as Markdown, one paragraph or list item a line."""
MAX_CHARACTERS = 100_000
"""Maximum length of the guidelines, which annotators must be able to read."""
CASES = "# Cases decided so far"
"""Heading of the section for decided cases from conflicts."""
_NUMBER = re.compile(r"[0-9]{1,9}")


def number_of(version: str) -> int:
    """Return the leading number of a version's name; 0 if it has none."""
    found = _NUMBER.match(version)
    return int(found[0]) if found else 0


def next_version(held: Iterable[str], text: str) -> str:
    """Return the name of a new version: the next number, and six digits of the text's hash.

    With the hash, two databases that continue from the same version never use one name for two texts.
    """
    number = 1 + max(map(number_of, held), default=0)
    return f"{number}-{blake2b(text.encode()).hexdigest()[:6]}"


MOST_NEWS = 20
"""Maximum number of changed lines that are shown as changes; a text with more is shown as new."""


def with_news(version: str, before: str, text: str) -> str:
    """Return a text preceded by its changes from an earlier text: added lines and removed lines.

    Args:
        before: The text that the reader knows.
    """
    found = list(ndiff(before.splitlines(), text.splitlines()))
    added, gone = (
        [f"- {line[2:].strip().lstrip('#- ')}" for line in found if line.startswith(sign) and line[2:].strip()]
        for sign in ("+ ", "- ")
    )
    news = [f"# New in version {version}", ""]
    if len(added) + len(gone) > MOST_NEWS:
        news += ["Nearly all of it: read it again."]
    else:
        news += added
        news += ["", "No longer there:", "", *gone] if gone else []
    return "\n".join([*news, "", text])


def with_case(text: str, case: str) -> str:
    """Return the text with one more decided case at the end of the section for cases, which is added if missing."""
    line = f"- {case}"
    lines = text.rstrip().splitlines()
    if CASES not in lines:
        return "\n".join([*lines, "", CASES, "", line, ""])
    begin = lines.index(CASES) + 1
    end = next((n for n in range(begin, len(lines)) if lines[n].startswith("# ")), len(lines))
    while not lines[end - 1].strip():
        end -= 1
    between = [""] if end == begin else []
    return "\n".join([*lines[:end], *between, line, *lines[end:], ""])


# -- The guidelines: the text in force, its versions, and cases added to it.


_LIMIT = f"Guidelines have at most {MAX_CHARACTERS:,} characters."
_MOST_BYTES = 4 * MAX_CHARACTERS


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
        author: Its author; empty for the built-in text.
        created_at: Its time; empty for the built-in text.
        read_by: People who have opened it in the app, or wrote it.
    """

    author: str = ""
    created_at: str = ""
    read_by: tuple[str, ...] = ()


def versions(project: Project) -> list[Version]:
    return every(project.database.reader())


def every(connection: people.Connection) -> list[Version]:
    readers = store.readers(connection)
    built_in = Version(version=VERSION, text=TEXT, read_by=tuple(readers.get(VERSION, ())))
    stored = [record_from(Version, row, read_by=tuple(readers.get(row.version, ()))) for row in store.every(connection)]
    return sorted([built_in, *stored], key=lambda row: _age_key(row.version, row.created_at))


def _age_key(version: str, created_at: str) -> tuple[int, str, str]:
    return number_of(version), created_at, version


def current(project: Project) -> Guideline:
    newest = versions(project)[-1]
    return Guideline(version=newest.version, text=newest.text)


def version_in_force(connection: people.Connection) -> str:
    return max(_version_times(connection), key=lambda row: _age_key(*row))[0]


def newest(connection: people.Connection, *, among: Collection[str]) -> str | None:
    return max(
        (row for row in _version_times(connection) if row[0] in among), key=lambda row: _age_key(*row), default=(None,)
    )[0]


def _version_times(connection: people.Connection) -> list[tuple[str, str]]:
    return [(VERSION, ""), *store.times(connection)]


def of_version(project: Project, version: str) -> Version:
    """Return one version's text.

    Raises:
        UsageError: The version does not exist; the message lists the existing ones.
    """
    found = {guideline.version: guideline for guideline in versions(project)}
    if version not in found:
        raise UsageError(f"There is no version {version!r} of the guidelines.", f"Versions: {', '.join(found)}.")
    return found[version]


def read_text(path: Path) -> str:
    """Read the text of guidelines from a file.

    Raises:
        FormatError: The file can't be read, is not UTF-8, or is far too long.
    """
    require_input(path)
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            raise FormatError(f"{path}: it is too long for guidelines.", _LIMIT)
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: byte {error.start} is not valid UTF-8.", "Save it as UTF-8.") from error
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror}.", "Name a file of Markdown text.") from error


def add_version(project: Project, text: str, *, by: str = "") -> Version:
    """Put a text in force; if it is in force already, nothing changes.

    Raises:
        UsageError: The text is empty or too long, or ``by`` is not a valid name.
    """
    with project.database.write("full") as connection:
        return _add_version(connection, text, by)


def add_case(project: Project, case: str, *, by: str = "") -> Version:
    """Put the guidelines in force with one more decided case.

    Args:
        case: The decision in a sentence. Annotators read it, so it must not name items: ids may reveal models.

    Raises:
        UsageError: The case is empty, the text would be too long, or ``by`` is not a valid name.
    """
    note = " ".join(case.split())
    if not note:
        raise UsageError("The case is empty.", "Write what was decided, in one sentence.")
    with project.database.write("full") as connection:
        text = every(connection)[-1].text
        return _add_version(connection, with_case(text, note), by, is_case=True)


def _add_version(connection: people.Connection, text: str, by: str, *, is_case: bool = False) -> Version:
    text = text.strip() + "\n"
    if not text.strip():
        raise UsageError("The guidelines are empty.")
    if len(text) > MAX_CHARACTERS:
        raise UsageError(f"The guidelines have {len(text):,} characters.", _LIMIT)
    held = every(connection)
    if held[-1].text.strip() == text.strip():
        return held[-1]
    version = next_version((guideline.version for guideline in held), text)
    author = people.add(connection, by or coordinator_name(), people.COORDINATOR)
    store.add(connection, version, text, author, people.now())
    if not is_case or held[-1].version in store.read_by(connection, author):
        store.note_reading(connection, author, version, people.now())
    return every(connection)[-1]
