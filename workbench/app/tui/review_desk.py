"""A reviewer's work: the current queue, the decisions, and the next item."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from msgspec import convert
from textual.worker import Worker, WorkerState

from workbench.app.tui.item_decisions import Coordinating, Result
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.choices import Choice, ChoiceMenu, choose
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.item_panes import DECIDED, against_gold
from workbench.app.tui.kit.matrix import printable
from workbench.app.tui.kit.prompt_bar import NoteInput
from workbench.app.tui.kit.queue_view import decision_words
from workbench.app.tui.live import InSight
from workbench.core.project import Project
from workbench.data.records.browse import ItemDetail, ItemVerdict
from workbench.measuring.records.review import ERROR_CATEGORIES, ErrorCategory, Queue, Review
from workbench.measuring.reviewing import deciding
from workbench.measuring.reviewing.queues import ReviewQueue


class ReviewDecision(NamedTuple):
    completion: int
    reviews: tuple[Review, ...]

    @property
    def words(self) -> str:
        return decision_words(self.reviews)


class ReviewDesk:
    """Stores one reviewer's decisions; the methods that store may run in a worker thread.

    Args:
        by: The reviewer's name.

    Attributes:
        queue: The queue being reviewed; None if the items don't come from a queue.
        order: Row ids of the queue's items, in the order they are listed.
        reviewed: Row ids of the queue's items with a decision in force.
    """

    def __init__(self, project: Project, by: str) -> None:
        self._project, self._by = project, by
        self._decisions: list[ReviewDecision] = []
        self.queue: ReviewQueue | None = None
        self.order: Sequence[int] = array("q")
        self.reviewed: set[int] = set()

    def take(self, queue: ReviewQueue, order: Sequence[int], reviewed: set[int]) -> None:
        self.queue, self.order, self.reviewed = queue, order, reviewed

    # -- deciding ----------------------------------------------------------------------------------

    def confirm(self, completion: int, note: str) -> ReviewDecision:
        return self._add_decision(
            deciding.confirm(self._project, completion, by=self._by, queue=self._queue_name, note=note)
        )

    def send_back(self, completion: int, reason: str) -> ReviewDecision:
        return self._add_decision(
            deciding.send_back(self._project, completion, reason=reason, by=self._by, queue=self._queue_name)
        )

    def mark_errors(self, completion: int, runs: Sequence[int], category: ErrorCategory, note: str) -> ReviewDecision:
        """Record that the verdicts of these runs on an item are wrong, all with the same error category."""
        mark, by, queue = deciding.mark_error, self._by, self._queue_name
        return self._add_decision(
            *(mark(self._project, completion, run, category, by=by, queue=queue, note=note) for run in runs)
        )

    def take_back(self, completion: int) -> ReviewDecision | None:
        """Retract the newest decision on an item or, if this person has made none on it, their last one.

        Returns:
            The retracted decision; None if there was none.
        """
        decision = self._newest_decision(completion)
        if decision is None:
            return None
        for review in reversed(decision.reviews):
            deciding.take_back(self._project, review.uuid, by=self._by)
        if not deciding.reviews_of(self._project, decision.completion):
            self.reviewed.discard(decision.completion)
        return decision

    @property
    def _queue_name(self) -> Queue | None:
        return None if self.queue is None else self.queue.name

    def _add_decision(self, *reviews: Review) -> ReviewDecision:
        decision = ReviewDecision(reviews[0].completion, reviews)
        self._decisions.append(decision)
        self.reviewed.add(decision.completion)
        return decision

    def _newest_decision(self, completion: int) -> ReviewDecision | None:
        own = [review for review in deciding.reviews_of(self._project, completion) if review.reviewer == self._by]
        if own:
            together = (decision for decision in self._decisions if own[-1] in decision.reviews)
            return next(together, ReviewDecision(completion, (own[-1],)))
        while self._decisions:
            last = self._decisions.pop()
            if set(last.reviews) <= set(deciding.reviews_of(self._project, last.completion)):
                return last
        return None

    # -- going on ----------------------------------------------------------------------------------

    def next_open(self, after: int) -> int | None:
        """Return the index of the next unreviewed item after ``after``, else from the beginning; None if there is none.

        Args:
            after: An index in the order; -1 to search from the beginning.
        """
        places = chain(range(after + 1, len(self.order)), range(min(after + 1, len(self.order))))
        return next((place for place in places if self.order[place] not in self.reviewed), None)


def retraction_text(decision: ReviewDecision | None) -> str:
    if decision is None:
        return "You have no decision to retract."
    goes_on = any(review.kind == "reannotate" for review in decision.reviews)
    return f"Retracted: {decision.words}" + (". It will still be labelled again." if goes_on else "")


# -- What a reviewer decides of the item on the screen: gold is right, label it anew, or a verifier errs.


_STORE = "reviewing"
_ALL = "all"


def reviewing_actions(screen: str) -> tuple[Action, ...]:
    return (
        Action(f"{screen}.confirm", "y", "confirm", "Gold ok", "Confirm that gold is right."),
        Action(f"{screen}.send-back", "l", "send_back", "Relabel", "Have the item labelled again; asks why."),
        Action(f"{screen}.error", "m", "mark_error", "Error", "Mark a verifier's error; asks for the kind."),
        Action(f"{screen}.undo", "z", "take_back", "Undo", "Retract the decision on this item, or your last one."),
        Action(f"{screen}.note", "c", "note", "Note", "Write a note for the next decision.", False),
    )


class Reviewing(InSight, Coordinating):
    """A screen that shows the coordinator one item at a time and stores decisions on it.

    A decision applies to the item that was visible when its key was pressed. While it is being stored, decision keys do
    nothing; it is shown once it is stored.

    Attributes:
        review_note: The note to store with the next decision; "" for none.
        review_said: The message about the last stored or retracted decision.
    """

    review_note = review_said = ""
    _storing = False

    @property
    @abstractmethod
    def desk(self) -> ReviewDesk:
        """Return the object that stores decisions."""

    @property
    @abstractmethod
    def item_shown(self) -> ItemDetail | None:
        """Return the item on the screen; None if there is none."""

    @property
    @abstractmethod
    def chosen(self) -> ItemVerdict | None:
        """Return the verdict chosen on the screen; None if none is chosen."""

    def erring(self, item: ItemDetail) -> list[ItemVerdict]:
        """Return the verdicts that contradict gold, decided ones before abstentions and errors."""
        return against_gold(item)

    @abstractmethod
    def after_review(self, decision: ReviewDecision) -> None:
        """Continue after a decision was stored."""

    @abstractmethod
    def after_retraction(self, decision: ReviewDecision) -> None:
        """Show the item's new state after a decision on it was retracted."""

    @abstractmethod
    def show_review(self) -> None:
        """Show the decisions in force, the pending note, and the last message."""

    def item_changed(self) -> None:
        self.review_note = ""
        self.mark_shown()

    @property
    def visible_item(self) -> ItemDetail | None:
        """Return the shown item if it was visible when the last key was pressed; else None."""
        return self.item_shown if self.is_item_visible else None

    @property
    def _decidable_item(self) -> ItemDetail | None:
        return None if self._storing else self.visible_item

    # -- deciding ----------------------------------------------------------------------------------

    def action_confirm(self) -> None:
        if (item := self._decidable_item) is not None and self.is_decision():
            self._store(partial(self.desk.confirm, item.id, self.review_note))

    def action_send_back(self) -> None:
        if (item := self._decidable_item) is not None:
            choose(self, NoteInput(self.review_note, "Why label it again?"), partial(self._send_back, item.id))

    def _send_back(self, completion: int, reason: str) -> None:
        if reason:
            self.review_note = reason  # there again, should it not be stored
            self._store(partial(self.desk.send_back, completion, reason))

    def action_mark_error(self) -> None:
        if (item := self._decidable_item) is None:
            return
        chosen, erred = self.chosen, self.erring(item)
        decided = [verdict for verdict in erred if verdict.verdict in DECIDED]
        if item.gold == "none":
            self.notify("The item has no gold label, so no verdict on it can be an error.", markup=False)
        elif not erred:
            self.notify("Every verifier that has judged the item agrees with gold.", markup=False)
        elif chosen is not None and chosen in erred:
            self._ask_category(item.id, [chosen])
        elif len(decided) == 1:
            self._ask_category(item.id, decided)
        else:
            together = decided or erred
            said = f" with verdict {decided[0].verdict}" if decided else ""
            choices = [Choice(str(place), _verdict_choice(verdict)) for place, verdict in enumerate(erred)]
            if len(together) > 1:
                choices.append(Choice(_ALL, f"all {len(together)}{said}, for the same reason"))

            def chose(choice: str) -> None:
                self._ask_category(item.id, together if choice == _ALL else [erred[int(choice)]])

            choose(self, ChoiceMenu("Which verifier errs?", choices), chose)

    def _ask_category(self, completion: int, erred: Sequence[ItemVerdict]) -> None:
        names = printable(", ".join(verdict.verifier for verdict in erred))
        choices = [Choice(code, f"{code}: {sentence}") for code, sentence in ERROR_CATEGORIES.items()]
        menu = ChoiceMenu(f"Where is the error of {names}?", choices, wide=True)
        choose(self, menu, partial(self._category_chosen, completion, [verdict.run for verdict in erred]))

    def _category_chosen(self, completion: int, runs: Sequence[int], category: str) -> None:
        if category == "other" and not self.review_note:
            choose(self, NoteInput("", "What is the error?"), partial(self._store_other_error, completion, runs))
        else:
            self._store_error(completion, runs, category, self.review_note)

    def _store_other_error(self, completion: int, runs: Sequence[int], note: str) -> None:
        if note:
            self.review_note = note  # there again, should it not be stored
            self._store_error(completion, runs, "other", note)

    def _store_error(self, completion: int, runs: Sequence[int], category: str, note: str) -> None:
        self._store(partial(self.desk.mark_errors, completion, runs, convert(category, ErrorCategory), note))

    def _store(self, work: Callable[[], ReviewDecision]) -> None:
        self._run_store(work, self._finish_store)

    def _finish_store(self, decision: ReviewDecision) -> None:
        self._storing, self.review_note = False, ""
        self.review_said = f"saved: {decision.words} · {key_of('item.undo')} retracts it"
        self.after_review(decision)

    # -- taking back -------------------------------------------------------------------------------

    def action_take_back(self) -> None:
        if (item := self._decidable_item) is not None:
            self._run_store(partial(self.desk.take_back, item.id), self._show_retraction)

    def _show_retraction(self, decision: ReviewDecision | None) -> None:
        self._storing = False
        self.review_said = retraction_text(decision)
        self.show_review()
        if decision is not None:
            self.after_retraction(decision)

    # -- a note ------------------------------------------------------------------------------------

    def action_note(self) -> None:
        if self._decidable_item is not None:
            choose(self, NoteInput(self.review_note, "Note for your decision"), self._set_note)

    def _set_note(self, note: str) -> None:
        self.review_note = note
        self.show_review()

    # -- storing -----------------------------------------------------------------------------------

    def _run_store(self, work: Callable[[], Result], then: Callable[[Result], None]) -> None:
        self._storing = True
        self.in_background(work, then, group=_STORE, exclusive=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.worker.group == _STORE and event.state is WorkerState.ERROR:
            self._storing = False


def _verdict_choice(verdict: ItemVerdict) -> str:
    return f"{OUTCOME_MARKS[verdict.verdict][0]} {verdict.verdict}  {printable(verdict.verifier)}"
