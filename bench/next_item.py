"""From the label key to the next item, with completions of 56,000 characters; the same for ``]`` on an item's screen.

The real app runs on a pseudo-terminal of 120x40, and for labels on one of 80x24 too. An item is shown when its question
is drawn, and settled with the last byte, after it has scrolled to its end.

Usage: python -m bench.next_item
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bench.figures import median, p95, report
from bench.synthetic import cached
from bench.terminal import Terminal, workbench
from workbench.core.project import open_project
from workbench.labelling.people import assign

_ITEMS, _CHARACTERS, _LABELS = 240, 56_000, 100
_SIZES = ((80, 24), (120, 40))
_PAINTED_MS, _SETTLED_MS, _BESIDE_MS = 50.0, 100.0, 80.0
_QUIET_S = 0.08
"""Seconds without output after which an item is settled: longer than the gap before the scroll to its end."""

_THINKING_S = 0.4
"""Seconds between two labels: less than a reader needs."""

_PROBLEM = re.compile(r"Problem (\d+)\.")


class Shown(NamedTuple):
    """The milliseconds from a key to the item, and to the last byte."""

    painted: float
    settled: float


def main() -> None:
    """Measure and print."""
    source = cached(_ITEMS, verdicts=False, labelled=0, pad=_CHARACTERS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copy(source, Path(folder) / "next.db"))
        project = open_project(path)
        assign(project, ["ann"], per_item=1)
        project.close()
        for columns, rows in _SIZES:
            shown = labels(path, columns, rows)
            figure = f"label_to_next_item_{columns}x{rows}"
            _report(figure, [one.painted for one in shown], _PAINTED_MS)
            _report(f"{figure}_settled", [one.settled for one in shown], _SETTLED_MS)
        _report("next_item_beside", [one.painted for one in neighbours(path)], _BESIDE_MS)


def labels(path: Path, columns: int, rows: int) -> list[Shown]:
    """Measure the time from the label key to the next item."""
    with Terminal(workbench("open", str(path), "--as", "ann"), columns, rows) as terminal:
        terminal.until_text("Annotate")
        _settle(terminal)
        terminal.go_to("a")
        terminal.until_text("Problem")
        return [_to_next(terminal, "1" if number % 2 else "0") for number in range(_LABELS)]


def neighbours(path: Path) -> list[Shown]:
    """Measure the time from ``]`` to the next item of the table."""
    with Terminal(workbench("open", str(path))) as terminal:
        terminal.until_text("Browse")
        _settle(terminal)
        terminal.go_to("b")
        terminal.until_text(f"1 of {_ITEMS}")
        _settle(terminal)
        terminal.send("enter")
        terminal.until_text("Completion")
        return [_to_next(terminal, "]") for _ in range(_LABELS)]


def _to_next(terminal: Terminal, key: str) -> Shown:
    _settle(terminal)
    sent = terminal.send(key)
    _until(terminal, lambda: _PROBLEM.search(terminal.text()) is not None)
    painted = settled = time.perf_counter()
    with suppress(TimeoutError):
        settled = terminal.until_quiet(quiet=_QUIET_S, first=_QUIET_S)
    return Shown((painted - sent) * 1000, (settled - sent) * 1000)


def _until(terminal: Terminal, done: Callable[[], bool]) -> None:
    while not done():
        terminal.until_quiet(quiet=0.001)


def _settle(terminal: Terminal) -> None:
    with suppress(TimeoutError):
        terminal.until_quiet(quiet=_THINKING_S, first=_THINKING_S)


def _report(figure: str, times: list[float], goal: float) -> None:
    report(f"{figure}_p95", p95(times), "ms", goal)
    report(f"{figure}_median", median(times), "ms")


if __name__ == "__main__":
    main()
