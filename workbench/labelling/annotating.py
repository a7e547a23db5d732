"""An annotator's session: claim, submit, undo, skip, flag, note; blind to everything but the texts."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from workbench.config import settings_of
from workbench.config.settings import AnnotationPolicy
from workbench.core.database import events, people
from workbench.core.errors import AnnotationError, AnsweredElsewhereError, StoreError
from workbench.core.final_answer import HOW as HOW
from workbench.core.final_answer import FinalAnswer as FinalAnswer
from workbench.core.final_answer import How as How
from workbench.core.final_answer.card import QUESTION_TAIL as QUESTION_TAIL
from workbench.core.final_answer.card import SHOWN as SHOWN
from workbench.core.final_answer.card import Absence as Absence
from workbench.core.final_answer.card import Card as Card
from workbench.core.final_answer.card import Quirk as Quirk
from workbench.core.final_answer.card import Shortcoming as Shortcoming
from workbench.core.final_answer.card import card
from workbench.core.final_answer.extraction import Stretch as Stretch
from workbench.core.label import EventKind, LabelEvent, LabelVerdict, Task
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.data.store import reading
from workbench.data.store.reading import OwnEntry as OwnEntry
from workbench.labelling import checks, guidelines, ledger, serving
from workbench.labelling.answers import OWN_FIELDS, check_answer, event_fields, is_same_answer
from workbench.labelling.answers import Answer as Answer
from workbench.labelling.people import GuidelineReadings
from workbench.labelling.serving import Progress as Progress
from workbench.labelling.store import assignments, blind, claiming, flags
from workbench.labelling.store.assignments import Purpose
from workbench.labelling.store.flags import OwnAnswer as OwnAnswer

# -- What an annotator sees of an item.


class AnnotationItem(Struct, frozen=True, kw_only=True):
    """An item as the Annotate screen shows it: three texts and the annotator's own earlier answers.

    Attributes:
        verdict: The person's own current verdict, if the item is reopened.
        reason: The person's reason for "unsuitable".
        subtype: The person's current answer type of the question.
        note: The note of the person's label, or a draft note.
        tags: Codes of the person's tags on the verdict.
        partial: The person's partial score, 0 to 1.
        asks_type: Whether the person holds a type slot on the question.
        types_labelled: Whether annotators must resolve the type.
        guideline: The newest version of the guidelines that the person had read when the item was opened; may be empty.
        asked: The text of the person's open flag.
        answer: The coordinator's newest answer to the person's last flag on the item; None without one.
    """

    completion: int
    question: int
    dataset: str
    completion_id: str
    question_id: str
    question_text: str
    reference: str
    completion_text: str
    content_hash: bytes
    asks_type: bool
    types_labelled: bool
    verdict: LabelVerdict | None = None
    reason: str | None = None
    subtype: str | None = None
    unsure: bool = False
    note: str = ""
    flagged: bool = False
    tags: tuple[str, ...] = ()
    partial: float | None = None
    guideline: str = ""
    asked: str = ""
    answer: OwnAnswer | None = None

    @classmethod
    def of(cls, text: reading.ItemText, *, asks_type: bool) -> AnnotationItem:
        return record_from(
            cls, text, completion_id=text.completion_key, question_id=text.question_key, asks_type=asks_type
        )

    @property
    def wants_type(self) -> bool:
        return self.types_labelled and self.asks_type and self.subtype is None


# -- The slot of a person's answer to an item.


KIND: dict[Purpose, EventKind] = {"quota": "label", "check": "check", "repeat": "repeat"}
PURPOSE: dict[EventKind, Purpose] = {kind: purpose for purpose, kind in KIND.items()}
TASKS: tuple[Task, ...] = ("correctness", "type")


class LabelSlot(NamedTuple):
    """The slot of an answer: its purpose, and the person's previous answer."""

    purpose: Purpose
    mine: LabelEvent | None
    round: int
    revealed: bool


def current_slot(connection: events.Connection, person: int, task: Task, item: AnnotationItem) -> LabelSlot:
    subject = subject_of(task, item)
    purpose = assignments.purpose_of(connection, task, subject, person, answered=answered(task, item))
    return LabelSlot(
        purpose=purpose,
        mine=events.current_of(connection, task, subject, person, KIND[purpose]),
        round=events.round_of(connection, task, subject),
        revealed=events.was_revealed(connection, person, task, subject),
    )


def subject_of(task: Task, item: AnnotationItem) -> int:
    return item.completion if task == "correctness" else item.question


