"""Adjudicates conflicts of one kind at once: the same two values against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from workbench.core.database import events, people
from workbench.core.errors import AnnotationError, UsageError
from workbench.core.label import LabelEvent, Task
from workbench.core.options import record_from
from workbench.core.project import Project, batches
from workbench.core.selection import Condition, Selection
from workbench.core.states import current_labels
from workbench.labelling import ledger, rulings
from workbench.labelling.annotating import card_of
from workbench.labelling.answers import Answer
from workbench.labelling.people import GuidelineReadings
from workbench.labelling.rulings import RulingSubject
from workbench.labelling.store import conflicts

AT_ONCE = 100
"""Decisions in one transaction, about 50 ms: the longest wait for others who are labelling."""

QUESTION_CHARACTERS = 200

_FIELDS = ("completion_id", "question_id", "dataset")
"""Fields by which conflicts may be selected; others would reveal models, verdicts and gold."""


class ConflictClass(Struct, frozen=True, kw_only=True):
    """A kind of conflict.

    Attributes:
        name: The conflicting values, such as ``correct/incorrect``, ``incorrect/unsuitable:proof``, ``A1/A7``.
        count: Number of conflicts of this kind that the person may resolve.
    """

    name: str
    task: Task
    values: tuple[str, ...]
    count: int


class Side(Struct, frozen=True, kw_only=True):
    """The labels for one value.

    Attributes:
        count: Number of these labels.
        unsure: Number of these labels that are marked unsure.
    """

    value: str
    count: int
    unsure: int
    notes: tuple[str, ...]


class ClassRow(Struct, frozen=True, kw_only=True):
    """A short form of one conflict of a kind.

    Attributes:
        question: The question's beginning.
        reference: The reference's final answer; empty if none was found.
        answer: The completion's final answer.
        sides: The labels for each value of the kind, in the kind's order, which doesn't reveal the annotators.
    """

    subject: int
    completion_id: str
    question_id: str
    dataset: str
    question: str
    reference: str
    answer: str
    sides: tuple[Side, ...]


class NotSettled(Struct, frozen=True, kw_only=True):
    completion_id: str
    why: str


class Settled(Struct, frozen=True, kw_only=True):
    settled: int
    left_out: tuple[NotSettled, ...] = ()


class OpenClass(Struct, frozen=True, kw_only=True):
    """The conflicts of one kind as they were when it was opened.

    Attributes:
        cases: The conflicts by the row id of their item or question, in the order of the queue.
    """

    kind: ConflictClass
    cases: dict[int, RulingSubject]


class ConflictClasses:
    """A session of a person who adjudicates many conflicts of a kind; the third-person rule applies to each of them.

    Args:
        sighted: Whether the person also has the coordinator's screens; every decision is then marked unblinded.

    Raises (on creation): UsageError: No annotator has this name.
    """

    def __init__(self, project: Project, adjudicator: str, *, sighted: bool = False) -> None:
        self._database = project.database
        self._sighted = sighted
        self.person = people.find(project.database, adjudicator)

    def classes(self) -> list[ConflictClass]:
        found = Counter[tuple[Task, tuple[str, ...]]]()
        for (task, _), labels in conflicts.conflicting_labels(self._database.reader(), self.person.id).items():
            found[task, _distinct_values(labels)] += 1
        kinds = [_conflict_class(task, values, count) for (task, values), count in found.items()]
        return sorted(kinds, key=lambda kind: (-kind.count, kind.name))

    def open(self, name: str) -> OpenClass:
        """Return the conflicts of one kind; the view of each of them is recorded.

        Raises:
            UsageError: The person has no conflict of this kind; the message lists the existing kinds.
        """
        reader = self._database.reader()
        guideline = GuidelineReadings(self._database, self.person.id).version
        cases: dict[int, RulingSubject] = {}
        values: tuple[str, ...] = ()
        names = set()
        for (task, subject), labels in conflicts.conflicting_labels(reader, self.person.id).items():
            distinct = _distinct_values(labels)
            names.add("/".join(distinct))
            if "/".join(distinct) == name:
                values = distinct
                seen = rulings.uuids(labels)
                cases[subject] = RulingSubject(task=task, subject=subject, seen=seen, guideline=guideline)
        if not cases:
            known = ", ".join(sorted(names)) or "none"
            raise UsageError(f"There is no conflict {name!r} for {self.person.name}.", f"Kinds: {known}.")
        self._record_views(list(cases.values()))
        return OpenClass(kind=_conflict_class(next(iter(cases.values())).task, values, len(cases)), cases=cases)

    def _record_views(self, cases: list[RulingSubject]) -> None:
        for some in batches(cases, AT_ONCE):
            with self._database.write("normal") as connection:
                for case in some:
                    ledger.reveal(connection, self.person.id, case.task, case.subject, rulings.LABELS)

    def rows(self, opened: OpenClass, subjects: Sequence[int]) -> list[ClassRow]:
        reader = self._database.reader()
        return [_class_row(reader, opened.cases[subject]) for subject in subjects if subject in opened.cases]

    def among(self, opened: OpenClass, conditions: Sequence[Condition]) -> list[int]:
        """Return the row ids of a kind's conflicts that match conditions on their items, in the order of the queue.

        Raises:
            UsageError: A condition is on a field that adjudicators may not see.
        """
        for condition in conditions:
            if condition.field not in _FIELDS:
                raise UsageError(f"Conflicts can't be filtered by {condition.field}.", f"Fields: {', '.join(_FIELDS)}.")
        if not conditions:
            return list(opened.cases)
        chosen = conflicts.subjects(self._database.reader(), opened.kind.task, Selection(tuple(conditions)))
        return [subject for subject in opened.cases if subject in chosen]

    def settle(self, opened: OpenClass, subjects: Collection[int], ruling: Answer) -> Settled:
        """Store one decision on many conflicts, one event each, with the same time, at most `AT_ONCE` per transaction.

        Skip conflicts whose labels have changed since the class was opened, and those that this person may not resolve.

        Raises:
            UsageError: The ruling is incomplete for its task.
        """
        rulings.check(opened.kind.task, ruling)
        ruling, at = replace(ruling, view=conflicts.BULK), people.now()
        settled, left_out = 0, []
        for some in batches([opened.cases[subject] for subject in subjects], AT_ONCE):
            reader = self._database.reader()
            items = [rulings.item_of(reader, case.task, case.subject) for case in some]
            with self._database.write("full") as connection:
                for case, item in zip(some, items, strict=True):
                    try:
                        event = rulings.decision_event(
                            connection,
                            self.person,
                            case,
                            ruling,
                            content_hash=item.content_hash,
                            at=at,
                            sighted=self._sighted,
                        )
                        ledger.record(connection, event)
                        settled += 1
                    except AnnotationError as error:
                        left_out.append(NotSettled(completion_id=item.completion_id, why=error.message))
        return Settled(settled=settled, left_out=tuple(left_out))

    def undo(self) -> int:
        """Retract this person's newest decision, for all conflicts it resolved; return their number."""
        reader = self._database.reader()
        newest = events.undoable(reader, self.person.id, "adjudication")[:1]
        together = [uuid for event in newest for uuid in conflicts.decided_together(reader, event)]
        at = people.now()
        for some in batches(together, AT_ONCE):
            with self._database.write("full") as connection:
                for uuid in some:
                    event = events.by_uuid(connection, uuid)
                    assert event is not None
                    ledger.record(connection, events.undo_event(event, events.previous_event(connection, event), at))
        return len(together)


