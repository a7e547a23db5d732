"""The coordinator's decisions on the shown item: gold is right, a verifier errs, label it again, exclude it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any, TypeAlias

from textual.widgets import Static

from workbench.app.tui.desk import WHY_ANEW, WHY_UNSUITABLE, Desk, Result, reason_menu
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable, show_line
from workbench.app.tui.kit.choices import Choice, ChoiceMenu, choose
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.item_panes import DECIDED, ReadyItem, against_gold, verdict_of
from workbench.app.tui.kit.prompt_line import PromptLine
from workbench.app.tui.kit.queue_view import review_lines, review_words
from workbench.core.label import LabelVerdict, coordinator_name
from workbench.core.project import Project
from workbench.data.records import ItemDetail, ItemVerdict
from workbench.labelling import coordinating
from workbench.measuring.records.review import ERROR_CATEGORIES, ErrorCategory, Review
from workbench.measuring.reviewing import deciding
from workbench.measuring.reviewing.queues import ReviewQueue

Decision: TypeAlias = tuple[Review, ...]
"""Reviews of one item that were stored together."""


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
        self._decided: list[int] = []
        self.queue: ReviewQueue | None = None
        self.order: Sequence[int] = array("q")
        self.reviewed: set[int] = set()

    def take(self, queue: ReviewQueue, order: Sequence[int], reviewed: set[int]) -> None:
        self.queue, self.order, self.reviewed = queue, order, reviewed

    # -- deciding ----------------------------------------------------------------------------------

    def decide(self, store: Callable[..., Review | Decision], *what: Any, **more: Any) -> Decision:
        """Store a decision by one of the functions of `deciding`, with the reviewer's name and the queue."""
        queue = None if self.queue is None else self.queue.name
        found = store(self._project, *what, by=self._by, queue=queue, **more)
        reviews = found if isinstance(found, tuple) else (found,)
        self._decided.append(reviews[0].completion)
        self.reviewed.add(reviews[0].completion)
        return reviews

    def take_back(self, completion: int) -> Decision:
        """Retract the newest decision on an item or, if this person has made none on it, their last one.

        Returns:
            The retracted decision, with all errors that were marked together; empty if there was none.
        """
        for item in (completion, *reversed(self._decided)):
            found = deciding.reviews_of(self._project, item)
            own = [review for review in found if review.reviewer == self._by]
            if own:
                together = tuple(review for review in own if review.created_at == own[-1].created_at)
                deciding.take_back_each(self._project, together, by=self._by)
                if item in self._decided:
                    del self._decided[-1 - self._decided[::-1].index(item)]
                if not deciding.reviews_of(self._project, item):
                    self.reviewed.discard(item)
                return together
        return ()

    # -- going on ----------------------------------------------------------------------------------

    def next_open(self, after: int) -> int | None:
        """Return the index of the next unreviewed item after ``after``, else from the beginning; None if there is none.

        Args:
            after: An index in the order; -1 to search from the beginning.
        """
        places = chain(range(after + 1, len(self.order)), range(min(after + 1, len(self.order))))
        return next((place for place in places if self.order[place] not in self.reviewed), None)


def retraction_text(decision: Decision) -> str:
    if not decision:
        return "You have no decision to retract."
    goes_on = any(review.kind == "reannotate" for review in decision)
    return f"Retracted: {review_words(*decision)}" + (". It will still be labelled again." if goes_on else "")


_INCLUDE = "include"

REVIEWING_ACTIONS: tuple[Action, ...] = (
    Action("item.confirm", "y", "confirm", "Gold ok", "Confirm that gold is right, or decide it if there is none."),
    Action("item.send-back", "l", "send_back", "Relabel", "Have the item labelled again; asks why."),
    Action("item.error", "m", "mark_error", "Error", "Mark a verifier's error; asks for the kind."),
    Action("item.undo", "z", "take_back", "Undo", "Retract the decision on this item, or your last one."),
    Action("item.note", "c", "note", "Note", "Write a note for the next decision.", False),
)
COORDINATING_ACTIONS: tuple[Action, ...] = (
    Action("item.reopen", "a", "reopen", "Reopen", "Have the item labelled again; asks why.", False),
    Action("item.exclude", "x", "exclude", "Exclude", "Exclude the item from tables, or include it; asks why.", False),
)


