"""Reading label files: every line becomes events, is there already, or is refused with a reason."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID, uuid5

from msgspec import UNSET, Struct

from workbench.annotation.states import current_events
from workbench.errors import AnnotationError, UsageError
from workbench.formats import labels as label_files
from workbench.model.item import Refusal
from workbench.model.label import EventKind, LabelEvent, LabelLine, Task
from workbench.services.labelling import ledger
from workbench.services.labelling.people import fill_slots
from workbench.services.project import Project
from workbench.store import events, label_lines, people

NAMESPACE = UUID("6f0c2a6e-5f0b-5c2e-9a53-0c0f6d1f7b10")
"""Namespace of the uuids derived for lines that carry none."""

LINES_A_TRANSACTION = 500


class LabelsImported(Struct, kw_only=True):
    """What an import of labels did, in lines.

    Attributes:
        refusals: Why lines were refused (line, field, reason).
    """

    imported: int = 0
    unchanged: int = 0
    refused: int = 0
    refusals: list[dict[str, object]] = []


class _Refused(Exception):
    """A line can't be taken; ``field`` and the message say why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def import_labels(project: Project, path: Path) -> LabelsImported:
    """Read a label file; adjudications are applied after the labels they settle.

    A line that is there already is unchanged; the same uuid with other content is refused.

    Raises:
        FormatError: The file can't be opened.
    """
    report = LabelsImported()
    lines: list[tuple[int, LabelLine]] = []
    for number, line in label_files.read(path):
        if isinstance(line, Refusal):
            _refuse(report, number, line.field, line.message)
        else:
            lines.append((number, line))
    # An adjudication settles the labels that stand when it is applied, wherever it is in the file.
    lines.sort(key=lambda numbered: numbered[1].role == "adjudicator" and numbered[1].kind is UNSET)
    for start in range(0, len(lines), LINES_A_TRANSACTION):
        with project.database.write("full") as connection:
            for number, line in lines[start : start + LINES_A_TRANSACTION]:
                _take(connection, report, number, line)
    report.refusals.sort(key=lambda refusal: int(str(refusal["line"])))
    return report


def _refuse(report: LabelsImported, number: int, field: str | None, message: str) -> None:
    report.refused += 1
    report.refusals.append({"line": number, "field": field, "message": message})


def _take(connection: events.Connection, report: LabelsImported, number: int, line: LabelLine) -> None:
    connection.execute("SAVEPOINT line")
    try:
        stored = _put_line(connection, line)
    except (_Refused, AnnotationError, UsageError) as error:
        connection.execute("ROLLBACK TO line")
        _refuse(report, number, getattr(error, "field", "annotator"), str(error))
    else:
        report.imported += bool(stored)
        report.unchanged += not stored
    finally:
        connection.execute("RELEASE line")


def _put_line(connection: events.Connection, line: LabelLine) -> int:
    """Store what a line says; returns how many events were new."""
    found = label_lines.find_completions(connection, line.completion_id, line.question_id, line.dataset)
    if not found:
        raise _Refused("completion_id", f"there is no completion {line.completion_id!r} here")
    if len(found) > 1:
        raise _Refused("completion_id", f"{line.completion_id!r} is ambiguous: add dataset or question_id to the line")
    completion, question, dataset, question_key = found[0]
    name = people.tidy(line.annotator)
    person = people.add(connection, name)
    stored = 0
    if line.verdict is not None or line.kind is not UNSET:
        key = (dataset, line.completion_id, name, line.role, str(line.revision))
        if line.task == "type":
            stored += _put(connection, line, "type", question, person, key)
        else:
            stored += _put(connection, line, "correctness", completion, person, key)
    if line.answer_subtype is not None and line.kind is UNSET:
        type_key = (dataset, question_key, name, line.role, str(line.revision), "type")
        if not _type_stands(connection, line, question, person):
            stored += _put(connection, line, "type", question, person, type_key)
    return stored