def answered(task: Task, item: AnnotationItem) -> bool:
    return (item.verdict if task == "correctness" else item.subtype) is not None


GUIDELINES = guidelines.TEXT
"""The annotators' instructions, as Markdown."""
PAUSED = "The coordinator would like to speak with you before you continue."
"""The message to a paused annotator, for every reason."""


class AnnotationSession:
    """The session of an annotator in a project.

    It reads through a connection on which SQLite itself denies access to others' labels, verdicts, models and gold.
    Every method may be called from any thread; each is one short transaction.

    Args:
        sighted: Whether the person also uses the coordinator's screens, which show gold and verdicts: all their labels
            are then marked unblinded, not only those on items they viewed.
        policy: Shares of checks and repeats; None for the current settings in workbench.toml.

    Attributes:
        guidelines: The version of the guidelines that the person has read; labels store it.

    Raises (on creation): UsageError: No annotator has this name.
    """

    def __init__(
        self, project: Project, annotator: str, *, sighted: bool = False, policy: AnnotationPolicy | None = None
    ) -> None:
        self._database = project.database
        self._sighted = sighted
        self._policy = policy or settings_of(project).annotation
        self.person = people.find(project.database, annotator)
        self._blind = blind.open_blind(project.database, self.person.id)
        self.guidelines = GuidelineReadings(project.database, self.person.id)
        self._lock = threading.Lock()
        self._seen: set[str] = set()
        self._submitted: int | None = None
        self._skipped: int | None = None

    def close(self) -> None:
        with self._lock:
            self._blind.close()

    def next(self, beside: tuple[int, ...] = ()) -> AnnotationItem | None:
        """Return the item to label now: a leased one, else a new claim; None if nothing is left, or while `paused`.

        Args:
            beside: Completions that are open already, which are not returned; used to prepare the next item.
        """
        at = time.time()
        with self._database.write("normal") as connection:
            assignments.renew(connection, self.person.id, at)
            held = [item for item in claiming.leased(connection, self.person.id, at) if item not in beside]
            completion = held[0] if held else serving.serve(connection, self.person.id, self._policy, at)
        return None if completion is None else self.open(completion)

    def open(self, completion: int) -> AnnotationItem:
        """Read an item on which the annotator has a slot, such as one already labelled.

        Raises:
            AnnotationError: The annotator never had a slot on the item.
        """
        with self._lock:
            if not reading.is_own(self._blind, completion):
                raise AnnotationError("This item is not assigned to you.")
            text = reading.item_text(self._blind, completion)
            verdict = reading.own_label(self._blind, "correctness", completion)
            subtype = reading.own_label(self._blind, "type", text.question)
            asks_type = reading.has_type_slot(self._blind, text.question) or subtype is not None
            asked, answers = reading.own_flag(self._blind, completion), flags.own_answers(self._blind, completion)
            keys = ("verdict", "reason", "unsure", "note", "tags", "partial")
            draft = reading.own_draft(self._blind, completion)
            own = {name: getattr(verdict, name) for name in keys} if verdict else {"note": draft}
            item = replace(
                AnnotationItem.of(text, asks_type=asks_type),
                **own,
                subtype=subtype.subtype if subtype else None,
                flagged=asked is not None,
                guideline=self.guidelines.version,
                asked=asked or "",
                answer=next((one for one in reversed(answers) if one.stands), None),
            )
            self._remember_own_labels(item)
            return item

    def _remember_own_labels(self, item: AnnotationItem) -> None:
        with self._database.explained():
            found = [current_slot(self._database.reader(), self.person.id, task, item).mine for task in TASKS]
        self._seen |= {mine.uuid for mine in found if mine is not None}

    def submit(self, item: AnnotationItem, answer: Answer) -> list[str]:
        """Store a verdict, a type, or both; return the uuids of the events after they are committed.

        An answer equal to the person's current one is not stored again. An earlier answer is superseded.

        Raises:
            AnnotationError: Another person has filled the quota since, the person adjudicated the item or is paused, or
                the label belongs to a round that has ended.
            AnsweredElsewhereError: The person has answered in another window since they opened the item here.
            UsageError: The answer is incomplete: no reason, or no note with the reason "other".
        """
        check_answer(answer)
        self._submitted, self._skipped = item.completion, None
        stored = self._store(item, answer, people.now())
        with self._lock, suppress(StoreError):
            self._remember_own_labels(item)
        return stored

    def _store(self, item: AnnotationItem, answer: Answer, at: str) -> list[str]:
        stored = []
        with self._database.write("full") as connection:
            self._require_not_paused(connection)
            if answer.verdict is not None:
                stored += self._store_task_answer(connection, "correctness", item, answer, at)
                people.drop_draft(connection, self.person.id, item.completion)
                if answer.verdict == "unsuitable" and answer.subtype is None:
                    assignments.give_back(connection, item.completion, self.person.id)
            if answer.subtype is not None:
                stored += self._store_task_answer(connection, "type", item, answer, at)
        return stored

    def _store_task_answer(
        self, connection: events.Connection, task: Task, item: AnnotationItem, answer: Answer, at: str
    ) -> list[str]:
        stood = current_slot(connection, self.person.id, task, item)
        if stood.mine is not None and is_same_answer(stood.mine, answer):
            return []
        if stood.mine is not None and stood.mine.uuid not in self._seen:
            raise AnsweredElsewhereError(
                f"You have answered this in another window: {stood.mine.value}.",
                "Nothing was stored. Answer again to replace it.",
            )
        edits_past = answered(task, item) and stood.mine is None
        self._take_slot(connection, task, subject_of(task, item), stood.purpose, edits_past=edits_past)
        given = event_fields(answer)
        event = events.new_event(
            KIND[stood.purpose],
            task,
            subject_of(task, item),
            self.person.id,
            created_at=at,
            round=stood.round,
            supersedes=stood.mine.uuid if stood.mine else None,
            unblinded=self._sighted or stood.revealed,
            guideline=answer.guideline or self.guidelines.version or None,
            content_hash=item.content_hash,
            **{name: given[name] for name in (*OWN_FIELDS[task], "open_ms", "focused_ms", "wait_ms", "keys", "view")},
        )
        ledger.record(connection, event)
        self._seen.add(event.uuid)
        if stood.purpose == "check" and task == "correctness":
            checks.review(connection, self.person.id, self._policy)
        return [event.uuid]

    def _take_slot(
        self, connection: events.Connection, task: Task, subject: int, purpose: Purpose, *, edits_past: bool
    ) -> None:
        again = edits_past and events.round_of(connection, task, subject) > 1
        if again and not assignments.holds(connection, task, subject, self.person.id):
            raise AnnotationError(
                "This item was reopened after you answered it; your earlier answer is unchanged.",
                "Nothing was stored. If it is assigned to you in the new round, it will be in your queue.",
            )
        if assignments.take_own(connection, task, subject, self.person.id, purpose):
            return
        # Labels from a file may exist without slots: there is no quota then.
        if purpose == "quota" and not assignments.is_assigned(connection, task, subject):
            return
        # The lease had expired; the lease of another person may have expired, too.
        assignments.free_expired(connection, time.time())
        if task == "correctness" and not claiming.may_have(connection, self.person.id, subject):
            raise AnnotationError("You have reached your maximum number of items in this batch.", "Nothing was stored.")
        if not assignments.take(connection, task, subject, self.person.id, purpose):
            what = "labelled this item" if task == "correctness" else "typed this question"
            raise AnnotationError(f"Enough other annotators have {what} in the meantime.", "Nothing was stored.")

    def _require_not_paused(self, connection: events.Connection) -> None:
        if people.is_paused(connection, self.person.id):
            raise AnnotationError(PAUSED, "Nothing was stored.")

    def undo(self) -> AnnotationItem | None:
        """Retract the annotator's newest label, even after a restart, and return its item; None without one.

        After a skip, it returns the skipped item, and no label changes. An edited label returns to its earlier answer;
        a first label is retracted, and its note becomes a draft again. Labels of both tasks that were submitted
        together are retracted together. Labels of a round that has ended are kept.

        Raises:
            AnnotationError: The person is paused.
        """
        at, self._submitted = people.now(), None
        if self._skipped is not None:
            return self._undo_skip(self._skipped)
        with self._database.write("full") as connection:
            self._require_not_paused(connection)
            newest = events.undoable(connection, self.person.id)
            for event in newest:
                earlier = events.previous_event(connection, event)
                ledger.record(connection, events.undo_event(event, earlier, at))
                # Of two labels from different places, the other one is now in force.
                current = events.current_of(connection, event.task, event.subject, self.person.id, event.kind)
                if current is None:
                    purpose = PURPOSE[event.kind]
                    assignments.lease_again(connection, event.task, event.subject, self.person.id, time.time(), purpose)
                    if event.task == "correctness" and event.note:
                        people.keep_draft(connection, self.person.id, event.subject, event.note)
        if not newest:
            return None
        subjects = {event.task: event.subject for event in newest}
        with self._lock:
            completion = subjects.get("correctness") or reading.own_completion(self._blind, subjects["type"])
        return None if completion is None else self.open(completion)

    def _undo_skip(self, completion: int) -> AnnotationItem:
        self._skipped, at = None, time.time()
        with self._database.write("full") as connection:
            self._require_not_paused(connection)
            assignments.free_expired(connection, at)
            slot = claiming.slot_on(connection, self.person.id, completion)
            if slot is not None:
                found = claiming.ClaimableSlot(slot, completion)
                serving.lease(connection, self.person.id, found, self._policy, at)
                assignments.unskip(connection, completion, self.person.id)
        return self.open(completion)

    def skip(self, item: AnnotationItem) -> None:
        with self._database.write("full") as connection:
            assignments.skip(connection, item.completion, self.person.id, time.time())
        # A deferred type belongs to the label just given, so an undo retracts that label.
        self._skipped = None if item.completion == self._submitted else item.completion

    def release(self, *completions: int) -> None:
        with self._database.write("full") as connection:
            for completion in completions:
                assignments.give_back(connection, completion, self.person.id)

    def flag(self, item: AnnotationItem, on: bool, asked: str = "") -> None:
        """Flag an item for the coordinator, or remove the flag.

        Args:
            asked: The question to the coordinator.
        """
        with self._database.write("full") as connection:
            ledger.record(connection, self._event("flag", item.completion, flagged=on, note=asked.strip() or None))

    def answers(self) -> list[OwnAnswer]:
        with self._lock:
            return flags.own_answers(self._blind)

    def mark_answer_read(self, answer: OwnAnswer) -> None:
        if answer.heard:
            return
        with self._database.write("full") as connection:
            ledger.record(connection, self._event("reveal", answer.completion, view=flags.HEARD, seen=(answer.uuid,)))

    def _event(self, kind: EventKind, completion: int, **said: Any) -> LabelEvent:
        return events.new_event(kind, "correctness", completion, self.person.id, **said)

    def keep_draft(self, item: AnnotationItem, note: str) -> None:
        """Store a draft note.

        Raises:
            StoreError: It can't be stored now.
        """
        with self._database.write("full") as connection:
            people.keep_draft(connection, self.person.id, item.completion, note)

    def heartbeat(self) -> None:
        with self._database.write("normal") as connection:
            assignments.renew(connection, self.person.id, time.time())

    def history(self, limit: int = 200) -> list[OwnEntry]:
        with self._lock:
            return reading.own_history(self._blind, limit)

    def progress(self) -> Progress:
        with self._database.reading() as reader:
            return serving.progress(reader, self.person.id, self._policy, time.time())

    def paused(self) -> str:
        """Return the message for a paused annotator; empty if they are not paused."""
        return PAUSED if people.is_paused(self._database.reader(), self.person.id) else ""