class Reviewing(Desk):
    """A screen that shows the coordinator one item at a time and stores decisions on it.

    A decision applies to the item that was visible when its key was pressed.

    Attributes:
        completion: Row id of the item to show.
        ready: The item on the screen with its panes; None until it is loaded.
        note: The note to store with the next decision; "" for none.
        said: The message about the last stored or retracted decision.
    """

    completion: int
    ready: ReadyItem | None = None
    note = said = ""

    @cached_property
    def desk(self) -> ReviewDesk:
        return ReviewDesk(self.project, coordinator_name())

    @property
    def item_shown(self) -> ItemDetail | None:
        """Return the item on the screen; None while the next one is loading."""
        return None if self.ready is None or self.ready.item.id != self.completion else self.ready.item

    @property
    def visible_item(self) -> ItemDetail | None:
        """Return the shown item if it was visible when the last key was pressed; else None."""
        return self.item_shown if self.is_item_visible else None

    @property
    def _decidable_item(self) -> ItemDetail | None:
        return None if self._busy else self.visible_item

    @property
    def chosen(self) -> ItemVerdict | None:
        """Return the verdict chosen on the screen; None if none is chosen."""
        return None if self.ready is None else verdict_of(self.ready.item, self.ready.view.verifier)

    def erring(self, item: ItemDetail) -> list[ItemVerdict]:
        """Return the verdicts that contradict gold, decided ones before abstentions and errors."""
        return against_gold(item)

    def after_decision(self, completion: int) -> None:
        """Show the item's new state."""

    def after_review(self, completion: int) -> None:
        """Continue after a review was stored."""
        self.after_decision(completion)

    def show_item(self, completion: int) -> None:
        """Show another item."""

    def show_review(self) -> None:
        """Show the decisions in force, the pending note, and the last message."""
        if self.ready is not None:
            text = review_lines(self.ready.why, self.ready.reviews, self.note, self.said)
            show_line(self.query_one("#item-review", Static), text)

    # -- gold is right, or not ---------------------------------------------------------------------

    def action_confirm(self) -> None:
        if (item := self._decidable_item) is None or not self.is_decision():
            return
        decided = {(label.kind, label.annotator) for label in item.labels}
        if decided <= {("adjudication", coordinator_name())} and (decided or item.gold == "none"):
            words: tuple[LabelVerdict, ...] = ("correct", "incorrect")
            choices = [Choice(word, word, key) for word, key in zip(words, "10", strict=True)]
            menu = ChoiceMenu("No annotator has labelled it. What is gold?", choices, chosen=(item.gold,))
            choose(self, menu, partial(self._decide_gold, item.id))
        else:
            self._review(deciding.confirm, item.id, note=self.note)

    def _decide_gold(self, completion: int, verdict: LabelVerdict) -> None:
        work = partial(deciding.decide_gold, self.project, completion, verdict, by=coordinator_name())
        self._decide(completion, work, lambda _: f"Gold is {verdict} now, as you decided.")

    def action_send_back(self) -> None:
        if (item := self._decidable_item) is not None:

            def send_back(reason: str) -> None:
                if reason:
                    self.note = reason  # there again, should it not be stored
                    self._review(deciding.send_back, item.id, reason=reason)

            choose(self, PromptLine(WHY_ANEW, self.note), send_back)

    def action_mark_error(self) -> None:
        if (item := self._decidable_item) is None:
            return
        chosen, erred = self.chosen, self.erring(item)
        decided = [verdict for verdict in erred if verdict.verdict in DECIDED]
        if item.gold == "none":
            self.notify("The item has no gold label, so no verdict on it can be an error.")
        elif not erred:
            self.notify("Every verifier that has judged the item agrees with gold.")
        elif chosen is not None and chosen in erred:
            self._ask_category(item.id, [chosen])
        elif len(decided) == 1:
            self._ask_category(item.id, decided)
        else:
            together = decided or erred
            said = f" with verdict {decided[0].verdict}" if decided else ""
            choices = [
                Choice([one], f"{OUTCOME_MARKS[one.verdict][0]} {one.verdict}  {printable(one.verifier)}")
                for one in erred
            ]
            if len(together) > 1:
                choices.append(Choice(together, f"all {len(together)}{said}, for the same reason"))
            choose(self, ChoiceMenu("Which verifier errs?", choices), partial(self._ask_category, item.id))

    def _ask_category(self, completion: int, erred: Sequence[ItemVerdict]) -> None:
        def chose(category: ErrorCategory) -> None:
            if category == "other" and not self.note:
                choose(self, PromptLine("What is the error?"), noted)
            else:
                mark(category)

        def noted(note: str) -> None:
            if note:
                self.note = note  # there again, should it not be stored
                mark("other")

        def mark(category: ErrorCategory) -> None:
            verdicts = [(completion, verdict.run) for verdict in erred]
            self._review(deciding.mark_errors, verdicts, category, note=self.note)

        names = printable(", ".join(verdict.verifier for verdict in erred))
        choices: dict[ErrorCategory, str] = {code: f"{code}: {sentence}" for code, sentence in ERROR_CATEGORIES.items()}
        choose(self, ChoiceMenu(f"Where is the error of {names}?", choices, wide=True), chose)

    def _review(self, store: Callable[..., Review | Decision], *what: Any, **more: Any) -> None:
        self.store(partial(self.desk.decide, store, *what, **more), self._finish_review)

    def _finish_review(self, decision: Decision) -> None:
        self.note = ""
        self.said = f"saved: {review_words(*decision)} · {key_of('item.undo')} retracts it"
        self.after_review(decision[0].completion)

    def action_take_back(self) -> None:
        if (item := self._decidable_item) is not None:
            self.store(partial(self.desk.take_back, item.id), self._show_retraction)

    def _show_retraction(self, decision: Decision) -> None:
        self.said = retraction_text(decision)
        self.show_review()
        if decision:
            self.show_item(decision[0].completion)

    def action_note(self) -> None:
        if self._decidable_item is not None:

            def noted(note: str) -> None:
                self.note = note
                self.show_review()

            choose(self, PromptLine("Note for your decision", self.note), noted)

    # -- a new round of labels, exclusion, inclusion -----------------------------------------------

    def action_reopen(self) -> None:
        if (item := self.visible_item) is not None:
            self.ask_line(WHY_ANEW, item.id, partial(self._reopen, item.id))

    def _reopen(self, completion: int, reason: str) -> None:
        by = coordinator_name()
        work = partial(coordinating.reopen, self.project, [completion], reason=reason, by=by, task="both")
        self._decide(completion, work, lambda done: "Reopened." if done.reopened else "It has no label yet.")

    def action_exclude(self) -> None:
        if (item := self.visible_item) is not None:
            include = {_INCLUDE: "nothing: include it again"} if item.state == "excluded" else {}
            choose(self, reason_menu(include), partial(self._exclude, item.id))

    def _exclude(self, completion: int, reason: str) -> None:
        by = coordinator_name()

        def exclude(note: str) -> None:
            work = partial(coordinating.exclude, self.project, [completion], reason=reason, note=note, by=by)
            self._decide(completion, work, lambda _: "Excluded.")

        if reason == _INCLUDE:
            work = partial(coordinating.lift, self.project, [completion], by=by)
            said = "Annotators have excluded it: reopen it instead."
            self._decide(completion, work, lambda done: "It is included again." if done.lifted else said)
        elif reason == "other":
            self.ask_line(WHY_UNSUITABLE, completion, exclude, empty=True)
        else:
            exclude("")

    def _decide(self, completion: int, work: Callable[[], Result], say: Callable[[Result], str]) -> None:
        def decided(done: Result) -> None:
            self.line_stored(WHY_ANEW, completion)
            self.line_stored(WHY_UNSUITABLE, completion)
            self.notify(say(done))
            self.after_decision(completion)

        self.store(work, decided)
