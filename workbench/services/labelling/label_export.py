"""Writing label files: each person's current labels, or with history every event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import UNSET

from workbench.annotation.states import current_events
from workbench.formats.writing import new_file
from workbench.model.label import LabelEvent, LabelLine
from workbench.services.project import Project
from workbench.store import label_lines

Placed = tuple[LabelEvent, str, str, str, str]
"""An event with its annotator's name, dataset, question id and completion id."""


def export_labels(project: Project, path: Path, *, history: bool = False, force: bool = False) -> int:
    """Write labels as JSON Lines; returns the number of lines. The file appears whole or not at all.

    Raises:
        FormatError: The file exists and ``force`` is not set, or can't be written.
        StoreError: The file belongs to the database itself.
    """
    project.database.require_other(path)
    placed = list(label_lines.all_events(project.database.reader()))
    written = 0
    with new_file(path, force=force) as file:
        for line in _history(placed) if history else _current(placed):
            file.write(msgspec.json.encode(line) + b"\n")
            written += 1
    return written


def _history(placed: list[Placed]) -> Iterator[LabelLine]:
    for event, annotator, dataset, question, completion in placed:
        if event.kind == "reveal":
            continue
        line = _line((event, annotator, dataset, question, completion), revision=1)
        line.kind = event.kind
        line.task = event.task
        if event.supersedes:
            line.supersedes = event.supersedes
        if event.flagged:
            line.flagged = True
        if event.seen:
            line.seen = event.seen
        yield line


def _current(placed: list[Placed]) -> Iterator[LabelLine]:
    in_force = _in_force(placed)
    before = {event.uuid: event.supersedes for event, *_ in placed}
    types = {
        (row[0].annotator, row[0].kind, row[2], row[3]): row for row in in_force if row[0].task == "type"
    }  # fmt: skip
    for row in in_force:
        if row[0].task == "correctness":
            line = _line(row, _revision(row[0], before))
            typed = types.get((row[0].annotator, row[0].kind, row[2], row[3]))
            if typed is not None:
                line.answer_subtype = typed[0].subtype
            yield line
    judged = {(row[0].annotator, row[0].kind, row[2], row[3]) for row in in_force if row[0].task == "correctness"}
    for key, row in types.items():
        if key not in judged:
            yield _line(row, _revision(row[0], before))


def _in_force(placed: list[Placed]) -> list[Placed]:
    by_subject: dict[tuple[str, int], list[LabelEvent]] = {}
    for event, *_ in placed:
        by_subject.setdefault((event.task, event.subject), []).append(event)
    current = {event.uuid for events in by_subject.values() for event in current_events(events)}
    return [row for row in placed if row[0].uuid in current]


def _revision(event: LabelEvent, before: dict[str, str | None]) -> int:
    revision, earlier = 1, event.supersedes
    while earlier is not None and earlier in before:
        revision, earlier = revision + 1, before[earlier]
    return revision


def _line(row: Placed, revision: int) -> LabelLine:
    event, annotator, dataset, question, completion = row
    return LabelLine(
        completion_id=completion,
        annotator=annotator,
        verdict=event.verdict,
        reason=event.exclusion_reason,
        answer_subtype=event.subtype,
        note=event.note,
        dataset=dataset,
        question_id=question,
        role="adjudicator" if event.kind == "adjudication" else "annotator",
        created_at=event.created_at,
        uuid=event.uuid,
        revision=revision,
        unsure=event.unsure,
        round=UNSET if event.round == 1 else event.round,
        tags=event.tags or UNSET,
        partial=UNSET if event.partial is None else event.partial,
        focused_ms=UNSET if event.focused_ms is None else event.focused_ms,
        unblinded=event.unblinded or UNSET,
    )
