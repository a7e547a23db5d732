"""The third person: conflicts one at a time, both labels without names, a decision, undo."""

from __future__ import annotations

from hashlib import blake2b

from msgspec import Struct

from workbench.annotation import guidelines
from workbench.annotation.states import current_labels
from workbench.errors import AnnotationError, UsageError
from workbench.model.label import LabelEvent, LabelVerdict, Task
from workbench.services.labelling import ledger
from workbench.services.labelling.annotating import AnnotationItem, check_reason
from workbench.services.project import Project
from workbench.store import browsing, conflicts, events, people, reading

_LABELS = "labels"
"""The look at both labels that adjudicating itself is."""


class Opinion(Struct, frozen=True, kw_only=True):
    """One of the labels in conflict, without its maker's name.

    Attributes:
        letter: ``A``, ``B`` … in an order that says nothing of who it was.
        value: The verdict, or the subtype code.
        focused_ms: How long the person looked, in milliseconds, if known.
    """

    letter: str
    value: str
    reason: str
    note: str
    unsure: bool
    focused_ms: int | None


class Conflict(Struct, frozen=True, kw_only=True):
    """One conflict to settle.

    Attributes:
        seen: The labels' uuids; a decision holds as long as no other label comes.
    """

    task: Task
    subject: int
    item: AnnotationItem
    opinions: tuple[Opinion, ...]
    seen: tuple[str, ...]


class Ruling(Struct, frozen=True, kw_only=True):
    """A decision: a verdict on the correctness task, a subtype on the type task."""

    verdict: LabelVerdict | None = None
    reason: str | None = None
    subtype: str | None = None
    note: str = ""
    open_ms: int | None = None
    focused_ms: int | None = None
    view: str | None = None


class AdjudicationSession:
    """A person who settles conflicts; never one of the item's own annotators.

    Args:
        sighted: The person also has the coordinator's screens: every decision is marked unblinded.

    Raises (on creation):
        UsageError: There is no such annotator.
    """

    def __init__(self, project: Project, adjudicator: str, *, sighted: bool = False) -> None:
        self._database = project.database
        self._sighted = sighted
        self.person = people.find(project.database, adjudicator)
        self._skipped: set[tuple[str, int]] = set()

    def next(self) -> Conflict | None:
        """The next conflict this person may settle; skipped ones come again at the end."""
        reader = self._database.reader()
        found = conflicts.waiting(reader, self.person.id, frozenset(self._skipped))
        if found is None and self._skipped:
            self._skipped.clear()
            found = conflicts.waiting(reader, self.person.id, frozenset())
        return None if found is None else self.open(*found)

    def left(self) -> int:
        """How many conflicts this person may settle."""
        return conflicts.count(self._database.reader(), self.person.id)

    def open(self, task: Task, subject: int) -> Conflict:
        """Read one conflict; the person sees both labels, so a label of theirs would not be blind any more."""
        with self._database.write("normal") as connection:
            ledger.reveal(connection, self.person.id, task, subject, _LABELS)
        reader = self._database.reader()
        labels = current_labels(events.of_subject(reader, task, subject))
        # An order that is stable for the item and independent of who came first.
        labels.sort(key=lambda label: blake2b(label.uuid.encode(), digest_size=8).digest())
        text = reading.item_text(reader, conflicts.a_completion(reader, task, subject))
        item = AnnotationItem(
            completion=text.completion,
            question=text.question,
            dataset=text.dataset,
            completion_id=text.completion_key,
            question_id=text.question_key,
            question_text=text.question_text,
            reference=text.reference,
            completion_text=text.completion_text,
            content_hash=text.content_hash,
            asks_type=task == "type",
            types_labelled=text.types_labelled,
        )
        return Conflict(
            task=task,
            subject=subject,
            item=item,
            opinions=tuple(_opinion(position, label) for position, label in enumerate(labels)),
            seen=tuple(sorted(label.uuid for label in labels)),
        )

    def decide(self, conflict: Conflict, ruling: Ruling) -> str:
        """Store the decision; returns its uuid after the commit.

        Raises:
            UsageError: The ruling lacks what its task needs.
            AnnotationError: A label has changed since the conflict was read, or the person labelled the item.
        """
        _check(conflict.task, ruling)
        with self._database.write("full") as connection:
            labels = current_labels(events.of_subject(connection, conflict.task, conflict.subject))
            if tuple(sorted(label.uuid for label in labels)) != conflict.seen:
                raise AnnotationError("A label of this item has changed meanwhile.", "Read it again, then decide.")
            earlier = events.current_of(connection, conflict.task, conflict.subject, self.person.id, "adjudication")
            if earlier is None and not conflicts.is_open_to(
                connection, self.person.id, conflict.task, conflict.subject
            ):
                raise AnnotationError("Somebody else has settled it, or is to settle it.", "Go on with the next one.")
            event = LabelEvent(
                uuid=events.new_uuid(),
                kind="adjudication",
                task=conflict.task,
                subject=conflict.subject,
                annotator=self.person.id,
                created_at=people.now(),
                round=events.round_of(connection, conflict.task, conflict.subject),
                verdict=ruling.verdict,
                exclusion_reason=ruling.reason,
                subtype=ruling.subtype,
                note=ruling.note or None,
                supersedes=earlier.uuid if earlier else None,
                seen=conflict.seen,
                unblinded=self._sighted
                or events.was_revealed(connection, self.person.id, conflict.task, conflict.subject, ignoring=_LABELS),
                guideline=guidelines.VERSION,
                content_hash=conflict.item.content_hash,
                open_ms=ruling.open_ms,
                focused_ms=ruling.focused_ms,
                view=ruling.view,
            )
            ledger.record(connection, event)
        return event.uuid

    def skip(self, conflict: Conflict) -> None:
        """Leave a conflict for later."""
        self._skipped.add((conflict.task, conflict.subject))

    def undo(self) -> Conflict | None:
        """Take back this person's newest decision and open its conflict again; None without one."""
        with self._database.write("full") as connection:
            newest = events.undoable(connection, self.person.id, "adjudication")[:1]
            for event in newest:
                ledger.record(connection, events.undoing(event, None, people.now()))
        return self.open(newest[0].task, newest[0].subject) if newest else None

    def verdicts_after(self, conflict: Conflict) -> list[tuple[str, str]]:
        """What the verifiers said, as (name, verdict): only once this person's decision is stored.

        The look is recorded: a later decision of theirs on the item is marked unblinded.

        Raises:
            AnnotationError: There is no decision of theirs yet.
        """
        reader = self._database.reader()
        if events.current_of(reader, conflict.task, conflict.subject, self.person.id, "adjudication") is None:
            raise AnnotationError("Verdicts are shown after the decision.")
        said = [(row.verifier, row.verdict) for row in browsing.verdicts_of(reader, conflict.item.completion)]
        if said:
            with self._database.write("full") as connection:
                ledger.reveal(connection, self.person.id, conflict.task, conflict.subject, "verdicts")
        return said


def _opinion(position: int, label: LabelEvent) -> Opinion:
    return Opinion(
        letter=chr(ord("A") + position),
        value=label.value or "",
        reason=label.exclusion_reason or "",
        note=label.note or "",
        unsure=label.unsure,
        focused_ms=label.focused_ms,
    )


def _check(task: Task, ruling: Ruling) -> None:
    if task == "type" and not ruling.subtype:
        raise UsageError("A decision on the type names a subtype.")
    if task == "correctness" and ruling.verdict is None:
        raise UsageError("A decision on correctness is correct, incorrect or unsuitable.")
    if ruling.verdict == "unsuitable":
        check_reason(ruling.reason, ruling.note)