# -- The final-answer card of an item, for annotators and adjudicators.


QUIRKS: dict[Quirk, str] = {
    "think_unopened": "</think> without <think>",
    "several_boxed": "several \\boxed",
    "repeated_line": "a line is repeated",
    "no_closing_punctuation": "no closing punctuation",
}
"""Descriptions of unusual properties of completions, by code."""
SHORTCOMINGS: dict[Shortcoming, tuple[str, Literal["reference", "completion"]]] = {
    "no_reference_answer": ("the answer has to be looked for in the reference", "reference"),
    "reference_unseen": ("the reference's answer is a guess from lines that are not shown", "reference"),
    "reference_crowded": ("the reference's answer is cut here", "reference"),
    "no_reply": ("the completion is only thoughts", "completion"),
    "ending_unseen": ("the completion names no answer, and its last lines are not all shown", "completion"),
    "early_answer": ("the answer is long before the completion's end", "completion"),
    "completion_crowded": ("the completion's answer is cut here", "completion"),
    "fewer_boxes": ("the reference has more boxes than the completion", "completion"),
}
"""Why the card is insufficient, and which text to open."""
ABSENCES: dict[Absence, str] = {
    "empty": "the completion is empty",
    "no_reply": "nothing behind its thoughts",
    "breaks_off": "it breaks off",
    "goes_round": "it goes round in circles",
    "unstated": "it states none",
}
"""The card's text for a completion without a final answer."""


def card_of(item: AnnotationItem) -> Card:
    return card(item.question_text, item.reference, item.completion_text, item.subtype)
