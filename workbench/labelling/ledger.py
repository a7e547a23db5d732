"""Stores label events: append an event, then derive the state of its item. All events enter the database here."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.database import events, people, states
from workbench.core.database.journal import event_line, place_events
from workbench.core.errors import AnnotationError, UsageError
from workbench.core.label import ItemState, LabelEvent, LabelLine, Task, TaskState
from workbench.core.progress import stepping
from workbench.core.project import Project
from workbench.core.states import DEFAULT_NEED, item_state, task_state
from workbench.data.store import browsing
from workbench.labelling.believing import LONGEST, MalformedError, check_text
from workbench.labelling.store import assignments


def record(connection: events.Connection, event: LabelEvent) -> None:
    """Append one event and update the state of its item or question, in the caller's transaction.

    Raises:
        AnnotationError: The database rejects it (the adjudicator is one of the item's annotators, or the uuid exists),
            or another database would (its note is too long or not text).
    """
    note = event.note or ""
    if len(note) > LONGEST:
        raise AnnotationError(f"A note has at most {LONGEST:,} characters.", "Shorten it.")
    try:
        check_text({"note": note})
    except MalformedError as error:
        raise AnnotationError(f"The note can't be kept: {error}.") from error
    _append(connection, event)
    if _affects_state(event):
        refresh(connection, event.task, event.subject)


def record_merged(
    connection: events.Connection, held: Sequence[LabelEvent], arrived: Sequence[LabelEvent]
) -> TaskState:
    """Append another database's events on one item or question, then derive its state once; return the state.

    Args:
        held: All events on the item or question here.

    Raises:
        AnnotationError: A uuid exists already.
    """
    for event in arrived:
        _append(connection, event)
    task, subject = arrived[0].task, arrived[0].subject
    state = task_state([*held, *arrived], states.assigned_count(connection, task, subject) or DEFAULT_NEED)
    if any(map(_affects_state, (*held, *arrived))):
        _put_state(connection, task, subject, state)
    return state


def _affects_state(event: LabelEvent) -> bool:
    return event.kind not in ("flag", "answer", "reveal", "repeat", "check") or event.supersedes is not None


def _append(connection: events.Connection, event: LabelEvent) -> None:
    try:
        events.append(connection, event)
    except events.Refused as error:
        raise AnnotationError(f"Not stored: {error}.") from error
    if event.kind == "reopen":
        assignments.begin_round(connection, event.task, event.subject, event.round, event.created_at)
    elif event.task == "correctness" and event.kind in events.ANSWERS:
        # Not before: an item skipped a second time is served again, and so is a check.
        assignments.unskip(connection, event.subject, event.annotator)


def reveal(connection: events.Connection, person: int, task: Task, subject: int, what: str) -> None:
    """Record, unless it is recorded, that a person has seen gold, verdicts or others' labels; ``what`` says which."""
    if not events.has_seen(connection, person, task, subject, what):
        record(connection, events.new_event("reveal", task, subject, person, view=what))


def refresh(connection: events.Connection, task: Task, subject: int) -> None:
    _put_state(connection, task, subject, _derive_task_state(connection, task, subject))


def _put_state(connection: events.Connection, task: Task, subject: int, state: TaskState) -> None:
    states.put_task(connection, task, subject, state)
    completions = [subject] if task == "correctness" else states.completions_of(connection, subject)
    for completion in completions:
        states.put_item(connection, completion, _derive_item_state(connection, completion))


def _derive_item_state(connection: events.Connection, completion: int) -> ItemState:
    question, types_labelled = states.question_of(connection, completion)
    return item_state(
        states.get_task(connection, "correctness", completion),
        states.get_task(connection, "type", question),
        types_labelled=types_labelled,
    )


def _derive_task_state(connection: events.Connection, task: Task, subject: int) -> TaskState:
    need = states.assigned_count(connection, task, subject) or DEFAULT_NEED
    return task_state(events.events_of(connection, task, subject), need)


def states_differ(project: Project) -> int:
    """Count stored states that differ from those derived from events; 0 unless the file was edited by hand."""
    reader = project.database.reader()
    touched = states.subjects_with_events(reader)
    differing = states.count_without_events(reader)
    items: set[int] = set()
    for task, subject in stepping(touched, "checking states", "tasks", len(touched)):
        differing += states.get_task(reader, task, subject) != _derive_task_state(reader, task, subject)
        items.update([subject] if task == "correctness" else states.completions_of(reader, subject))
    items |= states.items(reader)
    return differing + sum(states.get_item(reader, item) != _derive_item_state(reader, item) for item in items)


def recompute(project: Project) -> int:
    with project.database.write("full") as connection:
        states.clear_states(connection)
        touched = states.subjects_with_events(connection)
        for task, subject in touched:
            refresh(connection, task, subject)
    return len(touched)


# -- The history: every event on an item or by a person.


def history(project: Project, *, item: str | None = None, annotator: str | None = None) -> list[LabelLine]:
    """Return events of every kind, by time, as lines that `import_labels` can read back completely.

    Args:
        item: Only events on the completions with this id, and on the types of their questions.
        annotator: Only events of this person.

    Raises:
        UsageError: The item or person does not exist.
    """
    reader = project.database.reader()
    person = None if annotator is None else people.find(project.database, annotator).id
    if item is None:
        return list(map(event_line, place_events(reader, events.events_by_time(reader, annotator=person))))
    found = browsing.with_key(reader, item)
    if not found:
        raise UsageError(f"There is no item {item!r}.", "Name a completion by its id.")
    lines: list[LabelLine] = []
    for completion in found:
        chosen = events.events_by_time(reader, completion=completion, annotator=person)
        lines += map(event_line, place_events(reader, chosen))
    return lines


def event_cells(line: LabelLine) -> list[str]:
    at = (line.created_at or "")[:19].replace("T", " ")
    said = [
        line.verdict or "",
        f"({line.reason})" if line.reason else "",
        line.answer_subtype or "",
        f"“{line.note}”" if line.note else "",
        "unsure" if line.unsure else "",
        *(tag for tag in line.tags or ()),
        f"partial {line.partial:g}" if isinstance(line.partial, float | int) else "",
        "flagged" if line.flagged is True else "",
        "unblinded" if line.unblinded is True else "",
        f"saw {line.view or 'it'}" if line.kind == "reveal" else "",
        f"round {line.round}" if isinstance(line.round, int) else "",
        f"guidelines {line.guideline}" if isinstance(line.guideline, str) else "",
    ]
    cells = [
        f"{at:<19}",
        f"{line.annotator:<12}",
        f"{line.kind!s:<12}",
        f"{line.completion_id or line.question_id or '':<12}",
    ]
    return [*cells, *filter(None, said)]
