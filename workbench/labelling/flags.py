"""Calls for the coordinator: what annotators have flagged, and the answers that come back to them.

An answer is an event that names the flags it is to. Whoever raised one of them reads it, and nobody else who labels; a
label they give on the item after that is not blind to it.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.database import events, people
from workbench.core.database.selection import chosen_ids
from workbench.core.errors import AnnotationError, UsageError
from workbench.core.label import LabelEvent
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.labelling import labelling_guidelines, ledger
from workbench.labelling.event_rows import LONGEST
from workbench.labelling.store import flags as store
from workbench.labelling.store.flags import Flag as Flag

Which = Literal["open", "answered", "all"]


class Answered(Struct, frozen=True, kw_only=True):
    """What an answer did.

    Attributes:
        flags: How many flags it is to.
        to: Whose they are.
    """

    flags: int
    completion_id: str
    to: tuple[str, ...]


def flags(project: Project, which: Which = "open", *, selection: Selection | None = None) -> list[Flag]:
    """Flags that stand, the oldest first.

    Raises:
        UsageError: The selection names what there is not.
    """
    reader = project.database.reader()
    found = [flag for flag in store.standing(reader) if which == "all" or flag.is_open == (which == "open")]
    if selection is None or selection == Selection():
        return found
    chosen = set(chosen_ids(reader, selection))
    return [flag for flag in found if flag.completion in chosen]


def count_open(project: Project) -> int:
    """How many flags wait for an answer."""
    return store.count_open(project.database.reader())


def flagged_item(project: Project, completion_id: str, dataset: str | None = None) -> int:
    """Row id of the flagged completion of that id.

    Raises:
        UsageError: None of that id is flagged, or several are.
    """
    conditions = [Condition("completion_id", "=", completion_id)]
    if dataset is not None:
        conditions.append(Condition("dataset", "=", dataset))
    found = {flag.completion: flag.dataset for flag in flags(project, "all", selection=Selection(tuple(conditions)))}
    if not found:
        raise UsageError(f"Nobody has flagged {completion_id!r}.", "List what is flagged: workbench flags DB")
    if len(found) > 1:
        raise UsageError(
            f"{completion_id!r} is flagged in {len(found)} places.",
            f"Name the data set: --dataset {' or '.join(sorted(set(found.values())))}.",
        )
    return next(iter(found))


def answer(project: Project, completion: int, said: str, *, by: str = people.COORDINATOR) -> Answered:
    """Answer the flags on an item: those that are open or, where none is, those that were answered before, anew.

    Args:
        completion: Row id.
        by: Who answers; added as a coordinator where the name is new.

    Raises:
        UsageError: There is no answer, nobody has flagged the item, or ``by`` is no name.
        AnnotationError: The answer is too long.
    """
    said = said.strip()
    if not said:
        raise UsageError("The answer is empty.", "Say what the people who flagged the item are to know.")
    if len(said) > LONGEST:
        raise AnnotationError(f"An answer has at most {LONGEST:,} characters.")
    with project.database.write("full") as connection:
        standing = store.standing(connection, completion)
        to = [flag for flag in standing if flag.is_open] or standing
        if not to:
            raise UsageError("No flag stands on the item any more.", "Its maker has taken it off.")
        person = people.add(connection, by, people.COORDINATOR)
        event = LabelEvent(
            uuid=events.new_uuid(),
            kind="answer",
            task="correctness",
            subject=completion,
            annotator=person,
            created_at=people.now(),
            round=events.round_of(connection, "correctness", completion),
            note=said,
            seen=tuple(flag.uuid for flag in to),
            guideline=labelling_guidelines.version_in_force(connection),
        )
        ledger.record(connection, event)
    return Answered(flags=len(to), completion_id=to[0].completion_id, to=tuple(flag.annotator for flag in to))
