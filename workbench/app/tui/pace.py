"""How fast a person labels: labels since the app started, seconds a label, and the time that what is left will take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workbench.app.tui.kit.title_bar import RemarkPiece

ENOUGH: Final = 5
"""Labels from which a pace is more than chance."""


class Pace:
    """Focused times of the items labelled since the app started; corrections of earlier labels don't count."""

    def __init__(self) -> None:
        self._took: dict[int, int] = {}
        self._taken_back: dict[int, int] = {}

    def label(self, completion: int, focused_ms: int) -> None:
        """An item was labelled; said again (its type, another note, after an undo), the longest time counts."""
        self._took[completion] = max(focused_ms, self.longest(completion))

    def take_back(self, completion: int) -> None:
        """The label was taken back."""
        if completion in self._took:
            self._taken_back[completion] = self._took.pop(completion)

    def longest(self, completion: int) -> int:
        """The longest that an item took, in milliseconds, also before its label was taken back; 0 where it is new."""
        return max(self._took.get(completion, 0), self._taken_back.get(completion, 0))

    @property
    def labels(self) -> int:
        """Items labelled."""
        return len(self._took)

    @property
    def seconds(self) -> float | None:
        """Median seconds a label; None before there are enough."""
        times = sorted(self._took.values())
        middle = len(times) // 2
        return (times[middle] + times[~middle]) / 2000 if len(times) >= ENOUGH else None

    def to_go(self, left: int) -> float | None:
        """Seconds that so many items will take; None before there are enough.

        By the mean: a sum of times grows with their mean, and some items take many times the median.
        """
        return left * sum(self._took.values()) / self.labels / 1000 if self.labels >= ENOUGH else None


def pace_parts(pace: Pace, left: int) -> Iterator[RemarkPiece]:
    """The pace in pieces of a remark; the time to go is what a person wants most.

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
    """A time roughly, such as ``1.4 s``, ``38 s``, ``12 min`` or ``3.5 h``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
