"""Screens that follow the database: they read again, in a thread, when something has changed."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, ClassVar

from textual.worker import Worker, WorkerState

from workbench.app.tui.screen import WorkbenchScreen
from workbench.measuring.status import data_version

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
        self.read_again()
        self.set_interval(self.LOOK_S, self._look)

    def on_screen_resume(self) -> None:
        """Look at once when the screen comes back into sight."""
        if self._version is not None:
            self._look()

    def read_again(self) -> None:
        """Read now; an older read that still goes on is given up."""
        self._version = data_version(self.project)
        self._reading, self._began = True, time.monotonic()
        self.in_background(self.read, self._arrived, group=_GROUP, stops=True)

    def _look(self) -> None:
        if self._reading or not self.is_current or time.monotonic() < self._rest_until:
            return
        if self.must_read() or data_version(self.project) != self._version:
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
