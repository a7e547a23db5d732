"""What a reviewer decides of the item on the screen: gold is right, label it anew, or a verifier errs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import convert
from textual.worker import Worker, WorkerState

from workbench.app.tui.actions import Action
from workbench.app.tui.coordinating import Coordinating, Result
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, ChoiceMenu
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.item_panes import DECIDED, against_gold
from workbench.app.tui.kit.note_input import NoteInput
from workbench.app.tui.review_desk import ReviewDecision, ReviewDesk, taken_back
from workbench.data.records.browse import ItemDetail, ItemVerdict
from workbench.measuring.records.review import ERROR_CATEGORIES, ErrorCategory

_STORE = "reviewing"
_ALL = "all"


def reviewing_actions(screen: str) -> tuple[Action, ...]:
    """The reviewer's actions of a screen that shows an item."""
    return (
        Action(f"{screen}.confirm", "c", "confirm", "Gold ok", "Gold is right as it stands."),
        Action(f"{screen}.send-back", "r", "send_back", "Relabel", "Send the item to re-annotation; asks why."),
        Action(f"{screen}.error", "e", "mark_error", "Error", "Gold is right and a verifier errs; asks why it does."),
        Action(f"{screen}.undo", "z", "take_back", "Undo", "Take the decision on this item back, or your last one."),
        Action(f"{screen}.note", "N", "note", "Note", "Write a note that goes with the next decision.", footer=False),
    )


