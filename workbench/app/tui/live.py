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

    def __init__(self) -> None:
        super().__init__()
        self._reading = False
        self._began = self._rest_until = 0.0
        self._version: int | None = None
        self._told = ""

    @abstractmethod
    def read(self) -> Any:
        """Read what the screen shows; runs in a thread."""

    @abstractmethod
    def show(self, data: Any) -> None:
        """Show what was read."""

    def must_read(self) -> bool:
        """Whether to read again although nothing was written."""
        return False

    def on_mount(self) -> None:
        """Read, and begin to follow."""
        # What is read beside the first frame would hold it up.
        self.call_after_refresh(self.read_again)
        self.set_interval(self.LOOK_S, self._look)

    def on_screen_resume(self) -> None:
        """Look at once when the screen comes back into sight."""
        if self._version is not None:
            self._look()

    def read_again(self) -> None:
        """Read now; an older read that still goes on is given up."""
        self._version = self.project.database.data_version()
        self._reading, self._began = True, time.monotonic()
        self.in_background(self.read, self._arrived, group=_GROUP, stops=True)

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
        """A read that failed is over; the next change starts another."""
        if event.worker.group == _GROUP and event.state is WorkerState.ERROR:
            self._ended()

    def trouble(self, error: BaseException | None) -> None:
        """A notice, once for as long as the trouble stays the same."""
        if str(error) != self._told:
            self._told = str(error)
            super().trouble(error)


class InSight(WorkbenchScreen):
    """Shows one item after another; a key is for the one that was in sight when it was pressed."""

    def __init__(self) -> None:
        super().__init__()
        self._coming = 0
        self._seen_at: float | None = None

    def comes(self, shown_by: Widget | None = None) -> None:
        """Another item is put on the screen: a key pressed until then was for the one before."""
        self._coming += 1
        self._seen_at = None
        (shown_by or self).call_after_refresh(self._painted, self._coming)

    def _painted(self, coming: int) -> None:
        if coming == self._coming and self._seen_at is None:
            self._seen_at = self.workbench.at_work.now()

    @property
    def in_sight(self) -> bool:
        """Whether the last key can have been meant for what is on the screen."""
        acted_at = self.workbench.at_work.acted_at
        return self._seen_at is not None and (acted_at is None or acted_at >= self._seen_at)

    def found_idle(self) -> None:
        """Note that the key at work could not be meant for what is on the screen, so that it did nothing."""
        self.workbench.key_order.is_idle = True

    def is_decision(self) -> bool:
        """Whether a key that decides is meant so: behind one that did nothing it may end a habit, such as ``0 a 1``."""
        order = self.workbench.key_order
        if order.follows_idle:
            shown = self.app.get_key_display(Binding(order.at_work, ""))
            self.notify(f"The key before it did nothing here: press {shown} again to decide.", markup=False)
        return not order.follows_idle
