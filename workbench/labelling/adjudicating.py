"""An adjudicator's session: it shows one conflict at a time, with all labels but no names, and stores the decisions."""

from __future__ import annotations

from msgspec import Struct

from workbench.core.database import events, people
from workbench.core.errors import AnnotationError
from workbench.core.label import Task
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.states import current_adjudication, current_labels, current_round
from workbench.data.store import browsing
from workbench.labelling import ledger, rulings
from workbench.labelling.annotating import AnnotationItem
from workbench.labelling.answers import Answer as Answer
from workbench.labelling.people import GuidelineReadings
from workbench.labelling.rulings import EarlierRuling as EarlierRuling
from workbench.labelling.rulings import Opinion as Opinion
from workbench.labelling.rulings import RulingSubject
from workbench.labelling.rulings import adopt_opinion as adopt_opinion
from workbench.labelling.store import conflicts

HISTORY = 500
"""Maximum number of a person's own decisions that are listed."""


class Conflict(RulingSubject, frozen=True, kw_only=True):
    """One conflict to adjudicate.

    Attributes:
        opinions: The conflicting labels, without names.
        round: Number of the labelling round: 1, plus one for every reopening by the coordinator.
        earlier: The decision that a later label reopened.
        note: The person's draft note.
        own: The person's own decision in force; None without one.
    """

    item: AnnotationItem
    opinions: tuple[Opinion, ...]
    round: int = 1
    earlier: EarlierRuling | None = None
    note: str = ""
    own: Answer | None = None


class OwnDecision(Struct, frozen=True, kw_only=True):
    """A decision of this person that was not retracted.

    Attributes:
        question: The beginning of the question.
        stands: Whether the item still is as decided; False after a later label, a reopening or an exclusion.
    """

    task: Task
    subject: int
    ruling: Answer
    question: str
    created_at: str
    stands: bool


