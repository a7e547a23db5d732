"""Conflicts as the adjudicator sees them, the adjudicator's decisions, and who has which work to do."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import count
from typing import Literal

from msgspec import Struct, structs

from workbench.core.database import events, people
from workbench.core.database.hashes import secret
from workbench.core.errors import AnnotationError, UsageError
from workbench.core.label import LabelEvent, LabelVerdict, Task
from workbench.core.options import record_from
from workbench.core.project import Project, at_one_moment
from workbench.core.states import current_adjudication, current_events, current_labels
from workbench.core.taxonomy import is_subtype
from workbench.data.store import reading
from workbench.labelling.annotating import AnnotationItem
from workbench.labelling.answers import Answer, check_tags, check_verdict, event_fields
from workbench.labelling.store import assignments, claiming, conflicts

LABELS = "labels"
"""The name under which it is recorded that a person has seen others' labels, as adjudicators do."""


class Opinion(Struct, frozen=True, kw_only=True):
    """One of the labels in conflict, without its annotator's name and its date.

    Attributes:
        letter: ``A``, ``B`` … in an order that doesn't reveal the annotators; see `opinions`.
        value: The verdict, or the subtype code.
        tags: Codes of the person's tags on the verdict.
        partial: The person's partial score, 0 to 1.
        flagged: Whether the person has flagged the item.
        open_ms: Milliseconds the item was open, if known.
        focused_ms: Milliseconds the item was open, without time in which the window was in the background or idle.
        view: What the person viewed, such as ``card+completion rendered``.
    """

    letter: str
    value: str
    reason: str = ""
    note: str = ""
    unsure: bool = False
    tags: tuple[str, ...] = ()
    partial: float | None = None
    flagged: bool = False
    open_ms: int | None = None
    focused_ms: int | None = None
    view: str = ""


class EarlierRuling(Struct, frozen=True, kw_only=True):
    """A decision that no longer holds because a label came after it; it is shown without a name."""

    value: str
    reason: str = ""


class RulingSubject(Struct, frozen=True, kw_only=True):
    """The item or question that a decision is about.

    Attributes:
        seen: The labels' uuids; a decision is valid as long as no other label is added.
        guideline: The newest version of the guidelines that the person had read when the labels were shown; may be
            empty.
        decided: The uuid of the person's own decision that was in force then; empty without one.
    """

    task: Task
    subject: int
    seen: tuple[str, ...]
    guideline: str
    decided: str = ""


def ruling_of(event: LabelEvent) -> Answer:
    return Answer(
        verdict=event.verdict,
        reason=event.exclusion_reason,
        subtype=event.subtype,
        tags=event.tags,
        partial=event.partial,
        note=event.note or "",
    )


def adopt_opinion(task: Task, opinion: Opinion, note: str) -> Answer:
    """Return the decision that adopts one of the labels.

    Args:
        note: The adjudicator's own note. Without one, the label's note is used with the reason "other", which needs a
            note.
    """
    if task == "type":
        return Answer(subtype=opinion.value, note=note)
    verdicts: dict[str, LabelVerdict] = {name: name for name in ("correct", "incorrect", "unsuitable")}
    return Answer(
        verdict=verdicts[opinion.value],
        reason=opinion.reason or None,
        tags=opinion.tags,
        partial=opinion.partial,
        note=note or (opinion.note if opinion.reason == "other" else ""),
    )


def check(task: Task, ruling: Answer) -> None:
    """Check that a decision answers its task.

    Raises:
        UsageError: The decision has no answer to the task.
    """
    if task == "type" and (not ruling.subtype or ruling.verdict is not None):
        raise UsageError("A decision on the type must name a subtype, not a verdict.")
    if ruling.subtype is not None and not is_subtype(ruling.subtype):
        raise UsageError(f"{ruling.subtype!r} is not a valid subtype.", "Give its code, such as A7.")
    if task == "correctness" and (ruling.verdict is None or ruling.subtype is not None):
        raise UsageError("A decision on correctness must be correct, incorrect or unsuitable, not a type.")
    check_verdict(ruling.verdict, ruling.reason, ruling.note)
    check_tags(ruling.tags, ruling.partial)


def decision_event(
    connection: events.Connection,
    person: people.Annotator,
    case: RulingSubject,
    ruling: Answer,
    *,
    content_hash: bytes,
    at: str,
    sighted: bool,
) -> LabelEvent:
    """Return the event of a decision.

    Raises:
        AnnotationError: A label or the person's own decision has changed since, or they may not resolve the conflict.
    """
    stored = events.events_of(connection, case.task, case.subject)
    if uuids(current_labels(stored)) != case.seen:
        raise AnnotationError("A label of this item has changed in the meantime.", "Read it again, then decide.")
    current = current_adjudication(stored)
    own = current is not None and current.annotator == person.id
    if current is not None and own and current.uuid != case.decided:
        raise AnnotationError(
            f"You have decided this in another window: {current.value}.",
            "Nothing was stored. Decide again to replace it.",
        )
    if not own and not conflicts.is_open_to(connection, person.id, case.task, case.subject):
        raise AnnotationError(
            "Someone else has resolved this conflict, or is assigned to it.", "Continue with the next conflict."
        )
    earlier = events.current_of(connection, case.task, case.subject, person.id, "adjudication")
    return events.new_event(
        "adjudication",
        case.task,
        case.subject,
        person.id,
        created_at=at,
        round=events.round_of(connection, case.task, case.subject),
        supersedes=earlier.uuid if earlier else None,
        seen=case.seen,
        unblinded=sighted or events.was_revealed(connection, person.id, case.task, case.subject, ignoring=LABELS),
        content_hash=content_hash,
        **event_fields(ruling) | {"guideline": case.guideline or None},
    )


