"""What keeps a runner from storing, since when, and how that is said."""

from __future__ import annotations

from datetime import datetime

from workbench.core import processes
from workbench.core.errors import Cause, StoreError

_BUSY_S = 10.0
"""Others may keep a database locked for so long without a word."""

WAITING: dict[Cause, str] = {
    "space": "waiting for space",
    "disk": "waiting for the disk",
    "busy": "waiting for another process, which keeps the database locked",
    "access": "waiting until it may write",
    "moved": "waiting for the database, which was moved: put it back",
    "replaced": "waiting for the database, in whose place another file stands: put it back",
}
"""What a runner does whose transactions fail, by the cause."""


class Trouble:
    """Transactions fail, one after the other.

    Attributes:
        error: What the first one failed on.
        since: When that was, in seconds since the epoch.
        told: It has been said.
    """

    def __init__(self, error: StoreError) -> None:
        self.error = error
        self.since = processes.wall()
        self.told = False
        self._began = processes.uptime()

    @property
    def lasted(self) -> float:
        """For how many seconds by now."""
        return processes.uptime() - self._began

    @property
    def is_worth_telling(self) -> bool:
        """Whether it is more than the usual crowd."""
        return self.error.cause != "busy" or self.lasted >= _BUSY_S

    def over(self) -> str:
        """It has passed: from when to when, and what it was."""
        end = processes.wall()
        # A clock may have been set meanwhile.
        return f"nothing could be stored from {clock(end - self.lasted)} to {clock(end)}: {self.error.message}"


def clock(seconds: float) -> str:
    """A time as a person here reads it from the wall: ``"08:57"``, with the date where that is another day's."""
    try:
        at = datetime.fromtimestamp(seconds)
    except (ValueError, OverflowError, OSError):
        # Whoever wrote it down may have written anything.
        return "an unknown time"
    today = datetime.fromtimestamp(processes.wall())
    return f"{at:%H:%M}" if at.date() == today.date() else f"{at:%Y-%m-%d %H:%M}"
