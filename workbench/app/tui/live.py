"""Screens that follow the database: they read again, in a thread, when something has changed."""

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

    There is one read at a time, and after each one at least as long a pause as it took, so that following a
    large database costs at most half a core. A screen that lies below another one rests.

    Attributes:
        LOOK_S: Seconds between two looks at the database's change counter.
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
        self.set_interval(self.LOOK_S, self._look)

    def on_screen_resume(self) -> None:
        if self._version is not None:
            self._look()

    def read_again(self) -> None:
        self._version = self.project.database.data_version()
        self._reading, self._began = True, time.monotonic()
        self.in_background(self.read, self._arrived, group=_GROUP, stops=True)

    def action_reload(self) -> None:
        self.read_again()

    def _look(self) -> None:
        if self._reading or not self.is_active or time.monotonic() < self._rest_until:
            return
        if self.must_read() or self.project.database.data_version() != self._version:
            self.read_again()

    def _arrived(self, data: Any) -> None:
        self._ended()
        self._told = ""
        self.show(data)

    def _ended(self) -> None:
        now = time.monotonic()
        self._reading, self._rest_until = False, now + (now - self._began)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.worker.group == _GROUP and event.state is WorkerState.ERROR:
            self._ended()

    def trouble(self, error: BaseException | None) -> None:
        """Show a notice, once for as long as the same error persists."""
        if str(error) != self._told:
            self._told = str(error)
            super().trouble(error)


class InSight(WorkbenchScreen):
    """Shows one item after another; a key applies to the item that was visible when it was pressed."""

    _coming = 0
    _seen_at: float | None = None

    def mark_shown(self, shown_by: Widget | None = None) -> None:
        """Record that another item is shown: keys pressed until now were for the one before."""
        self._coming += 1
        self._seen_at = None
        (shown_by or self).call_after_refresh(self._painted, self._coming)

    def _painted(self, coming: int) -> None:
        if coming == self._coming and self._seen_at is None:
            self._seen_at = self.workbench.at_work.now()

    @property
    def in_sight(self) -> bool:
        """Tell whether the last key can have been meant for the shown item."""
        acted_at = self.workbench.at_work.acted_at
        return self._seen_at is not None and (acted_at is None or acted_at >= self._seen_at)

    def found_idle(self) -> None:
        """Record that the current key could not be meant for the shown item and had no effect."""
        self.workbench.key_order.is_idle = True

    def is_decision(self) -> bool:
        """Tell whether a deciding key is intended: after a key without effect it may end a habit, such as ``0 a 1``."""
        order = self.workbench.key_order
        if order.follows_idle:
            shown = self.app.get_key_display(Binding(order.at_work, ""))
            self.notify(f"The previous key had no effect here: press {shown} again to decide.", markup=False)
        return not order.follows_idle
