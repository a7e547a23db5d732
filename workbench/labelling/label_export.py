"""Writes label files: the labels in force or, with history, every event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from msgspec import UNSET, Struct, structs

from workbench.core.database import events
from workbench.core.database.journal import PlacedEvent, event_line, label_line, place_events, subject_place
from workbench.core.errors import FormatError
from workbench.core.label import LabelEvent, LabelLine, LabelVerdict, Task, pseudonym
from workbench.core.options import grouped, record_from
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.states import current_events, current_repeat_answers, current_round
from workbench.data.formats.source import table_of
from workbench.data.formats.writing import new_file, write_csv, write_lines
from workbench.data.store import reading
from workbench.data.store.reading import labelled_subjects


def export_labels(project: Project, path: Path, *, history: bool = False, force: bool = False) -> int:
    """Write labels as JSON Lines, or as CSV for such a file name; return the number of lines.

    The file appears whole or not at all, and `import_labels` restores the same labels from it.

    Without ``history``, the file holds each person's labels and adjudications in force; exclusions and reopenings by a
    coordinator are lines with a ``kind``, so that the file has the same meaning elsewhere. With ``history``, it holds
    every event in full.

    Raises:
        FormatError: The file exists and ``force`` is not set, can't be written, or its name is that of another kind of
            table.
        StoreError: The file belongs to the database itself.
    """
    project.database.require_other(path)
    reader = project.database.reader()
    placed = place_events(reader, events.all_events(reader))
    lines = map(event_line, placed) if history else _current_label_lines(list(placed))
    kind = table_of(path)
    if kind is None:
        return write_lines(path, lines, force=force)
    if kind != "csv":
        raise FormatError(f"Labels are not written as {kind}.", "Name the file .jsonl or .csv.")
    with new_file(path, force=force) as file:
        return write_csv(file, LabelLine.__struct_fields__, map(_csv_cells, lines))


def _csv_cells(line: LabelLine) -> list[object]:
    line.round = 1 if line.round is UNSET else line.round
    cells = structs.astuple(line)
    return [None if cell is UNSET else " ".join(cell) if isinstance(cell, tuple) else cell for cell in cells]


def current_lines(project: Project, *, selection: Selection | None = None, names: bool = True) -> Iterator[LabelLine]:
    """Yield the labels in force, as `export_labels` writes them.

    Args:
        selection: Only labels of these items.
        names: Whether to write annotators' names instead of stable pseudonyms.
    """
    reader = project.database.reader()
    found = place_events(reader, events.all_events(reader))
    if selection is not None and selection != Selection():
        chosen = {(one.task, one.subject) for one in labelled_subjects(reader, selection)}
        found = (row for row in found if (row.event.task, row.event.subject) in chosen)
    if not names:
        found = (row._replace(annotator=pseudonym(row.event.annotator)) for row in found)
    return _current_label_lines(list(found))


def _current_label_lines(placed: list[PlacedEvent]) -> Iterator[LabelLine]:
    in_force = _rows_in_force(placed)
    before = {row.event.uuid: row.event.supersedes for row in placed}
    types = {_question_key(row): row for row in in_force if row.event.task == "type" and row.event.kind in _ANSWERS}
    joined = set()
    for row in in_force:
        if row.event.kind not in _ANSWERS:
            yield event_line(row)
        elif row.event.task == "correctness":
            line = _placed_label_line(row, _revision(row.event, before))
            typed = types.get(_question_key(row))
            # A line has one round, so a type of another round is a separate line.
            if typed is not None and typed.event.round == row.event.round:
                line.answer_subtype = typed.event.subtype
                joined.add(_question_key(row))
            yield line
    for key, row in types.items():
        if key not in joined:
            yield _placed_label_line(row, _revision(row.event, before))


_ANSWERS = ("label", "adjudication")


def _question_key(row: PlacedEvent) -> tuple[int, str, str, str]:
    return row.event.annotator, row.event.kind, row.place.dataset, row.place.question_id


def _rows_in_force(placed: list[PlacedEvent]) -> list[PlacedEvent]:
    by_subject = grouped(((row.event.task, row.event.subject), row.event) for row in placed)
    current = {
        event.uuid for events in by_subject.values() for event in (*current_events(events), *_reopenings(events))
    }
    return [row for row in placed if row.event.uuid in current]


def _reopenings(events: list[LabelEvent]) -> list[LabelEvent]:
    now = current_round(events)
    return [event for event in events if event.kind == "reopen" and event.round == now]


def _revision(event: LabelEvent, before: dict[str, str | None]) -> int:
    revision, earlier = 1, event.supersedes
    while earlier is not None and earlier in before:
        revision, earlier = revision + 1, before[earlier]
    return revision


def _placed_label_line(row: PlacedEvent, revision: int) -> LabelLine:
    line = label_line(row.event, row.annotator, row.place.question_id, row.place.completion_id)
    line.dataset, line.revision = row.place.dataset, revision
    return line


# -- All labels of an item in an export: labels and decisions, then repeats and checks separately.


Role = Literal["annotator", "adjudicator", "coordinator"]
_ROLES: dict[str, Role] = {"adjudication": "adjudicator", "exclusion": "coordinator"}
"""Kind of an event -> the role of its author, if that is not annotator."""


class OwnLabel(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One person's label of an item, or of its question's type; for the fields see `LabelEvent`."""

    annotator: str
    task: Task
    created_at: str
    role: Role = "annotator"
    verdict: LabelVerdict | None = None
    reason: str | None = None
    subtype: str | None = None
    note: str | None = None
    unsure: bool = False
    tags: tuple[str, ...] = ()
    partial: float | None = None
    unblinded: bool = False
    round: int = 1
    guideline: str | None = None


def own_label(event: LabelEvent, names: Mapping[int, str]) -> OwnLabel:
    """Return the label that an event gives; a person without a name in ``names`` is a pseudonym."""
    name, role = names.get(event.annotator, pseudonym(event.annotator)), _ROLES.get(event.kind, "annotator")
    return record_from(OwnLabel, event, annotator=name, role=role, reason=event.exclusion_reason)


class ItemLabels(Struct, kw_only=True, omit_defaults=True):
    """All labels of one item.

    Attributes:
        labels: Each person's label in force; adjudications and exclusions are marked by their role.
        repeats: Answers of people who had labelled the item before; they never count.
        checks: Answers to an item with a known answer; they never count.
    """

    labels: list[OwnLabel]
    repeats: list[OwnLabel] = []
    checks: list[OwnLabel] = []


class LabelIndex:
    """All labels of the selected items, by item.

    Args:
        names: Whether to give annotators' names instead of stable pseudonyms.
    """

    def __init__(self, project: Project, selection: Selection, *, names: bool) -> None:
        reader = project.database.reader()
        self._names = reading.annotator_names(reader) if names else {}
        self._said: dict[tuple[str, ...], list[LabelEvent]] = {}
        for subject in reading.labelled_subjects(reader, selection):
            place = subject_place(reader, subject.task, subject.subject)
            key = place if subject.task == "correctness" else place[:2]
            stored = events.events_of(reader, subject.task, subject.subject)
            self._said[key] = [*current_events(stored), *current_repeat_answers(stored)]

    def of(self, dataset: str, question: str, completion: str) -> ItemLabels:
        found = ItemLabels(labels=[])
        places = {"repeat": found.repeats, "check": found.checks}
        for key in ((dataset, question, completion), (dataset, question)):
            for event in self._said.get(key, ()):
                places.get(event.kind, found.labels).append(own_label(event, self._names))
        return found