class Reviewing(Coordinating):
    """A screen that shows the coordinator one item at a time and stores what is decided of it.

    A decision is of the item that was in sight when its key was pressed; while it is being stored, the keys that decide
    do nothing, and it is shown only when it is stored.

    Attributes:
        review_note: Waits for the next decision.
        review_said: What was stored or taken back last.
    """

    def __init__(self) -> None:
        super().__init__()
        self.review_note = self.review_said = ""
        self._storing = False
        self._seen_at: float | None = None

    @property
    @abstractmethod
    def desk(self) -> ReviewDesk:
        """Where decisions are stored."""

    @property
    @abstractmethod
    def item_shown(self) -> ItemDetail | None:
        """The item on the screen."""

    @property
    @abstractmethod
    def chosen(self) -> ItemVerdict | None:
        """The verdict that is looked at."""

    def erring(self, item: ItemDetail) -> list[ItemVerdict]:
        """The verdicts that can be in error, those that decide first."""
        return against_gold(item)

    @abstractmethod
    def after_review(self, decision: ReviewDecision) -> None:
        """Go on: the decision is stored."""

    @abstractmethod
    def after_taking_back(self, decision: ReviewDecision) -> None:
        """Show what has become of the item: the decision holds no more."""

    @abstractmethod
    def show_review(self) -> None:
        """Show what stands decided, the note that waits, and what was stored last."""

    def item_comes(self, completion: int) -> None:
        """Another item is put on the screen: a note was for the one before, and so was a key pressed until then."""
        self.review_note, self._seen_at = "", None
        self.call_after_refresh(self._painted, completion)

    def _painted(self, completion: int) -> None:
        if self._seen_at is None and self.item_shown is not None and self.item_shown.id == completion:
            self._seen_at = self.workbench.at_work.now()

    @property
    def item_in_sight(self) -> ItemDetail | None:
        """The item that the last key can have been meant for."""
        acted_at = self.workbench.at_work.acted_at
        seen = self._seen_at is not None and (acted_at is None or acted_at >= self._seen_at)
        return self.item_shown if seen else None

    @property
    def _item(self) -> ItemDetail | None:
        return None if self._storing else self.item_in_sight

    # -- deciding ----------------------------------------------------------------------------------

    def action_confirm(self) -> None:
        """Gold is right."""
        if (item := self._item) is not None:
            self._store(partial(self.desk.confirm, item.id, self.review_note))

    def action_send_back(self) -> None:
        """Ask why, then have the item labelled anew."""
        if (item := self._item) is not None:
            self.app.push_screen(
                NoteInput(self.review_note, "Why is it to be labelled anew?"), partial(self._send_back, item.id)
            )

    def _send_back(self, completion: int, reason: str | None) -> None:
        if reason:
            self.review_note = reason  # there again, should it not be stored
            self._store(partial(self.desk.send_back, completion, reason))

    def action_mark_error(self) -> None:
        """Ask which verifier errs, where that is not clear, and why."""
        if (item := self._item) is None:
            return
        chosen, erred = self.chosen, self.erring(item)
        decided = [verdict for verdict in erred if verdict.verdict in DECIDED]
        if item.gold == "none":
            self.notify("The item has no gold that a verifier could err against.", markup=False)
        elif not erred:
            self.notify("Every verifier that has judged the item agrees with gold.", markup=False)
        elif chosen is not None and chosen in erred:
            self._ask_category(item.id, [chosen])
        elif len(decided) == 1:
            self._ask_category(item.id, decided)
        else:
            together = decided or erred
            said = f" that say {decided[0].verdict}" if decided else ""
            choices = [Choice(str(place), _said(verdict)) for place, verdict in enumerate(erred)]
            if len(together) > 1:
                choices.append(Choice(_ALL, f"all {len(together)}{said}, for the same reason"))
            menu = ChoiceMenu("Which verifier errs?", choices)
            self.app.push_screen(menu, partial(self._erring_chosen, item.id, erred, together))

    def _erring_chosen(
        self, completion: int, erred: Sequence[ItemVerdict], together: Sequence[ItemVerdict], choice: str | None
    ) -> None:
        if choice is not None:
            self._ask_category(completion, together if choice == _ALL else [erred[int(choice)]])

    def _ask_category(self, completion: int, erred: Sequence[ItemVerdict]) -> None:
        names = printable(", ".join(verdict.verifier for verdict in erred))
        choices = [Choice(code, f"{code}: {sentence}") for code, sentence in ERROR_CATEGORIES.items()]
        menu = ChoiceMenu(f"Where is the error of {names}?", choices, wide=True)
        self.app.push_screen(menu, partial(self._category_chosen, completion, [verdict.run for verdict in erred]))

    def _category_chosen(self, completion: int, runs: Sequence[int], category: str | None) -> None:
        if category == "other" and not self.review_note:
            self.app.push_screen(NoteInput("", "What is the error?"), partial(self._other_error, completion, runs))
        elif category is not None:
            self._store_error(completion, runs, category, self.review_note)

    def _other_error(self, completion: int, runs: Sequence[int], note: str | None) -> None:
        if note:
            self.review_note = note  # there again, should it not be stored
            self._store_error(completion, runs, "other", note)

    def _store_error(self, completion: int, runs: Sequence[int], category: str, note: str) -> None:
        self._store(partial(self.desk.mark_errors, completion, runs, convert(category, ErrorCategory), note))

    def _store(self, work: Callable[[], ReviewDecision]) -> None:
        self._work(work, self._stored)

    def _stored(self, decision: ReviewDecision) -> None:
        self._storing, self.review_note = False, ""
        self.review_said = f"saved: {decision.words} · z takes it back"
        self.after_review(decision)

    # -- taking back -------------------------------------------------------------------------------

    def action_take_back(self) -> None:
        """Take the decision on this item back, or the last one."""
        if (item := self._item) is not None:
            self._work(partial(self.desk.take_back, item.id), self._taken_back)

    def _taken_back(self, decision: ReviewDecision | None) -> None:
        self._storing = False
        self.review_said = taken_back(decision)
        self.show_review()
        if decision is not None:
            self.after_taking_back(decision)

    # -- a note ------------------------------------------------------------------------------------

    def action_note(self) -> None:
        """Write a note; it waits for the decision."""
        if self._item is not None:
            self.app.push_screen(NoteInput(self.review_note, "Note to your decision"), self._noted)

    def _noted(self, note: str | None) -> None:
        if note is not None:
            self.review_note = note
            self.show_review()

    # -- storing -----------------------------------------------------------------------------------

    def _work(self, work: Callable[[], Result], then: Callable[[Result], None]) -> None:
        self._storing = True
        self.in_background(work, then, group=_STORE, exclusive=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What could not be stored is said, and the keys are free again."""
        if event.worker.group == _STORE and event.state is WorkerState.ERROR:
            self._storing = False


def _said(verdict: ItemVerdict) -> str:
    return f"{OUTCOME_MARKS[verdict.verdict][0]} {verdict.verdict}  {printable(verdict.verifier)}"
