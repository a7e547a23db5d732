"""Screens of one item at a time: which item a key is meant for, and decisions stored one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from textual.binding import Binding
from textual.timer import Timer
from textual.widget import Widget

from workbench.app.tui.kit.choices import ChoiceMenu
from workbench.app.tui.screen import LOG, Done, WorkbenchScreen
from workbench.core.label import EXCLUSION_REASONS

Result = TypeVar("Result")

_STORE = "desk-store"
_SAYING_S = 0.05
"""Seconds before a desk reports work in progress: drawing the report at once would delay the next item."""
WHY_UNSUITABLE = "Why is it unsuitable?"
WHY_ANEW = "Why label it again?"


def reason_menu(more: Mapping[str, str] = {}, question: str = WHY_UNSUITABLE) -> ChoiceMenu[str]:
    """Return a menu of the reasons for excluding an item."""
    return ChoiceMenu(question, {**EXCLUSION_REASONS, **more})


class Desk(WorkbenchScreen):
    """Shows one item after another; a key applies to the item that was visible when it was pressed.

    Decisions are stored one after another, to the end even where the screen is left; each is shown as saved after its
    commit.
    """

    _stored_now = 0
    """Number of decisions that are being stored or wait for it."""
    _said = ""
    _coming = 0
    _seen_at: float | None = None
    _left_at: float | None = None
    _wait_ms: int | None = None
    _patience: Timer | None = None

    def __init__(self) -> None:
        super().__init__()
        self._one_at_a_time = ThreadPoolExecutor(1)

    # -- which item a key is meant for -------------------------------------------------------------

    def mark_shown(self, shown_by: Widget | None = None) -> None:
        """Record that another item is shown: keys pressed before it is visible were meant for the previous item."""
        self._coming += 1
        self._seen_at = self._wait_ms = None
        (shown_by or self).call_after_refresh(self._record_painted, self._coming)

    def _record_painted(self, coming: int) -> None:
        if coming == self._coming and self._seen_at is None:
            self._seen_at = self.workbench.at_work.now()
            if self._left_at is not None:
                self._wait_ms, self._left_at = round(1000 * (self._seen_at - self._left_at)), None

    def mark_left(self) -> None:
        """Record that the person is done with the shown item and waits for the next one."""
        self._left_at = self.workbench.at_work.acted_at

    @property
    def is_item_visible(self) -> bool:
        """Tell whether the last key can have been meant for the shown item."""
        acted_at = self.workbench.at_work.acted_at
        return self._seen_at is not None and (acted_at is None or acted_at >= self._seen_at)

    def mark_key_unused(self) -> None:
        """Record that the current key could not be meant for the shown item and had no effect."""
        self.workbench.key_order.is_idle = True

    def is_decision(self) -> bool:
        """Tell whether the current key is meant as a decision.

        After a key without effect, it may only complete a habitual sequence, such as ``0 a 1``; then show a notice.
        """
        order = self.workbench.key_order
        if order.follows_idle:
            shown = self.app.get_key_display(Binding(order.at_work, ""))
            self.notify(f"The previous key had no effect here: press {shown} again to decide.")
        return not order.follows_idle

    # -- storing -----------------------------------------------------------------------------------

    def store(
        self,
        work: Callable[[], Result],
        then: Callable[[Result], None],
        saying: str = "saving …",
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        """Store a decision in a thread, after those before it; ``then`` gets the result after the commit.

        Args:
            saying: The message for the time until then.
            failed: Receives the error if it can't be stored; `store_failed` by default.
        """
        self._said = saying
        self.mark_left()
        self._patience = self.set_timer(_SAYING_S, self.draw_line)
        self._stored_now += 1

        def run() -> None:
            try:
                result = work()
            except Exception as error:
                if not self.is_attached:
                    LOG.exception("a decision was not stored after its screen was left")
                self.post_message(Done(partial(self._go_on, "! not saved", failed or self.store_failed), error))
                raise
            self.post_message(Done(partial(self._go_on, "", then), result))

        stored = self._one_at_a_time.submit(run)
        self.in_background(stored.result, self._note_storable, group=_STORE, exclusive=False)

    @property
    def _busy(self) -> bool:
        return self._stored_now > 0

    def _note_storable(self, _: None) -> None:
        self.workbench.reported_away = ""

    def _go_on(self, said: str, then: Callable[[Any], None], result: object) -> None:
        self._stored_now -= 1
        self._said = said
        if self._patience is not None:
            self._patience.stop()
        then(result)
        self.draw_line()

    def store_failed(self, error: Exception) -> None:
        """Continue after a store has failed; the keys work again."""

    def draw_line(self) -> None:
        """Show the last message."""