def _conflict_class(task: Task, values: tuple[str, ...], count: int) -> ConflictClass:
    return ConflictClass(name="/".join(values), task=task, values=values, count=count)


def _distinct_values(labels: Sequence[conflicts.ConflictingLabel]) -> tuple[str, ...]:
    return tuple(sorted({_value_text(label.value, label.reason) for label in labels}))


def _value_text(value: str, reason: str) -> str:
    return f"{value}:{reason}" if value == "unsuitable" and reason else value


def _class_row(connection: events.Connection, case: RulingSubject) -> ClassRow:
    item = rulings.item_of(connection, case.task, case.subject)
    card = card_of(item)
    return record_from(
        ClassRow,
        item,
        subject=case.subject,
        question=item.question_text[:QUESTION_CHARACTERS],
        reference=card.reference.text if card.reference.found else "",
        answer=card.completion.text if card.completion.found else "",
        sides=_sides(current_labels(events.events_of(connection, case.task, case.subject))),
    )


def _sides(labels: Sequence[LabelEvent]) -> tuple[Side, ...]:
    def side(label: LabelEvent) -> str:
        return _value_text(label.value or "", label.exclusion_reason or "")

    # Within a side, notes are ordered by their text, which doesn't reveal who wrote first.
    return tuple(
        Side(
            value=value,
            count=len(those),
            unsure=sum(label.unsure for label in those),
            notes=tuple(sorted(label.note for label in those if label.note)),
        )
        for value, group in groupby(sorted(labels, key=side), side)
        if (those := list(group))
    )