def _type_stands(connection: events.Connection, line: LabelLine, question: int, person: int) -> bool:
    """Whether the person's type of the question, given on another line, is the same.

    Raises:
        _Refused: It is another one, and the line is no later revision.
    """
    kind: EventKind = "adjudication" if line.role == "adjudicator" else "label"
    held = events.current_of(connection, "type", question, person, kind)
    if held is None:
        return False
    if held.subtype == line.answer_subtype:
        return True
    if line.revision == 1:
        raise _Refused(
            "answer_subtype",
            f"{line.annotator} typed this question {held.subtype}, not {line.answer_subtype}; a correction needs a "
            "higher revision",
        )
    return False


def _put(
    connection: events.Connection,
    line: LabelLine,
    task: Task,
    subject: int,
    person: int,
    key: tuple[str, ...],
) -> int:
    is_type = task == "type"
    derived = str(uuid5(NAMESPACE, "\x1f".join(key)))
    uuid = _uuid(line.uuid, suffix="type" if is_type and line.kind is UNSET else "") or derived
    kind: EventKind = "adjudication" if line.role == "adjudicator" else "label"
    if line.kind is not UNSET:
        kind = line.kind
    event = LabelEvent(
        uuid=uuid,
        kind=kind,
        task=task,
        subject=subject,
        annotator=person,
        created_at=line.created_at or people.now(),
        round=events.round_of(connection, task, subject) if line.round is UNSET else line.round,
        verdict=None if is_type else line.verdict,
        exclusion_reason=None if is_type else line.reason,
        subtype=line.answer_subtype if is_type else None,
        unsure=line.unsure,
        flagged=line.flagged is True,
        tags=() if is_type or line.tags is UNSET else line.tags,
        partial=None if is_type or line.partial is UNSET else line.partial,
        note=None if is_type else line.note,
        supersedes=_superseded(connection, line, task, subject, person, kind),
        seen=_seen(connection, line, task, subject, kind),
        unblinded=line.unblinded is True or events.was_revealed(connection, person, task, subject),
        focused_ms=None if line.focused_ms is UNSET else line.focused_ms,
    )
    held = events.by_uuid(connection, uuid)
    if held is not None:
        if _content(held) != _content(event):
            raise _Refused(
                "uuid", "the label is there already with other content; a correction needs a higher revision"
            )
        return 0
    ledger.record(connection, event)
    fill_slots(connection, task, subject)
    return 1


def _uuid(text: str | None, suffix: str) -> str | None:
    if text is None:
        return None
    try:
        uuid = UUID(text)
    except ValueError:
        raise _Refused("uuid", f"{text!r} is no uuid") from None
    return str(uuid5(uuid, suffix)) if suffix else str(uuid)


def _superseded(
    connection: events.Connection, line: LabelLine, task: Task, subject: int, person: int, kind: EventKind
) -> str | None:
    if line.supersedes is not UNSET:
        replaced = events.by_uuid(connection, line.supersedes)
        if replaced and (replaced.task, replaced.subject, replaced.annotator) != (task, subject, person):
            raise _Refused("supersedes", f"{line.annotator} can't replace a label of someone else or of another item")
        return line.supersedes
    if line.revision == 1 or kind not in ("label", "adjudication"):
        return None
    held = events.current_of(connection, task, subject, person, kind)
    return held.uuid if held else None


def _seen(connection: events.Connection, line: LabelLine, task: Task, subject: int, kind: EventKind) -> tuple[str, ...]:
    if line.seen is not UNSET:
        return line.seen
    if kind != "adjudication":
        return ()
    current = current_events(events.of_subject(connection, task, subject))
    return tuple(sorted(event.uuid for event in current if event.kind == "label"))


def _content(event: LabelEvent) -> tuple[object, ...]:
    return (
        event.kind,
        event.task,
        event.subject,
        event.annotator,
        event.verdict,
        event.exclusion_reason,
        event.subtype,
        event.note,
    )
