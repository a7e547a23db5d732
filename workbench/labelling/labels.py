"""Reads label files: every line becomes events, is already known, or is rejected with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import get_args
from uuid import UUID, uuid5

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from workbench.config import settings_of
from workbench.core.database import events, people, states
from workbench.core.database.journal import event_of
from workbench.core.errors import AnnotationError, UsageError
from workbench.core.item import Refusal
from workbench.core.label import EXCLUSION_REASONS, TAGS, EventKind, LabelEvent, LabelLine, LabelVerdict, Task
from workbench.core.project import Parts, Project, batches
from workbench.core.states import current_labels, has_seen
from workbench.core.taxonomy import parse_type
from workbench.data.formats import peers
from workbench.data.formats.carried import CarriedItem, line_of
from workbench.data.formats.documents import documents
from workbench.data.formats.lines import LineRefusedError, RefusedError, make_refusal
from workbench.data.formats.peers import TOOLS
from workbench.data.formats.reading import plan_file, read_items
from workbench.data.formats.rows import decoded_rows, read_records
from workbench.data.formats.sheets import LabelSheet, label_sheet
from workbench.data.formats.source import FileFormat, open_stream
from workbench.data.store import reading
from workbench.labelling import believing, checks, ledger
from workbench.labelling.answers import contradictions
from workbench.labelling.believing import MalformedError, check_past, foreign_label_fault, require_no_decision_retracted
from workbench.labelling.store import assignments, foreign
from workbench.runs.verdict_files import verdict_lines

# -- Labels in files of other annotation tools, as label lines.


def read_peer_labels(path: Path, kind: FileFormat) -> Iterator[tuple[int, bytes, LabelLine | Refusal]]:
    """Yield the number of each element (from 1), the element, and one person's label of it or the reason for its
    rejection.

    Items have the names that an import of the same file gives them.

    Raises:
        FormatError: The file can't be read.
    """
    plan = plan_file(path, format=kind)
    tool = TOOLS[kind]
    with read_items(plan) as (items, _), open_stream(path) as (stream, _):
        for row, item in zip(documents(stream, kind, path), items, strict=True):
            raw = row.raw
            if isinstance(item, Refusal):
                yield item.line, raw, item
                continue
            try:
                place = CarriedItem(tool.dataset_of(raw), item.question_key, item.completion_key)
                for answers in tool.answers_in(raw):
                    yield item.line, raw, line_of(answers, place)
            except RefusedError as error:
                yield item.line, raw, make_refusal(item.line, raw, error)


# -- Label files: JSON Lines, one label a line.


_DECODER = msgspec.json.Decoder(LabelLine)
_CELLS_DECODER = msgspec.json.Decoder(LabelLine, strict=False)
_SAYING = (UNSET, "label", "adjudication", "repeat", "check", "exclusion")
"""Kinds of events with an answer."""
_SORTS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z")
"""Times that are stored unchanged."""


def read(path: Path, sheet: LabelSheet | None = None) -> Iterator[tuple[int, LabelLine | Refusal]]:
    """Yield line numbers (from 1), each with a label, or the reason for its rejection.

    In another tool's file the number is that of the element, which may hold several people's labels, like a row of a
    table.

    Args:
        sheet: The file as a table, if it is one.

    Raises:
        FormatError: The file can't be opened.
    """
    for number, raw, line in _read_lines(path, sheet):
        yield number, line if isinstance(line, Refusal) else _check_line(number, raw, line)


def _read_lines(path: Path, sheet: LabelSheet | None) -> Iterator[tuple[int, bytes, LabelLine | Refusal]]:
    if sheet is not None:
        return decoded_rows(sheet.lines(), _CELLS_DECODER)
    if (tool := peers.tool_of(path)) is not None:
        return read_peer_labels(path, tool)
    return read_records(path, _DECODER)


def _check_line(number: int, raw: bytes, line: LabelLine) -> LabelLine | Refusal:
    for field, message in (*_answer_faults(line), *_other_faults(line)):
        return Refusal(line=number, code="wrong_type", message=message, raw=raw, field=field)
    if line.answer_subtype is not None:
        line.answer_subtype = _parse_subtype(line.answer_subtype)
    if line.created_at is not None:
        line.created_at = _to_utc(line.created_at)
    return line


def _answer_faults(line: LabelLine) -> Iterator[tuple[str, str]]:
    if not line.completion_id and not line.question_id:
        yield "completion_id", "a line needs the id of a completion, or question_id and an answer_subtype"
    elif not line.completion_id and (
        line.verdict is not None or line.task == "correctness" or (line.kind is not UNSET and line.task is UNSET)
    ):
        yield "completion_id", "a line without a completion must have an answer_subtype of the question, and no verdict"
    if line.verdict not in (None, *get_args(LabelVerdict)):
        yield "verdict", f"{line.verdict!r} is not a valid verdict: write one of correct, incorrect and unsuitable"
    if line.kind in _SAYING and _answer_of(line) is None:
        field = "answer_subtype" if line.task == "type" else "verdict"
        yield field, "a line needs a verdict (correct, incorrect, unsuitable) or an answer_subtype"
    if line.kind == "exclusion" and line.verdict != "unsuitable":
        yield "verdict", "an exclusion needs the verdict unsuitable"
    if line.verdict == "unsuitable" and line.reason not in EXCLUSION_REASONS:
        yield "reason", f"an unsuitable item needs a reason: {', '.join(EXCLUSION_REASONS)}"
    if line.verdict != "unsuitable" and line.reason is not None:
        yield "reason", "only an unsuitable item has a reason"
    if line.answer_subtype is not None and _parse_subtype(line.answer_subtype) is None:
        yield "answer_subtype", f"{line.answer_subtype!r} is not a valid subtype code such as A1 or D2"


def _other_faults(line: LabelLine) -> Iterator[tuple[str, str]]:
    if line.kind == "reopen" and not line.note:
        yield "note", "a reopening needs a note with the reason"
    if line.kind == "reopen" and (line.round is UNSET or line.round == 1):
        yield "round", "a reopening begins round 2 or a later one"
    if line.revision < 1:
        yield "revision", "revisions count from 1"
    if line.created_at is not None and _to_utc(line.created_at) is None:
        yield "created_at", f"{line.created_at[:100]!r} is not an ISO 8601 time, such as 2025-01-31T12:00:00Z"
    unknown = [] if line.tags is UNSET else [tag for tag in line.tags if tag not in TAGS]
    if unknown:
        yield "tags", f"there is no tag {unknown[0][:100]!r}; tags: {', '.join(TAGS)}"


def _parse_subtype(text: str) -> str | None:
    parsed = parse_type(text)
    return parsed.code if parsed is not None and parsed.is_subtype else None


def _answer_of(line: LabelLine) -> str | None:
    if line.kind is UNSET and line.task is UNSET:
        return line.verdict or line.answer_subtype
    return line.answer_subtype if line.task == "type" else line.verdict


def _to_utc(text: str) -> str | None:
    try:
        time = datetime.fromisoformat(text)
        if time.utcoffset():
            time = time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if _SORTS.fullmatch(text):
        return text
    return time.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


NAMESPACE = UUID("6f0c2a6e-5f0b-5c2e-9a53-0c0f6d1f7b10")
"""Namespace of the uuids derived for lines that carry none."""
Before = Callable[[events.Connection, LabelLine], None]
"""A callback before a line is stored, in its transaction."""


class LabelsImported(Struct, kw_only=True):
    """The result of an import of labels, as numbers of lines.

    Attributes:
        contradicting: Imported verdicts whose tags contradict them or each other.
        refusals: Rejected lines with line number, field and reason.
        people: Annotator -> number of new events.
        kinds: Kind of event, such as adjudication -> number of new events.
        new_people: Those of ``people`` who were unknown here.
        columns: The people in the columns of a table; this and the following fields are present only for tables.
        ignored: Names of ignored columns.
        missing: Person -> number of empty cells.
    """

    imported: int = 0
    unchanged: int = 0
    refused: int = 0
    contradicting: int = 0
    refusals: list[dict[str, object]] = []
    people: dict[str, int] = {}
    kinds: dict[str, int] = {}
    new_people: list[str] = []
    columns: list[str] | UnsetType = UNSET
    ignored: list[str] | UnsetType = UNSET
    missing: dict[str, int] | UnsetType = UNSET


def import_labels(project: Project, path: Path, only: str | None = None) -> LabelsImported:
    """Read a label file; adjudications are applied after the labels they resolve.

    Labels of all people in the file are accepted, and the report counts them by person. With ``only``, just that
    person's labels are accepted.

    A line that was imported before changes nothing; a known uuid with different content is rejected. An adjudication
    imported before its
    labels (from another file) resolves those that are not later than it; without times, its file has to be imported
    again after them.

    Args:
        only: A person's name; other people's lines, and decisions of any kind, are rejected.

    Raises:
        FormatError: The file can't be opened.
        UsageError: No annotator has this name.
    """
    report = LabelsImported()
    who = None if only is None else people.find(project.database, only).name
    known = {person.name for person in people.all_people(project.database)}
    lines = []
    sheet = label_sheet(path)
    for number, line in read(path, sheet):
        if isinstance(line, Refusal):
            checks.reject(report, number, line.field, line.message)
        elif who is not None and (fault := foreign_label_fault(line, who)):
            checks.reject(report, number, *fault)
        else:
            lines.append((number, line))
    # An adjudication resolves the labels in force when it is applied, regardless of its position in the file.
    lines.sort(key=lambda numbered: numbered[1].role == "adjudicator" and numbered[1].kind is UNSET)
    _store_lines(project, report, lines, require_no_decision_retracted if who else None)
    report.new_people = sorted(report.people.keys() - known)
    if sheet is not None:
        report.columns, report.ignored, report.missing = sheet.columns, sheet.ignored, dict(sheet.missing)
    return report


def import_verdicts(project: Project, verifier: str) -> LabelsImported:
    """Import a verifier's correct and incorrect verdicts as labels of an annotator of the same name, such as tests as
    gold.

    Abstentions and errors give no label. A second import changes nothing; a verdict that differs from the one imported
    before is rejected.

    Raises:
        UsageError: No verifier has this name.
    """
    return put_lines(
        project,
        [
            LabelLine(
                dataset=line.dataset,
                question_id=line.question_id,
                completion_id=line.completion_id,
                annotator=verifier,
                verdict=line.verdict,
                role="adjudicator",
            )
            for line in verdict_lines(project, verifier)
            if line.verdict == "correct" or line.verdict == "incorrect"
        ],
    )


def put_lines(project: Project, lines: Sequence[LabelLine], first: Before | None = None) -> LabelsImported:
    """Store lines as `import_labels` stores the lines of a file; line numbers start at 1.

    Args:
        first: Called before each line is stored; rolled back with the line if that is rejected.
    """
    report = LabelsImported()
    _store_lines(project, report, list(enumerate(lines, 1)), first)
    return report


def _store_lines(
    project: Project, report: LabelsImported, lines: Sequence[tuple[int, LabelLine]], first: Before | None = None
) -> None:
    parts = Parts("lines")
    for some in batches(lines):
        with parts.storing(len(some)), project.database.write("full") as connection:
            checked: set[int] = set()
            for number, line in some:
                checked |= _store_line(connection, report, number, line, first)
            for person in checked:
                checks.review(connection, person, settings_of(project).annotation)
    report.refusals.sort(key=lambda refusal: int(str(refusal["line"])))


def _store_line(
    connection: events.Connection, report: LabelsImported, number: int, line: LabelLine, first: Before | None
) -> set[int]:
    stored: list[LabelEvent] = []
    connection.execute("SAVEPOINT line")
    try:
        line = believing.with_canonical_uuids(line)
        if first is not None:
            first(connection, line)
        stored = _put_line(connection, line)
    except (LineRefusedError, MalformedError, AnnotationError, UsageError) as error:
        connection.execute("ROLLBACK TO line")
        checks.reject(report, number, getattr(error, "field", "annotator"), str(error))
    else:
        report.imported += bool(stored)
        for event in stored:
            name = people.normalise_name(line.annotator)
            report.people[name] = report.people.get(name, 0) + 1
            report.kinds[event.kind] = report.kinds.get(event.kind, 0) + 1
        report.unchanged += not stored
        report.contradicting += bool(stored) and _has_contradiction(line)
    finally:
        connection.execute("RELEASE line")
    return {event.annotator for event in stored if event.kind == "check" and event.task == "correctness"}


def _has_contradiction(line: LabelLine) -> bool:
    tags = () if line.tags is UNSET else line.tags
    return bool(contradictions(line.verdict, tags, None if line.partial is UNSET else line.partial))


def _put_line(connection: events.Connection, line: LabelLine) -> list[LabelEvent]:
    completion, question, dataset, question_key = _resolve_item(connection, line)
    name = people.normalise_name(line.annotator)
    people.require_distinct(connection, name)
    person = people.add(connection, name, people.COORDINATOR if line.role == people.COORDINATOR else "annotator")
    key: tuple[str, ...] = (dataset, line.completion_id or question_key, name, line.role, str(line.revision))
    task: Task = "correctness" if line.task is UNSET else line.task
    if line.kind is not UNSET:
        subject = completion if task == "correctness" else question
        _require_own(connection, line, line.kind, task, subject, person)
        at, uuid = line.created_at or people.now(), _event_uuid(line, key)
        whole = event_of(line, uuid=uuid, task=task, subject=subject, annotator=person, created_at=at, merged=True)
        return _put_event(connection, line, whole)
    stored = []
    if line.verdict is not None and task == "correctness":
        stored += _put_event(connection, line, _label_event(connection, line, task, completion, person, key))
    if line.answer_subtype is not None and not _has_current_type(connection, line, question, person):
        key = (dataset, question_key, name, line.role, str(line.revision), "type")
        stored += _put_event(connection, line, _label_event(connection, line, "type", question, person, key))
    return stored


def _resolve_item(connection: events.Connection, line: LabelLine) -> tuple[int, int, str, str]:
    """Return the row ids of the completion (0 if the line names none) and its question, the dataset's name, and the
    question's own id.

    Raises:
        LineRefusedError: The item does not exist, or the line matches several.
    """
    if not line.completion_id:
        questions = reading.find_questions(connection, line.question_id or "", line.dataset)
        if not questions:
            raise LineRefusedError("question_id", f"there is no question {line.question_id!r} here")
        if len(questions) > 1:
            raise LineRefusedError("question_id", f"{line.question_id!r} is ambiguous: add dataset to the line")
        return 0, *questions[0], line.question_id or ""
    found = reading.find_completions(connection, line.completion_id, line.question_id, line.dataset)
    if not found:
        raise LineRefusedError("completion_id", f"there is no completion {line.completion_id!r} here")
    if len(found) > 1:
        raise LineRefusedError("completion_id", f"{line.completion_id!r} is ambiguous: add dataset or question_id")
    return found[0]


def _has_current_type(connection: events.Connection, line: LabelLine, question: int, person: int) -> bool:
    """Return whether the person's type of the question, given on another line, is the same.

    Raises:
        LineRefusedError: The type differs, and the line is not a later revision.
    """
    held = events.current_of(connection, "type", question, person, _event_kind(line))
    if held is None:
        return False
    if held.subtype == line.answer_subtype:
        return True
    if line.revision == 1:
        raise LineRefusedError(
            "answer_subtype",
            f"{line.annotator} gave this question the type {held.subtype}, not {line.answer_subtype}; a correction "
            "needs a higher revision",
        )
    return False


def _event_kind(line: LabelLine) -> EventKind:
    return "adjudication" if line.role == "adjudicator" else "label"


def _label_event(
    connection: events.Connection, line: LabelLine, task: Task, subject: int, person: int, key: tuple[str, ...]
) -> LabelEvent:
    is_type, kind = task == "type", _event_kind(line)
    return LabelEvent(
        uuid=_event_uuid(line, key, suffix="type" if is_type else ""),
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
        supersedes=_superseded_uuid(connection, line, task, subject, person, kind),
        seen=_seen_uuids(connection, line, task, subject, kind),
        unblinded=line.unblinded is True or events.was_revealed(connection, person, task, subject),
        focused_ms=None if line.focused_ms is UNSET else line.focused_ms,
    )


def _put_event(connection: events.Connection, line: LabelLine, event: LabelEvent) -> list[LabelEvent]:
    """Store an event and its consequences unless it is known; return the stored events.

    Raises:
        LineRefusedError: An event with its uuid exists with different content, or it is not a valid event.
    """
    held = events.by_uuid(connection, event.uuid)
    if held is None:
        new: LabelEvent | None = event
    elif _comparable_content(line, held) != _comparable_content(line, event):
        raise LineRefusedError("uuid", "the label exists with other content; a correction needs a higher revision")
    else:
        new = _repeated_adjudication(connection, line, event)
    if new is None:
        return []
    try:
        believing.check(new)
        check_past(new.created_at)
    except MalformedError as error:
        raise LineRefusedError(error.field, str(error)) from None
    ledger.record(connection, new)
    if new.kind in ("label", "retraction", "reopen"):
        foreign.settle_slots(
            connection, new.task, new.subject, states.current_labellers(connection, new.task, new.subject)
        )
    elif new.kind in ("check", "repeat"):
        foreign.settle_own_slots(connection, [new])
    if new.kind in ("label", "check", "repeat") and new.task == "correctness":
        people.drop_draft(connection, new.annotator, new.subject, until=new.created_at)
        if new.verdict == "unsuitable" and line.answer_subtype is None:
            assignments.give_back(connection, new.subject, new.annotator)
    return [new]


def _repeated_adjudication(connection: events.Connection, line: LabelLine, event: LabelEvent) -> LabelEvent | None:
    """Return a new event that repeats an adjudication imported before its labels; None if this doesn't apply.

    A label later than the adjudication reopens the item, and it stays open. Without times, any label imported after
    the adjudication resolved others has the same effect. A decision made in the app lists the labels that it resolves.
    """
    if event.kind != "adjudication" or line.kind is not UNSET:
        return None
    head = events.current_of(connection, event.task, event.subject, event.annotator, "adjudication")
    labels = current_labels(events.events_of(connection, event.task, event.subject))
    if (
        head is None
        or head.content_hash is not None
        or _comparable_content(line, head) != _comparable_content(line, event)
    ):
        return None
    if has_seen(head, labels) or event.annotator in {label.annotator for label in labels}:
        return None
    if head.seen and not (line.created_at and all(label.created_at <= line.created_at for label in labels)):
        return None
    if not head.seen and line.created_at:
        return None
    seen = tuple(sorted(label.uuid for label in labels))
    uuid = str(uuid5(UUID(head.uuid), "\x1f".join(seen)))
    return structs.replace(event, uuid=uuid, supersedes=head.uuid, seen=seen)


def _event_uuid(line: LabelLine, key: tuple[str, ...], suffix: str = "") -> str:
    if line.uuid is None:
        return str(uuid5(NAMESPACE, "\x1f".join(key)))
    return str(uuid5(UUID(line.uuid), suffix)) if suffix else line.uuid


def _superseded_uuid(
    connection: events.Connection, line: LabelLine, task: Task, subject: int, person: int, kind: EventKind
) -> str | None:
    _require_own(connection, line, kind, task, subject, person)
    if line.supersedes is not UNSET:
        return line.supersedes
    if line.revision == 1:
        return None
    held = events.current_of(connection, task, subject, person, kind)
    return held.uuid if held else None


def _require_own(
    connection: events.Connection, line: LabelLine, kind: EventKind, task: Task, subject: int, person: int
) -> None:
    """Reject a line that replaces or repeats another person's event, or one on another item.

    Any coordinator may replace exclusions.
    """
    for uuid in () if line.seen is UNSET or kind not in events.ANSWERS else line.seen:
        repeated = events.by_uuid(connection, uuid)
        if repeated and (repeated.annotator, *events.subject_of(repeated)) != (person, task, subject):
            raise LineRefusedError("seen", f"{line.annotator} can't repeat a label of someone else or of another item")
    replaced = None if line.supersedes is UNSET else events.by_uuid(connection, line.supersedes)
    if replaced is None:
        return
    lifting = replaced.kind == "exclusion" and kind in ("exclusion", "retraction")
    if (replaced.task, replaced.subject) != (task, subject) or not (lifting or replaced.annotator == person):
        raise LineRefusedError(
            "supersedes", f"{line.annotator} can't replace a label of someone else or of another item"
        )


def _seen_uuids(
    connection: events.Connection, line: LabelLine, task: Task, subject: int, kind: EventKind
) -> tuple[str, ...]:
    if line.seen is not UNSET:
        return line.seen
    if kind != "adjudication":
        return ()
    return tuple(sorted(label.uuid for label in current_labels(events.events_of(connection, task, subject))))


_CONTENT = attrgetter("kind", "task", "subject", "annotator", "verdict", "exclusion_reason", "subtype", "note")


def _comparable_content(line: LabelLine, event: LabelEvent) -> object:
    if line.kind is not UNSET:
        at = event.created_at if line.created_at else ""
        return structs.replace(event, merged=True, created_at=at)
    return _CONTENT(event)
