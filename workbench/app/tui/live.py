"""Screens that follow the database: they read it again, in a thread, when it has changed."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, ClassVar

from textual.binding import Binding
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from workbench.app.tui.screen import WorkbenchScreen

_GROUP = "live"


class LiveScreen(WorkbenchScreen):
    """Reads once when it opens, and again when other connections have written.

    There is one read at a time, and each is followed by a pause at least as long as the read, so that following a large
    database costs at most half a core. A screen covered by another one doesn't read.

    Attributes:
        LOOK_S: Seconds between two checks of the database's change counter.
    """

    LOOK_S: ClassVar[float] = 1.0
    _reading = False
    _began = _rest_until = 0.0
    _version: int | None = None
    _told = ""

    @abstractmethod
    def read(self) -> Any:
        """Return the data that the screen shows; runs in a thread."""

    @abstractmethod
    def show(self, data: Any) -> None:
        """Show what was read."""

    def must_read(self) -> bool:
        """Tell whether to read again although nothing was written."""
        return False

    def on_mount(self) -> None:
        # A read during the first frame would delay it.
        self.call_after_refresh(self.read_again)
        self.set_interval(self.LOOK_S, self._check_changes)

    def on_screen_resume(self) -> None:
        if self._version is not None:
            self._check_changes()

    def read_again(self) -> None:
        self._version = self.project.database.data_version()
        self._reading, self._began = True, time.monotonic()
        self.in_background(self.read, self._receive_data, group=_GROUP, stops=True)

    def action_reload(self) -> None:
        self.read_again()

    def _check_changes(self) -> None:
        if self._reading or not self.is_active or time.monotonic() < self._rest_until:
            return
        if self.must_read() or self.project.database.data_version() != self._version:
            self.read_again()

    def _receive_data(self, data: Any) -> None:
        self._finish_read()
        self._told = ""
        self.show(data)

    def _finish_read(self) -> None:
        now = time.monotonic()
        self._reading, self._rest_until = False, now + (now - self._began)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.worker.group == _GROUP and event.state is WorkerState.ERROR:
            self._finish_read()

    def show_error(self, error: BaseException | None) -> None:
        """Show a notice, only once while the same error persists."""
        if str(error) != self._told:
            self._told = str(error)
            super().show_error(error)


class InSight(WorkbenchScreen):
    """Shows one item after another; a key applies to the item that was visible when it was pressed."""

    _coming = 0
    _seen_at: float | None = None

    def mark_shown(self, shown_by: Widget | None = None) -> None:
        """Record that another item is shown: keys pressed before it is visible were meant for the previous item."""
        self._coming += 1
        self._seen_at = None
        (shown_by or self).call_after_refresh(self._record_painted, self._coming)

    def _record_painted(self, coming: int) -> None:
        if coming == self._coming and self._seen_at is None:
            self._seen_at = self.workbench.at_work.now()

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
            self.notify(f"The previous key had no effect here: press {shown} again to decide.", markup=False)
        return not order.follows_idle
