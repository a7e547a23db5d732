"""Shared by Annotate and Adjudicate: a card, its keys, a stopwatch, and keys without effect while a label is stored."""

from __future__ import annotations

import gc
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import ClassVar, TypeVar

from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker, WorkerState

from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.card import FinalAnswerCard, Opened
from workbench.app.tui.kit.choices import Answer, Choice, ChoiceMenu, choose
from workbench.app.tui.kit.copies import Copyable
from workbench.app.tui.kit.prompt_bar import NoteInput
from workbench.app.tui.kit.title_bar import RemarkPiece
from workbench.app.tui.live import InSight
from workbench.app.tui.pace import Stopwatch
from workbench.app.tui.person import PersonScreen
from workbench.core.errors import StoreError
from workbench.core.label import EXCLUSION_REASONS, TAGS
from workbench.labelling.guidelines import Guideline
from workbench.labelling.people import GuidelineReadings

Result = TypeVar("Result")

FOLLOW_S = 5.0
"""Seconds between two checks for new guidelines and answers."""

_STORE = "judging-store"
_UNOPENED = "guidelines not opened"
_WHY_UNSUITABLE = "Why is it unsuitable?"
_SAYING_S = 0.05
"""Seconds before the screen reports work in progress: drawing the report at once would delay the next item."""


def card_actions(screen: str) -> tuple[Action, ...]:
    return (
        Action(
            f"{screen}.completion",
            "C",
            "open('completion')",
            "Whole",
            "Open the whole completion; again: go back to the card.",
            False,
        ),
        Action(f"{screen}.question", "Q", "open('question')", "Question", "Open the whole question.", False),
        Action(f"{screen}.reference", "R", "open('reference')", "Reference", "Open the whole reference.", False),
        Action(f"{screen}.raw", "o", "raw", "Raw", "Show the exact texts, or the rendered ones.", False),
        Action(f"{screen}.boxed", "n", "boxed(1)", "Next hit", "Go to the next hit, or \\boxed.", False),
        Action(f"{screen}.find-previous", "N", "boxed(-1)", "Previous hit", "Go to the previous hit or box.", False),
        Action(f"{screen}.find", "slash", "find", "Find", "Find a text in the whole text.", False),
        Action(f"{screen}.guidelines", "G", "open('guidelines')", "Guidelines", "Show the guidelines.", False),
        Action(f"{screen}.close", "escape,q", "close", "Close", "Close the whole text or the search.", False),
    )


