"""Screens that follow the database: they read it again, in a thread, when it has changed."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from workbench.app.tui.screen import WorkbenchScreen

_GROUP, _LATE = "live", "late"
_TICK_S = 0.01
_AFTER_FAILURE_S = 5.0


class LiveScreen(WorkbenchScreen):
    """Reads once when it opens, and again when other connections have written.

    There is one read at a time, and each is followed by a pause at least as long as the read, so that following a large
    database costs at most half a core. A screen covered by another one doesn't read.

    What takes longer than the read follows it: see `late`.

    Attributes:
        LOOK_S: Seconds between two checks of the database's change counter; None to check only when the screen is
            back on top.
        LATE_REST: Pause after late work, as a multiple of its duration.
    """

    LOOK_S: ClassVar[float | None] = 1.0
    LATE_REST: ClassVar[float] = 2.0
    _reading = _is_late_running = False
    _began = _rest_until = _late_after = 0.0
    _version: int | None = None
    _told = ""

    @abstractmethod
    def read(self) -> Any:
        """Return the data that the screen shows; runs in a thread."""

    @abstractmethod
    def show(self, data: Any) -> None:
        """Show what was read."""

    @property
    def request(self) -> object:
        """Return what the data depends on: data that was read for another request is not shown."""
        return None

    def must_read(self) -> bool:
        """Tell whether to read again although nothing was written."""
        return False

    def on_mount(self) -> None:
        # A read during the first frame would delay it.
        self.call_after_refresh(self.read_again)
        if self.LOOK_S is not None:
            self.set_interval(self.LOOK_S, self._check_changes)

    def on_screen_resume(self) -> None:
        if self._version is not None:
            self._rest_until = 0.0
            self._check_changes()

    def read_again(self) -> None:
        self._version = self.project.database.data_version()
        self._reading, self._began = True, time.monotonic()
        taken = partial(self._receive_data, self.request)
        self.in_background(self.read, taken, failed=self._finish_read, group=_GROUP, stops=True)

    def action_reload(self) -> None:
        self.read_again()

    def _check_changes(self) -> None:
        if self._reading or not self.is_active or time.monotonic() < self._rest_until:
            return
        if self.must_read() or self.project.database.data_version() != self._version:
            self.read_again()
        else:
            self._start_late()

    # -- what takes long ---------------------------------------------------------------------------

    def late(self) -> Callable[[], Any] | None:
        """Return work for a thread whose result follows what was read; None if there is none now."""
        return None

    def show_late(self, data: Any) -> None:
        """Show the result of late work."""

    def _start_late(self) -> None:
        if self._is_late_running or not self.is_active or time.monotonic() < self._late_after:
            return
        if (work := self.late()) is not None:
            self._is_late_running, began = True, time.monotonic()

            def finished(data: Any) -> None:
                self._pause_late(self.LATE_REST * (time.monotonic() - began))
                self.show_late(data)

            self.in_background(
                work, finished, failed=lambda _: self._pause_late(_AFTER_FAILURE_S), group=_LATE, stops=True
            )

    def _pause_late(self, pause: float) -> None:
        self._is_late_running, self._late_after = False, time.monotonic() + pause
        self.set_timer(pause + _TICK_S, self._start_late)

    def on_screen_suspend(self) -> None:
        self.workers.cancel_group(self, _LATE)
        self._is_late_running = False

    def _receive_data(self, request: object, data: Any) -> None:
        self._finish_read()
        self._told = ""
        if request == self.request:
            self.show(data)
            self._start_late()

    def _finish_read(self, error: Exception | None = None) -> None:
        now = time.monotonic()
        self._reading, self._rest_until = False, now + (now - self._began)
        if error is not None:
            self.show_failure(error)

    def show_failure(self, error: Exception) -> None:
        """Show that there is no data, before the error is shown."""

    def show_error(self, error: BaseException | None) -> None:
        """Show a notice, only once while the same error persists."""
        if str(error) != self._told:
            self._told = str(error)
            super().show_error(error)
