"""What the coordinator decides of items: a new round of labels, out of the benchmark, and in again; each with a reason.

Every decision is an event like any other. A reopening leaves the labels before it in the history; they no longer count.
An exclusion holds, whatever people label, until a coordinator lifts it or a reopening begins a new round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from workbench.core.database import events, people, states
from workbench.core.database.selection import chosen_ids
from workbench.core.errors import UsageError
from workbench.core.label import EventKind, LabelEvent, Task
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.states import current_events, current_exclusions
from workbench.core.transactions import some_at_a_time
from workbench.labelling import labelling_guidelines, ledger
from workbench.labelling.answers import check_reason

Tasks = Literal["correctness", "type", "both"]
Items = Selection | Sequence[int]
"""The items a decision is about: a selection, or row ids of completions."""


class Reopened(Struct, frozen=True, kw_only=True):
    """What a reopening did, in verdicts (of items) and types (of questions).

    Attributes:
        skipped: Those on which nothing stands in the round under way.
    """

    reopened: int
    skipped: int


class Excluded(Struct, frozen=True, kw_only=True):
    """What an exclusion did, in items.

    Attributes:
        skipped: Items that the coordinator has excluded already, for the same reason and with the same note.
    """

    excluded: int
    skipped: int


class Lifted(Struct, frozen=True, kw_only=True):
    """What lifting exclusions did, in items.

    Attributes:
        skipped: Items that no coordinator has excluded (people's own labels are not lifted, but reopened).
    """

    lifted: int
    skipped: int


def reopen(
    project: Project, items: Items, *, reason: str, by: str = people.COORDINATOR, task: Tasks = "correctness"
) -> Reopened:
    """Begin a new round: people label anew, and what they said before counts no longer.

    Args:
        by: Who decides; added as a coordinator where the name is new.
        task: The verdict on the items, the type of their questions, or both.

    Raises:
        UsageError: There is no reason, or ``by`` is no name.
    """
    if not reason.strip():
        raise UsageError("A reopening needs a reason.", "Write: --reason TEXT")

    def begin(connection: events.Connection, person: int, of: Task, subject: int) -> bool:
        if not current_events(events.of_subject(connection, of, subject)):
            return False
        _decide(connection, "reopen", of, subject, person, note=reason)
        return True

    tasks: tuple[Task, ...] = ("correctness", "type") if task == "both" else (task,)
    reopened, skipped = _each(project, items, tasks, by, begin)
    return Reopened(reopened=reopened, skipped=skipped)


def exclude(project: Project, items: Items, *, reason: str, note: str = "", by: str = people.COORDINATOR) -> Excluded:
    """Take items out of every table, whatever people have labelled; they stay listed, with the reason.

    Args:
        reason: A code of `EXCLUSION_REASONS`; ``other`` needs a note.
        by: Who decides; added as a coordinator where the name is new.

    Raises:
        UsageError: There is no such reason, its note is missing, or ``by`` is no name.
    """
    check_reason(reason, note)

    def take_out(connection: events.Connection, person: int, of: Task, subject: int) -> bool:
        standing = current_exclusions(events.of_subject(connection, of, subject))
        held = standing[-1] if standing else None
        if held is not None and (held.exclusion_reason, held.note or "") == (reason, note.strip()):
            return False
        _decide(connection, "exclusion", of, subject, person, note=note, reason=reason, instead_of=held)
        return True

    excluded, skipped = _each(project, items, ("correctness",), by, take_out)
    return Excluded(excluded=excluded, skipped=skipped)


def lift(project: Project, items: Items, *, note: str = "", by: str = people.COORDINATOR) -> Lifted:
    """Take coordinators' exclusions back; what people have labelled counts again.

    Raises:
        UsageError: ``by`` is no name.
    """

    def take_in(connection: events.Connection, person: int, of: Task, subject: int) -> bool:
        standing = current_exclusions(events.of_subject(connection, of, subject))
        for held in standing:
            _decide(connection, "retraction", of, subject, person, note=note, instead_of=held)
        return bool(standing)

    lifted, skipped = _each(project, items, ("correctness",), by, take_in)
    return Lifted(lifted=lifted, skipped=skipped)


def _each(
    project: Project,
    items: Items,
    tasks: tuple[Task, ...],
    by: str,
    decide: Callable[[events.Connection, int, Task, int], bool],
) -> tuple[int, int]:
    """Decide on every subject, some hundred items a transaction; returns how many were touched and how many not."""
    completions = chosen_ids(project.database.reader(), items) if isinstance(items, Selection) else list(items)
    touched, decided = set[tuple[Task, int]](), 0
    for some in some_at_a_time(completions):
        with project.database.write("full") as connection:
            person = people.add(connection, by, people.COORDINATOR)
            for of, subject in _subjects(connection, some, tasks):
                if (of, subject) not in touched:
                    touched.add((of, subject))
                    decided += decide(connection, person, of, subject)
    return decided, len(touched) - decided


def _subjects(
    connection: events.Connection, completions: Sequence[int], tasks: tuple[Task, ...]
) -> list[tuple[Task, int]]:
    found: list[tuple[Task, int]] = []
    for completion in completions:
        if "correctness" in tasks:
            found.append(("correctness", completion))
        if "type" in tasks:
            found.append(("type", states.question_of(connection, completion)[0]))
    return found


def _decide(
    connection: events.Connection,
    kind: EventKind,
    task: Task,
    subject: int,
    person: int,
    *,
    note: str,
    reason: str | None = None,
    instead_of: LabelEvent | None = None,
) -> None:
    under_way = events.round_of(connection, task, subject)
    event = LabelEvent(
        uuid=events.new_uuid(),
        kind=kind,
        task=task,
        subject=subject,
        annotator=person,
        created_at=people.now(),
        round=under_way + 1 if kind == "reopen" else under_way,
        verdict="unsuitable" if kind == "exclusion" else None,
        exclusion_reason=reason,
        note=note.strip() or None,
        supersedes=instead_of.uuid if instead_of else None,
        guideline=labelling_guidelines.version_in_force(connection),
    )
    ledger.record(connection, event)
