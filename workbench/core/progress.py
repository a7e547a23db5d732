"""Progress and cancellation of long work: the work reports its progress to a listener, and asks it whether to stop."""

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
"""The unit bytes; progress in it is shown as a percentage."""

_RECENT_SECONDS = 10.0
_MIN_SHARE = 0.02
"""Share of the work, at the recent pace, from which its end is estimated."""

_MAX_SAMPLES = 64

_MAX_SINGLE, _BATCH = 10_000, 500
"""Maximum number of values that are reported one by one, and how many are reported together if there are more."""


class Stopped(WorkbenchError):
    """The work was cancelled."""

    title = "Stopped"


class Step:
    """A step of long work, with its progress.

    Attributes:
        what: The step's name, a few words.
        done: How much is finished, in units.
        total: The step's size in units; None if unknown.
        unit: The unit of ``done`` and ``total``, in the plural.
        began: Time of its start on the monotonic clock.
    """

    def __init__(self, what: str, total: int | None, unit: str, now: float) -> None:
        self.what, self.total, self.unit, self.began = what, total, unit, now
        self.done = 0
        self._lately: list[tuple[float, int]] = [(now, 0)]

    def advance(self, by: int, now: float) -> None:
        self.done += by
        last = self._lately[-1]
        if now - last[0] < _RECENT_SECONDS / _MAX_SAMPLES and len(self._lately) > 1:
            return
        self._lately.append((now, self.done))
        while len(self._lately) > 2 and now - self._lately[1][0] > _RECENT_SECONDS:
            self._lately.pop(0)

    def seconds_left(self, now: float) -> float | None:
        """Return the remaining seconds at the recent pace; None if it can't be estimated yet.

        The time before the first advance is preparation and doesn't count for the pace.
        """
        if not self.total or len(self._lately) < 3:
            return None
        began, before = self._lately[0] if self._lately[0][1] else self._lately[1]
        done = self.done - before
        if done < _MIN_SHARE * self.total or now <= began:
            return None
        return max(self.total - self.done, 0) * (now - began) / done


class Listener:
    """Receives the progress of nested steps, the outermost first; any thread may read it.

    Args:
        is_over: Returns whether the work is cancelled; called at every advance.
    """

    def __init__(self, is_over: Callable[[], bool] | None = None) -> None:
        self._is_over, self._is_stopped = is_over, False
        self._lock = Lock()
        self._steps: list[Step] = []

    def current_steps(self) -> list[Step]:
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


def is_cancelled() -> bool:
    try:
        raise_if_cancelled()
    except Stopped:
        return True
    return False


@contextmanager
def step(what: str, total: int | None = None, unit: str = "") -> Iterator[Callable[[int], None]]:
    """Report a step; call the yielded function with the number of units finished since the last call.

    Raises:
        Stopped: The work was cancelled.
    """
    listener = _HEARD.get()
    if listener is None:
        yield _ignore_advance
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
    """Yield the values as the units of a step; a value counts as done when the next one is requested.

    Raises:
        Stopped: The work was cancelled.
    """
    if _HEARD.get() is None:
        yield from values
        return
    whole = len(values) if total is None and isinstance(values, Sized) else total
    together = 1 if whole is not None and whole <= _MAX_SINGLE else _BATCH
    with step(what, whole, unit) as advance:
        for number, value in enumerate(values, 1):
            yield value
            if number % together == 0:
                advance(together)


def _ignore_advance(_: int) -> None:
    """Ignore an advance, when there is no listener."""