def uuids(labels: Sequence[LabelEvent] | Sequence[conflicts.ConflictingLabel]) -> tuple[str, ...]:
    return tuple(sorted(label.uuid for label in labels))


def opinions(connection: events.Connection, person: int, labels: Sequence[LabelEvent]) -> tuple[Opinion, ...]:
    """Return the labels of one item or question without names, in the order in which this person sees them.

    The order is a hash under the database's own secret: it depends neither on time nor on people, can't be derived from
    the uuids, differs between adjudicators, and is the same when one of them reopens the conflict.
    """
    key = secret(connection)

    def place(label: LabelEvent) -> bytes:
        return blake2b(f"{person} {label.uuid}".encode(), key=key, digest_size=8).digest()

    on_completion = bool(labels) and labels[0].task == "correctness"
    flagged = conflicts.flaggers(connection, labels[0].subject) if on_completion else set()
    return tuple(
        record_from(
            Opinion,
            label,
            letter=chr(ord("A") + number),
            value=label.value or "",
            reason=label.exclusion_reason or "",
            note=label.note or "",
            flagged=label.annotator in flagged,
            view=label.view or "",
        )
        for number, label in enumerate(sorted(labels, key=place))
    )


def reopened_ruling(stored: Sequence[LabelEvent]) -> EarlierRuling | None:
    """Return the newest decision of the current round that a later label has reopened; None without one."""
    uuids = {label.uuid for label in current_labels(stored)}
    late = [event for event in current_events(stored) if event.kind == "adjudication" and not uuids <= set(event.seen)]
    return EarlierRuling(value=late[-1].value or "", reason=late[-1].exclusion_reason or "") if late else None


def item_of(connection: events.Connection, task: Task, subject: int) -> AnnotationItem:
    text = reading.item_text(connection, conflicts.a_completion(connection, task, subject))
    return AnnotationItem.of(text, asks_type=task == "type")


# -- People with work in a role, for the app to offer, and the screen where their work begins.


Role = Literal["annotator", "adjudicator", "own"]
"""The role in which a person works: labelling, resolving conflicts, or reviewing their own answers."""


class Offer(Struct, frozen=True, kw_only=True):
    """A person with work in a role.

    Attributes:
        place: Their position among all annotators, in the order in which they were added, from 1; 0 for a coordinator.
        left: Number of items to label (role "annotator"), conflicts to resolve ("adjudicator"), or own answers ("own").
        done: Number of items labelled or conflicts resolved; 0 for "own".
    """

    name: str
    left: int
    done: int = 0
    place: int = 0


@at_one_moment
def offers(project: Project, role: Role) -> list[Offer]:
    """Return the people with work in a role, in the order in which they were added, without paused ones.

    Coordinators are included only if a batch names them.
    """
    reader = project.database.reader()
    named = assignments.members(reader)
    found, places = [], count(1)
    for person in people.all_people(project.database):
        place = 0 if person.role == people.COORDINATOR else next(places)
        if (person.role == people.COORDINATOR and person.id not in named) or person.paused_at is not None:
            continue
        offer = _offer(reader, person, role)
        if offer.left:
            found.append(structs.replace(offer, place=place))
    return found


def count_conflicts_for_newcomer(project: Project) -> int:
    return conflicts.count(project.database.reader(), 0)


def require_third(project: Project, name: str) -> None:
    """Check that a person may adjudicate conflicts of this project.

    Raises:
        UsageError: The person labelled the items of all conflicts, or other people were named to resolve them.
    """
    reader = project.database.reader()
    known = next((one for one in people.all_people(project.database) if one.name == name), None)
    if known is not None and not conflicts.count(reader, known.id) and conflicts.count(reader, 0):
        raise UsageError(
            f"{name!r} has labelled the items in conflict: they can't adjudicate them.", "Name someone who has not."
        )


def _offer(reader: people.Connection, person: people.Annotator, role: Role) -> Offer:
    if role == "annotator":
        counts = claiming.counts(reader, person.id)
        return Offer(name=person.name, left=counts.leased + counts.fresh + counts.skipped, done=counts.done)
    if role == "own":
        own = sum(events.count_own(reader, person.id, kind) for kind in ("label", "adjudication"))
        return Offer(name=person.name, left=own)
    done = events.count_settled(reader, person.id)
    return Offer(name=person.name, left=conflicts.count(reader, person.id), done=done)


def first_screen(project: Project, name: str) -> Literal["annotate", "adjudicate"]:
    """Return the screen on which a person's work begins: conflicts, if a batch leaves its conflicts to them.

    A person who also labels begins with their items, as long as there are any.

    Raises:
        UsageError: No annotator has this name.
    """
    person = people.find(project.database, name)
    reader = project.database.reader()
    if _offer(reader, person, "annotator").left:
        return "annotate"
    if assignments.is_adjudicator(reader, person.id) or conflicts.count(reader, person.id):
        return "adjudicate"
    return "annotate"


def active_people(project: Project) -> list[str]:
    named = assignments.members(project.database.reader())
    everyone = people.all_people(project.database)
    return [person.name for person in everyone if person.role != people.COORDINATOR or person.id in named]
