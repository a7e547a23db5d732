"""How far a command is, on stderr: one line anew on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic

from workbench.core.progress import BYTES, Listener, Step, heard_by
from workbench.core.text.inert import inert

AFTER_S = 2.0
"""What is done sooner says nothing."""

_ANEW_S = 0.2
_SPARSELY_S = 10.0
_CLEAR = "\r\x1b[K"

_OWN_LINE = threading.Event()
"""Set while a command shows a line of its own."""


@contextmanager
def showing_progress() -> Iterator[None]:
    """Show the steps of what is done meanwhile."""
    listener, over = Listener(), threading.Event()
    shown = threading.Thread(target=_show, args=(listener, over), daemon=True)
    shown.start()
    try:
        with heard_by(listener):
            yield
    finally:
        over.set()
        shown.join()


@contextmanager
def one_line() -> Iterator[Callable[[str], None] | None]:
    """What writes one line on a terminal anew, and is gone afterwards; None where there is no terminal.

    The steps are not shown meanwhile.
    """
    _OWN_LINE.set()
    try:
        if not sys.stderr.isatty():
            yield None
            return
        try:
            yield lambda words: _put(f"{_CLEAR}{inert(words)}")
        finally:
            _put(_CLEAR)
    finally:
        _OWN_LINE.clear()


def _show(listener: Listener, over: threading.Event) -> None:
    on_terminal = sys.stderr.isatty()
    every = _ANEW_S if on_terminal else _SPARSELY_S
    last, is_drawn = -every, False
    while not over.wait(_ANEW_S):
        steps, now = listener.under_way(), monotonic()
        is_long = bool(steps) and not _OWN_LINE.is_set() and now - steps[0].began >= AFTER_S
        if is_long and now - last >= every:
            last, is_drawn = now, on_terminal
            line = inert(line_of(steps, now))
            _put(f"{_CLEAR}{line}" if on_terminal else f"{line}\n")
        elif is_drawn and not steps:
            is_drawn = False
            _put(_CLEAR)
    if is_drawn:
        _put(_CLEAR)


def _put(text: str) -> None:
    # Whoever has closed stderr is not told; the work goes on.
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


def line_of(steps: Sequence[Step], now: float) -> str:
    """What is done, how far each part is, and how long the whole takes yet or has taken."""
    left = steps[0].left(now)
    time = f"{_seconds(now - steps[0].began)} so far" if left is None else f"{_seconds(left)} to go"
    return f"{' · '.join(map(_words, steps))}, {time}"


def _words(step: Step) -> str:
    if step.total is None:
        return f"{step.what}: {step.done:,} {step.unit}".rstrip() if step.done else step.what
    if step.unit == BYTES:
        return f"{step.what}: {min(step.done / max(step.total, 1), 1):.0%}"
    return f"{step.what}: {step.done:,} of {step.total:,} {step.unit}".rstrip()


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
