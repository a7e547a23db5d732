"""Progress of long work, and whether it has been cancelled: reported by the worker, observed by the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from time import monotonic
from typing import Final, TypeVar

from workbench.core.errors import WorkbenchError

T = TypeVar("T")

BYTES: Final = "bytes"
"""The unit that is shown as a percentage."""

_LATELY_S = 10.0
_ENOUGH = 0.02
"""Share of the work, at the recent pace, from which its end is estimated."""

_MOST = 64

_EACH, _TOGETHER = 10_000, 500
"""Most values that are reported individually; with more, the number that is reported together."""


class Stopped(WorkbenchError):
    """The work was cancelled."""

    title = "Stopped"


class Step:
    """A part of the work in progress.

    Attributes:
        what: Its name, a few words.
        done: The finished part.
        total: Its size; None if unknown.
        unit: The unit of both, in the plural.
        began: Its start, by the monotonic clock.
    """

    def __init__(self, what: str, total: int | None, unit: str, now: float) -> None:
        self.what, self.total, self.unit, self.began = what, total, unit, now
        self.done = 0
        self._lately: list[tuple[float, int]] = [(now, 0)]

    def advance(self, by: int, now: float) -> None:
        self.done += by
        last = self._lately[-1]
        if now - last[0] < _LATELY_S / _MOST and len(self._lately) > 1:
            return
        self._lately.append((now, self.done))
        while len(self._lately) > 2 and now - self._lately[1][0] > _LATELY_S:
            self._lately.pop(0)

    def left(self, now: float) -> float | None:
        """Return the remaining seconds at the recent pace; None if it can't be estimated yet.

        Time before the first advance is preparation and doesn't count for the pace.
        """
        if not self.total or len(self._lately) < 3:
            return None
        began, before = self._lately[0] if self._lately[0][1] else self._lately[1]
        done = self.done - before
        if done < _ENOUGH * self.total or now <= began:
            return None
        return max(self.total - self.done, 0) * (now - began) / done


class Listener:
    """Receives the progress of steps, the outermost first; any thread may read it.

    Args:
        is_over: Whether the work is cancelled; called at every advance.
    """

    def __init__(self, is_over: Callable[[], bool] | None = None) -> None:
        self._is_over, self._is_stopped = is_over, False
        self._lock = Lock()
        self._steps: list[Step] = []

    def under_way(self) -> list[Step]:
        with self._lock:
            return list(self._steps)

    def began(self, step: Step) -> None:
        with self._lock:
            self._steps.append(step)

    def ended(self, step: Step) -> None:
        with self._lock:
            self._steps.remove(step)

    def raise_if_cancelled(self) -> None:
        """Raise if the work was cancelled.

        Raises:
            Stopped: The work was cancelled.
        """
        if self._is_stopped or (self._is_over is not None and self._is_over()):
            raise Stopped("Stopped.")

    def stop(self) -> None:
        self._is_stopped = True


_HEARD: ContextVar[Listener | None] = ContextVar("heard", default=None)


@contextmanager
def listening_with(listener: Listener) -> Iterator[Listener]:
    token = _HEARD.set(listener)
    try:
        yield listener
    finally:
        _HEARD.reset(token)


def listening() -> Listener | None:
    return _HEARD.get()


def raise_if_cancelled() -> None:
    """Raise if this thread's work was cancelled.

    Raises:
        Stopped: The work was cancelled.
    """
    if (listener := _HEARD.get()) is not None:
        listener.raise_if_cancelled()


def stopped() -> bool:
    try:
        raise_if_cancelled()
    except Stopped:
        return True
    return False


@contextmanager
def step(what: str, total: int | None = None, unit: str = "") -> Iterator[Callable[[int], None]]:
    """Report a step; the yielded function is called with the additional finished part.

    Raises:
        Stopped: The work was cancelled.
    """
    listener = _HEARD.get()
    if listener is None:
        yield _nothing
        return
    own = Step(what, total, unit, monotonic())

    def advance(by: int) -> None:
        own.advance(by, monotonic())
        listener.raise_if_cancelled()

    listener.raise_if_cancelled()
    listener.began(own)
    try:
        yield advance
    finally:
        listener.ended(own)


def stepping(values: Iterable[T], what: str, unit: str = "", total: int | None = None) -> Iterator[T]:
    """Yield the values, each a part of a step that is done when the next one is requested.

    Raises:
        Stopped: The work was cancelled.
    """
    if _HEARD.get() is None:
        yield from values
        return
    whole = len(values) if total is None and isinstance(values, Sized) else total
    together = 1 if whole is not None and whole <= _EACH else _TOGETHER
    with step(what, whole, unit) as advance:
        for number, value in enumerate(values, 1):
            yield value
            if number % together == 0:
                advance(together)


def _nothing(_: int) -> None:
    """Do nothing, without a listener."""
