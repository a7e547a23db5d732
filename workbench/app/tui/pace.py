"""A person's activity and speed: keys and time spent looking."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from workbench.app.tui.kit.title_bar import RemarkPiece


class Elapsed(NamedTuple):
    """Milliseconds since the start, in total and in use (focused, not idle), and the keys pressed meanwhile."""

    open_ms: int
    focused_ms: int
    keys: int


class Stopwatch:
    """Measures times and keys from ``start`` on; focused time excludes idle time and time without terminal focus."""

    def __init__(self, work: AtWork) -> None:
        self._work = work
        self.start()

    def start(self) -> None:
        self._started, self._looked, self._keys = self._work.now(), self._work.looked, self._work.keys

    def elapsed(self) -> Elapsed:
        work = self._work
        return Elapsed(
            open_ms=round(1000 * (work.now() - self._started)),
            focused_ms=round(1000 * (work.looked - self._looked)),
            keys=work.keys - self._keys,
        )


IDLE_S: Final = 60.0
"""Seconds after the last key or mouse event after which the person counts as away."""


class AtWork:
    """The activity of one person, from the app's start on; the app reports every key, mouse event and change of focus.

    Attributes:
        keys: Keys pressed so far.
        acted_at: Clock time of the last key press or click; None before the first one.

    Args:
        clock: Returns the current time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._focused = True
        self._seen = clock()
        self._looked = 0.0
        self.keys = 0
        self.acted_at: float | None = None

    def now(self) -> float:
        return self._clock()

    def press(self, late: float = 0.0) -> None:
        """Record that a key was pressed.

        Args:
            late: Seconds from the key press to this call.
        """
        self.click(late)
        self.keys += 1
        self.focus(True)

    def click(self, late: float = 0.0) -> None:
        self.touch()
        self.acted_at = self._seen - late

    def touch(self) -> None:
        away = self._clock() - self._seen
        self._looked = self.looked
        self._seen += away

    def focus(self, focused: bool) -> None:
        if focused != self._focused:
            self.touch()
            self._focused = focused

    @property
    def looked(self) -> float:
        """Return the seconds the terminal has had focus since the app started, without idle time."""
        return self._looked + (min(self._clock() - self._seen, IDLE_S) if self._focused else 0.0)


# -- How fast a person labels: labels since the app started, seconds a label, and the time that what is left will
# take.


ENOUGH: Final = 5
"""Minimum number of labels from which a pace is computed."""


class Pace:
    """Focused times of the items one person has labelled since the app started.

    Corrections of earlier labels are not included.
    """

    def __init__(self) -> None:
        self._took: dict[int, int] = {}
        self._taken_back: dict[int, int] = {}

    def label(self, completion: int, focused_ms: int) -> None:
        """Record an item's time; if it is stored again (its type, a note, after an undo), its longest time counts."""
        self._took[completion] = max(focused_ms, self.longest(completion))

    def take_back(self, completion: int) -> None:
        if completion in self._took:
            self._taken_back[completion] = self._took.pop(completion)

    def longest(self, completion: int) -> int:
        """Return an item's longest time in milliseconds, even if its label was retracted; 0 if it is new."""
        return max(self._took.get(completion, 0), self._taken_back.get(completion, 0))

    @property
    def labels(self) -> int:
        return len(self._took)

    @property
    def seconds(self) -> float | None:
        """Return the median seconds per label; None with fewer than `ENOUGH` labels."""
        times = sorted(self._took.values())
        middle = len(times) // 2
        return (times[middle] + times[~middle]) / 2000 if len(times) >= ENOUGH else None

    def to_go(self, left: int) -> float | None:
        """Estimate the seconds for the remaining items; None with fewer than `ENOUGH` labels.

        The estimate uses the mean, because a sum of times grows with the mean, and some items take many times the
        median.
        """
        return left * sum(self._took.values()) / self.labels / 1000 if self.labels >= ENOUGH else None


def pace_parts(pace: Pace, left: int) -> Iterator[RemarkPiece]:
    """Yield the pace as parts of the title line; the remaining time is kept longest when there is little space.

    Args:
        left: Items still to label.
    """
    if pace.labels:
        yield RemarkPiece(f"{pace.labels:,} this session", rank=5)
    each, to_go = pace.seconds, pace.to_go(left)
    if each is not None:
        yield RemarkPiece(f"{about(each)} each", rank=3)
    if to_go:
        yield RemarkPiece(f"≈ {about(to_go)} to go", rank=2)


def about(seconds: float) -> str:
    """Format a time roughly, such as ``1.4 s``, ``38 s``, ``12 min`` or ``3.5 h``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
