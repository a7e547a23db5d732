"""The coordinator's decisions on items: a new round of labels, exclusion, and inclusion again; each with a reason.

Every decision is an event like any other. A reopening keeps earlier labels in the history, where they no longer count.
An exclusion holds regardless of labels until a coordinator lifts it or a reopening begins a new round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from msgspec import Struct

from workbench.core.database import events, people, states
from workbench.core.database.selection import chosen_ids
from workbench.core.errors import AnnotationError, Command, UsageError, opt
from workbench.core.label import EventKind, Task, coordinator_name
from workbench.core.project import Project, batches
from workbench.core.selection import Condition, Selection
from workbench.core.states import current_events, current_exclusions
from workbench.labelling import guidelines, ledger
from workbench.labelling.answers import check_reason
from workbench.labelling.believing import LONGEST
from workbench.labelling.store import flags as store
from workbench.labelling.store.flags import Flag as Flag

Tasks = Literal["correctness", "type", "both"]
Items = Selection | Sequence[int]
"""The items of a decision: a selection, or row ids of completions."""


class Reopened(Struct, frozen=True, kw_only=True):
    """The result of reopening, as numbers of verdicts (of items) and types (of questions).

    Attributes:
        skipped: Verdicts and types without labels in the current round.
    """

    reopened: int
    skipped: int


class Excluded(Struct, frozen=True, kw_only=True):
    """The result of an exclusion, as numbers of items.

    Attributes:
        skipped: Items already excluded for the same reason and with the same note.
    """

    excluded: int
    skipped: int


class Lifted(Struct, frozen=True, kw_only=True):
    """The result of lifting exclusions, as numbers of items.

    Attributes:
        skipped: Items that no coordinator has excluded. Exclusions by annotators' labels can't be lifted; such items
            must be reopened.
    """

    lifted: int
    skipped: int


def reopen(project: Project, items: Items, *, reason: str, by: str = "", task: Tasks = "correctness") -> Reopened:
    """Begin a new round: annotators label the items again, and earlier labels no longer count.

    Args:
        by: The coordinator, by default the login name; added if the name is new.
        task: The verdict on the items, the type of their questions, or both.

    Raises:
        UsageError: The reason is missing, or ``by`` is not a valid name.
    """
    if not reason.strip():
        raise UsageError("A reopening needs a reason.", f"Write: {opt.reason:TEXT}")

    def begin(connection: events.Connection, person: int, of: Task, subject: int) -> bool:
        if not current_events(events.events_of(connection, of, subject)):
            return False
        _record_decision(connection, "reopen", of, subject, person, note=reason.strip())
        return True

    tasks: tuple[Task, ...] = ("correctness", "type") if task == "both" else (task,)
    reopened, skipped = _decide_each(project, items, tasks, by, begin)
    return Reopened(reopened=reopened, skipped=skipped)


def exclude(project: Project, items: Items, *, reason: str, note: str = "", by: str = "") -> Excluded:
    """Exclude items from every table regardless of their labels; they stay listed with the reason.

    Args:
        reason: A code of `EXCLUSION_REASONS`; ``other`` needs a note.
        by: The coordinator, by default the login name; added if the name is new.

    Raises:
        UsageError: The reason is unknown, its note is missing, or ``by`` is not a valid name.
    """
    check_reason(reason, note)

    def take_out(connection: events.Connection, person: int, of: Task, subject: int) -> bool:
        current = current_exclusions(events.events_of(connection, of, subject))
        held = current[-1] if current else None
        if held is not None and (held.exclusion_reason, held.note or "") == (reason, note.strip()):
            return False
        fields = {"verdict": "unsuitable", "exclusion_reason": reason, "note": note.strip() or None}
        before = None if held is None else held.uuid
        _record_decision(connection, "exclusion", of, subject, person, supersedes=before, **fields)
        return True

    excluded, skipped = _decide_each(project, items, ("correctness",), by, take_out)
    return Excluded(excluded=excluded, skipped=skipped)


def lift(project: Project, items: Items, *, note: str = "", by: str = "") -> Lifted:
    """Retract coordinators' exclusions, so that the labels count again.

    Raises:
        UsageError: ``by`` is not a valid name.
    """

    def take_in(connection: events.Connection, person: int, of: Task, subject: int) -> bool:
        current = current_exclusions(events.events_of(connection, of, subject))
        for held in current:
            _record_decision(
                connection, "retraction", of, subject, person, note=note.strip() or None, supersedes=held.uuid
            )
        return bool(current)

    lifted, skipped = _decide_each(project, items, ("correctness",), by, take_in)
    return Lifted(lifted=lifted, skipped=skipped)


def _decide_each(
    project: Project,
    items: Items,
    tasks: tuple[Task, ...],
    by: str,
    decide: Callable[[events.Connection, int, Task, int], bool],
) -> tuple[int, int]:
    completions = chosen_ids(project.database.reader(), items) if isinstance(items, Selection) else list(items)
    touched, decided = set[tuple[Task, int]](), 0
    for some in batches(completions):
        with project.database.write("full") as connection:
            person = people.add(connection, by or coordinator_name(), people.COORDINATOR)
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


def _record_decision(
    connection: events.Connection, kind: EventKind, task: Task, subject: int, person: int, **said: Any
) -> None:
    under_way = events.round_of(connection, task, subject)
    said |= {"round": under_way + (kind == "reopen"), "guideline": guidelines.version_in_force(connection)}
    ledger.record(connection, events.new_event(kind, task, subject, person, **said))


# -- Flags of annotators, and the coordinator's answers.


Which = Literal["open", "answered", "all"]


class Answered(Struct, frozen=True, kw_only=True):
    """The result of answering flags.

    Attributes:
        flags: Number of flags answered.
        to: Annotators who raised them.
    """

    flags: int
    completion_id: str
    to: tuple[str, ...]


def flags(project: Project, which: Which = "open", *, selection: Selection | None = None) -> list[Flag]:
    """Return flags, the oldest first; by default only open flags.

    Raises:
        UsageError: The selection names something unknown.
    """
    reader = project.database.reader()
    found = [flag for flag in store.open_flags(reader) if which == "all" or flag.is_open == (which == "open")]
    if selection is None or selection == Selection():
        return found
    chosen = set(chosen_ids(reader, selection))
    return [flag for flag in found if flag.completion in chosen]


def count_open(project: Project) -> int:
    return store.count_open(project.database.reader())


def flagged_item(project: Project, completion_id: str, dataset: str | None = None) -> int:
    """Return the row id of the flagged completion with this id.

    Raises:
        UsageError: No flagged completion has this id, or several have it.
    """
    conditions = [Condition("completion_id", "=", completion_id)]
    if dataset is not None:
        conditions.append(Condition("dataset", "=", dataset))
    found = {flag.completion: flag.dataset for flag in flags(project, "all", selection=Selection(tuple(conditions)))}
    if not found:
        raise UsageError(f"Nobody has flagged {completion_id!r}.", "List what is flagged", Command("flags DB"))
    if len(found) > 1:
        raise UsageError(
            f"{completion_id!r} is flagged in {len(found)} places.",
            f"Name the data set: {opt.dataset:{' or '.join(sorted(set(found.values())))}}.",
        )
    return next(iter(found))


def answer(project: Project, completion: int, said: str, *, by: str = "") -> Answered:
    """Answer the open flags on an item; if none is open, answer its answered flags again.

    Args:
        completion: Row id.
        by: The coordinator, by default the login name; added if the name is new.

    Raises:
        UsageError: The answer is empty, the item is not flagged, or ``by`` is not a valid name.
        AnnotationError: The answer is too long.
    """
    said = said.strip()
    if not said:
        raise UsageError("The answer is empty.", "Write what the annotators who flagged the item need to know.")
    if len(said) > LONGEST:
        raise AnnotationError(f"An answer has at most {LONGEST:,} characters.")
    with project.database.write("full") as connection:
        flags = store.open_flags(connection, completion)
        to = [flag for flag in flags if flag.is_open] or flags
        if not to:
            raise UsageError("No flag on the item is open any more.", "The annotator has removed it.")
        person = people.add(connection, by or coordinator_name(), people.COORDINATOR)
        seen = tuple(flag.uuid for flag in to)
        _record_decision(connection, "answer", "correctness", completion, person, note=said, seen=seen)
    return Answered(flags=len(to), completion_id=to[0].completion_id, to=tuple(flag.annotator for flag in to))