class AdjudicationSession:
    """A session of an adjudicator, who has no label on the item in the current round.

    Before the decision it reads only texts and labels: no verdicts, models, gold or names.

    Args:
        sighted: Whether the person also has the coordinator's screens; every decision is then marked unblinded.

    Attributes:
        guidelines: The version of the guidelines that the person has read; decisions store it.

    Raises (on creation): UsageError: No annotator has this name.
    """

    def __init__(self, project: Project, adjudicator: str, *, sighted: bool = False) -> None:
        self._database = project.database
        self._sighted = sighted
        self.person = people.find(project.database, adjudicator)
        self.guidelines = GuidelineReadings(project.database, self.person.id)
        self._skipped: set[tuple[str, int]] = set()
        self._last_skip: tuple[Task, int] | None = None

    def next(self) -> Conflict | None:
        reader = self._database.reader()
        found = conflicts.waiting(reader, self.person.id, frozenset(self._skipped))
        if found is None and self._skipped:
            self._skipped.clear()
            found = conflicts.waiting(reader, self.person.id, frozenset())
        return None if found is None else self.open(*found)

    def count_decided(self) -> int:
        return events.count_settled(self._database.reader(), self.person.id)

    def count_open(self) -> int:
        return conflicts.count(self._database.reader(), self.person.id)

    def open(self, task: Task, subject: int) -> Conflict:
        with self._database.write("normal") as connection:
            ledger.reveal(connection, self.person.id, task, subject, rulings.LABELS)
        reader = self._database.reader()
        stored = events.events_of(reader, task, subject)
        labels = current_labels(stored)
        current = current_adjudication(stored)
        own = current is not None and current.annotator == self.person.id
        item = rulings.item_of(reader, task, subject)
        return Conflict(
            task=task,
            subject=subject,
            seen=rulings.uuids(labels),
            guideline=self.guidelines.version,
            item=item,
            opinions=rulings.opinions(reader, self.person.id, labels),
            decided=current.uuid if own and current is not None else "",
            round=current_round(stored),
            earlier=rulings.reopened_ruling(stored),
            note=people.draft_of(reader, self.person.id, item.completion) if task == "correctness" else "",
            own=rulings.ruling_of(current) if own and current is not None else None,
        )

    def history(self, limit: int = HISTORY) -> list[OwnDecision]:
        return [
            record_from(OwnDecision, event, ruling=rulings.ruling_of(event), question=question, stands=stands)
            for event, question, stands in conflicts.decisions_of(self._database.reader(), self.person.id, limit)
        ]

    def step(self, at: Conflict | None, *, older: bool) -> Conflict | None:
        """Return the person's next older or newer decision after ``at``, opened again; None if there is none.

        If ``at`` is undecided, the newest decision is the next older one.
        """
        trail = [(row.task, row.subject) for row in self.history() if row.stands]
        place = trail.index((at.task, at.subject)) if at is not None and (at.task, at.subject) in trail else -1
        place += 1 if older else -1
        return self.open(*trail[place]) if 0 <= place < len(trail) else None

    def may_open(self, task: Task, subject: int) -> bool:
        current = current_adjudication(events.events_of(self._database.reader(), task, subject))
        return self.may_settle(task, subject) or (current is not None and current.annotator == self.person.id)

    def may_settle(self, task: Task, subject: int) -> bool:
        return conflicts.is_open_to(self._database.reader(), self.person.id, task, subject)

    def decide(self, conflict: Conflict, ruling: Answer) -> str:
        """Store the decision; return its uuid after the commit.

        Raises:
            UsageError: The ruling is incomplete for its task.
            AnnotationError: A label or the person's own decision has changed since, or they may not resolve the
                conflict.
        """
        rulings.check(conflict.task, ruling)
        at, self._last_skip = people.now(), None
        with self._database.write("full") as connection:
            event = rulings.decision_event(
                connection,
                self.person,
                conflict,
                ruling,
                content_hash=conflict.item.content_hash,
                at=at,
                sighted=self._sighted,
            )
            ledger.record(connection, event)
            if conflict.task == "correctness":
                people.drop_draft(connection, self.person.id, conflict.item.completion)
        return event.uuid

    def keep_note(self, conflict: Conflict, note: str) -> None:
        """Store a draft note on a completion.

        Raises:
            StoreError: It can't be stored now.
        """
        if conflict.task == "correctness":
            with self._database.write("full") as connection:
                people.keep_draft(connection, self.person.id, conflict.item.completion, note)

    def skip(self, conflict: Conflict) -> None:
        self._skipped.add((conflict.task, conflict.subject))
        self._last_skip = (conflict.task, conflict.subject)

    def undo(self) -> Conflict | None:
        """Retract this person's newest decision and open its conflict again; return None if there is no decision.

        The decision that it replaced is in force again. After a skip, the skipped conflict is returned instead.

        Raises:
            AnnotationError: The decision resolved many conflicts at once; it can only be retracted for all of them.
        """
        if self._last_skip is not None:
            (task, subject), self._last_skip = self._last_skip, None
            self._skipped.discard((task, subject))
            return self.open(task, subject)
        with self._database.write("full") as connection:
            newest = events.undoable(connection, self.person.id, "adjudication")[:1]
            for event in newest:
                together = len(conflicts.decided_together(connection, event))
                if together > 1:
                    raise AnnotationError(
                        f"Your last decision resolved {together} conflicts at once.",
                        "The screen Conflicts by kind (d, then z) undoes all of them.",
                    )
                earlier = events.previous_event(connection, event)
                ledger.record(connection, events.undo_event(event, earlier, people.now()))
                if earlier is None and event.task == "correctness" and event.note:
                    people.keep_draft(connection, self.person.id, event.subject, event.note)
        return self.open(newest[0].task, newest[0].subject) if newest else None

    def verdicts_after(self, conflict: Conflict) -> list[tuple[str, str]]:
        """Return the verifiers' verdicts as (name, verdict), only after this person's decision is stored.

        The view is recorded: this person's later decisions on the item are marked unblinded.

        Raises:
            AnnotationError: The person has not decided yet.
        """
        reader = self._database.reader()
        if events.current_of(reader, conflict.task, conflict.subject, self.person.id, "adjudication") is None:
            raise AnnotationError("Verdicts are shown after the decision.")
        verdicts = [(row.verifier, row.verdict) for row in browsing.verdicts_of(reader, conflict.item.completion)]
        if verdicts:
            with self._database.write("full") as connection:
                ledger.reveal(connection, self.person.id, conflict.task, conflict.subject, "verdicts")
        return verdicts