class JudgingScreen(InSight, PersonScreen):
    """Shows one item on its card and stores the person's decision.

    While a decision is being stored, decision keys do nothing: a key can't apply to another item than the visible one.
    "Saved" is shown after the commit.
    """

    OF_ITEM: ClassVar[frozenset[str]] = frozenset({"raw", "boxed", "find"})
    """Actions that need an item: without one, their keys are hidden."""

    def __init__(self) -> None:
        super().__init__()
        self._current: object = None
        self._person = ""
        self._busy = False
        self._said = ""
        self._told = ""
        self._note = ""
        self._news = ""
        self._shown_version = ""
        self._patience: Timer | None = None
        self._stopwatch: Stopwatch

    @property
    def person(self) -> str:
        """Return the name the user works under on this screen; "" until it is known."""
        return self._person

    def copies(self) -> Iterator[Copyable]:
        from workbench.app.tui.copying import copyable_card_texts

        if self.card.texts is not None:
            yield from copyable_card_texts(self.card.texts.item)

    @property
    def card(self) -> FinalAnswerCard:
        return self.query_one(FinalAnswerCard)

    @property
    @abstractmethod
    def has_item(self) -> bool:
        """Tell whether an item is shown."""

    @property
    def is_ready(self) -> bool:
        """Tell whether nothing is being stored, and the shown item was visible when the last key was pressed."""
        return not self._busy and (not self.has_item or self.is_item_visible)

    def accepts_key(self) -> bool:
        """Tell whether the last key can be meant for the shown item; otherwise record that the key had no effect."""
        free = self.has_item and self.is_ready
        if not free:
            self.mark_key_unused()
        return free

    @abstractmethod
    def draw_line(self) -> None:
        """Show the person's name and the last message."""

    @abstractmethod
    def store_failed(self, error: BaseException | None) -> None:
        """Continue after a store has failed; the keys work again."""

    def show_error(self, error: BaseException | None) -> None:
        """Show the error; while no item is shown, show the same error only once, however often the work is retried."""
        said = str(error) if self.has_class("empty") else ""
        if not said or said != self._told:
            self._told = said
            super().show_error(error)

    def set_empty(self, empty: bool) -> None:
        if empty != self.has_class("empty"):
            if empty:
                self.card.show(None)
            self.set_class(empty, "empty")
            # Keys pressed while there was no item are not part of a habitual sequence.
            self.workbench.key_order.is_idle = False
            self.refresh_bindings()

    # -- storing -----------------------------------------------------------------------------------

    def store(self, work: Callable[[], Result], then: Callable[[Result], None], saying: str = "saving …") -> None:
        self._busy, self._said = True, saying
        self._patience = self.set_timer(_SAYING_S, self.draw_line)
        self.in_background(work, partial(self._finish_store, then), group=_STORE, exclusive=False)

    def _finish_store(self, then: Callable[[Result], None], result: Result) -> None:
        self._release_keys("")
        self.workbench.reported_away = ""
        then(result)
        self.draw_line()

    def _release_keys(self, said: str) -> None:
        self._busy, self._said = False, said
        if self._patience is not None:
            self._patience.stop()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.worker.group == _STORE and event.state is WorkerState.ERROR:
            self._release_keys("! not saved")
            self.store_failed(event.worker.error)
            self.draw_line()

    def no_item_text(self, error: StoreError) -> str:
        return f"{error}\n\nThis is retried automatically.\n"

    # -- asking ------------------------------------------------------------------------------------

    def ask_about(self, menu: Screen[Answer | None], then: Callable[[Answer], object]) -> None:
        """Show a menu about the current item; its answer counts only while that item is shown and keys are free."""
        current = self._current

        def chosen(answer: Answer) -> None:
            if self.accepts_key() and self._current is current:
                then(answer)

        choose(self, menu, chosen)

    def ask_reason(self, then: Callable[[str], None]) -> None:
        def chosen(reason: str) -> None:
            if reason == "other" and not self._note.strip():
                self.ask_about(NoteInput("", _WHY_UNSUITABLE), noted)
            else:
                then(reason)

        def noted(note: str) -> None:
            if note:
                self._note = note
                then("other")

        choices = [Choice(code, text) for code, text in EXCLUSION_REASONS.items()]
        self.ask_about(ChoiceMenu(_WHY_UNSUITABLE, choices), chosen)

    def ask_tag(self, tags: Collection[str], then: Callable[[tuple[str, ...]], None]) -> None:
        """Have a mark added or removed; ``then`` gets all marks of the item."""
        if self.accepts_key():
            menu = ChoiceMenu("Marks", [Choice(code, words) for code, words in TAGS.items()], chosen=tags)
            self.ask_about(menu, lambda tag: then(tuple(code for code in TAGS if code in {*tags} ^ {tag})))

    # -- looking -----------------------------------------------------------------------------------

    def action_open(self, part: Opened) -> None:
        self._read_guidelines()
        self.card.open(part)
        self._read_guidelines()

    def action_close(self) -> None:
        self._read_guidelines()
        if not self.card.end_find():
            self.card.open(self.card.opened)

    def action_raw(self) -> None:
        self.card.toggle_raw()

    def action_boxed(self, step: int) -> None:
        self.card.go_on(step)

    def action_find(self) -> None:
        self.card.find()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "close":
            return bool(self.card.opened)
        if self.has_class("empty") and (action in self.OF_ITEM or (action == "open" and parameters != ("guidelines",))):
            return False
        return super().check_action(action, parameters)

    # -- the guidelines ----------------------------------------------------------------------------

    @property
    @abstractmethod
    def acquainted(self) -> GuidelineReadings | None:
        """Return the record of guideline versions the person has read; None before they have begun."""

    def follow_guidelines(self) -> None:
        self._look_at_guidelines()
        self.set_interval(FOLLOW_S, self._look_at_guidelines)

    def _look_at_guidelines(self) -> None:
        if (acquainted := self.acquainted) is not None:
            work = partial(_changed_guideline, acquainted, self._shown_version)
            self.in_background(work, self._show_guideline, group="judging-guidelines")

    def _show_guideline(self, found: Guideline | None) -> None:
        if found is None:
            return
        before, self._shown_version = self._shown_version, found.version
        self.card.set_guidelines(found.text)
        acquainted = self.acquainted
        is_news = acquainted is not None and bool(acquainted.news())
        self._news, key = "", key_of(f"{self.card.desk}.guidelines")
        if acquainted is not None and is_news and not (before or acquainted.version):
            self._news = f"{_UNOPENED}: {key}"
        elif is_news:
            self._news = f"new guidelines: {key}"
            when = "have changed" if before else "have changed since you were here"
            self.notify(f"The guidelines {when}: {key} shows them.", title="New guidelines", timeout=8, markup=False)
        if not before:
            self._read_guidelines()
        self.draw_line()

    def _read_guidelines(self) -> None:
        if self.card.opened == "guidelines" and self.acquainted is not None and self._shown_version:
            work = partial(self.acquainted.read, self._shown_version)
            self.in_background(work, lambda _: self._clear_news(), group="judging-guidelines-read", exclusive=False)

    def _clear_news(self) -> None:
        self._news = ""
        self.draw_line()

    @property
    def news(self) -> RemarkPiece:
        return RemarkPiece(self._news, rank=6 if self._news.startswith(_UNOPENED) else 0)

    # -- the clock ---------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self._stopwatch = Stopwatch(self.workbench.at_work)
        if not gc.get_freeze_count():
            # The objects built so far stay alive: each collection that visits them would delay a key by 100 ms.
            gc.freeze()


def _changed_guideline(acquainted: GuidelineReadings, shown: str) -> Guideline | None:
    return None if acquainted.in_force() == shown else acquainted.text()
