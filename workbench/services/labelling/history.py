"""Who did what when: every event on an item or of a person, and one form of all of them that databases can compare."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import msgspec

from workbench.errors import UsageError
from workbench.model.label import LabelLine
from workbench.services.labelling.label_export import history_lines
from workbench.services.project import Project
from workbench.store import browsing, events, label_lines, people
from workbench.store import history as store


def history(project: Project, *, item: str | None = None, annotator: str | None = None) -> list[LabelLine]:
    """Events of every kind, by time, as `import_labels` takes them back.

    Args:
        item: Only those on the completions of this id, and on the types of their questions.
        annotator: Only those of this person.

    Raises:
        UsageError: There is no such item or person.
    """
    reader = project.database.reader()
    person = None if annotator is None else people.find(project.database, annotator).id
    if item is None:
        return list(history_lines(label_lines.placed(reader, events.in_time(reader, annotator=person))))
    found = browsing.with_key(reader, item)
    if not found:
        raise UsageError(f"There is no item {item!r}.", "Name a completion by its id.")
    lines: list[LabelLine] = []
    for completion in found:
        chosen = events.in_time(reader, completion=completion, annotator=person)
        lines += history_lines(label_lines.placed(reader, chosen))
    return lines


def canonical(project: Project) -> bytes:
    """All events by (created_at, uuid), then all derived states, with names and ids of files instead of row ids.

    Databases with the same items that have seen the same events give the same bytes, in whatever order they came.
    """
    return b"".join(_canonical(project))


def digest(project: Project) -> str:
    """blake2b-128 of `canonical`: equal where two databases say the same of the same items."""
    digest = blake2b(digest_size=16)
    for line in _canonical(project):
        digest.update(line)
    return digest.hexdigest()


def _canonical(project: Project) -> Iterator[bytes]:
    reader = project.database.reader()
    for line in history_lines(label_lines.placed(reader, events.in_time(reader))):
        if line.role == people.COORDINATOR:
            # A person's role is their database's own.
            line.role = "adjudicator" if line.kind == "adjudication" else "annotator"
        yield msgspec.json.encode(line) + b"\n"
    for state in store.states(reader):
        yield msgspec.json.encode(state) + b"\n"
