"""Browse at 1,000 and 1,450,000 items: the time from a key to the last byte drawn, and of searches and filters.

The real app runs on a pseudo-terminal of 120x40. Usage: python -m bench.browse
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from bench.figures import median, p95, report
from bench.synthetic import FULL, VERIFIER, cached
from bench.terminal import Terminal, workbench
from workbench.core.project import Project, open_project
from workbench.core.selection import parse_condition
from workbench.data.records import BrowseQuery
from workbench.measuring.browsing import ItemTable

_SMALL = 1_000
_KEY_MS, _RATIO, _VIEW_MS = 20.0, 1.2, 1_000.0
_BUSY_MS = 50.0
"""The longest delay of a key while a query runs in a thread."""

_PAUSE_S = 0.01
_SETTLED_S = 0.6
_PAGES = 20
_SEARCHING_S = 0.35
_FILTERS = ("model=model-a", "type=A", "state=final", f"verdict:{VERIFIER}=abstain")
_SEARCH = "attempt 140000"


def main() -> None:
    """Measure and print."""
    found: dict[str, dict[int, list[float]]] = {}
    for items in (_SMALL, FULL):
        for key, times in keys(cached(items), items).items():
            found.setdefault(key, {})[items] = times
    for key, by_size in found.items():
        for items, times in by_size.items():
            report(f"browse_{key}_p95_{items}", p95(times), "ms", _KEY_MS)
        medians = (median(by_size[FULL]), median(by_size[_SMALL]))
        report(f"browse_{key}_median_{FULL}", medians[0], "ms")
        report(f"browse_{key}_median_ratio", medians[0] / medians[1], "x", _RATIO)
    small, full = ([time for times in found.values() for time in times[items]] for items in (_SMALL, FULL))
    report("browse_key_p95_ratio", p95(full) / p95(small), "x", _RATIO)
    views(cached(FULL))


def keys(path: Path, items: int) -> dict[str, list[float]]:
    """Return the milliseconds of each press, by key."""
    with Terminal(workbench("open", str(path))) as terminal:
        opened = _open(terminal, items)
        report(f"browse_opens_{items}", opened, "ms", _VIEW_MS)
        found = {"down": _presses(terminal, "down", 120)}
        pages: list[float] = []
        for _ in range(5):
            _press(terminal, "home")
            pages += _presses(terminal, "page down", _PAGES)
        found["page_down"] = pages
        ends: list[float] = []
        for _ in range(20):
            ends += [_press(terminal, "end"), _press(terminal, "home")]
        found["home_end"] = ends
    return found


def views(path: Path) -> None:
    """Return the milliseconds until filters, a search and a sort are complete; and of a key pressed during one."""
    project = open_project(path)
    with Terminal(workbench("open", str(path))) as terminal:
        _open(terminal, FULL)
        for text in _FILTERS:
            count = _count(project, BrowseQuery(conditions=(parse_condition(text),)))
            report(f"browse_filter {text}", _view(terminal, "f", text, count), "ms", _VIEW_MS)
        count = _count(project, BrowseQuery(search=_SEARCH))
        report(f"browse_search {_SEARCH}", _view(terminal, "/", _SEARCH, count), "ms", 2 * _VIEW_MS)
        report("browse_key_during_search_p95", p95(_during_search(terminal)), "ms", _BUSY_MS)
        for column in ("type ▲", "state ▲"):
            terminal.press("right")
            took = _until(terminal, "s", partial(terminal.until_text, column))
            report(f"browse_sort {column}", took, "ms", 2 * _VIEW_MS)
            _settle(terminal)
    project.close()


def _count(project: Project, query: BrowseQuery) -> int:
    return len(ItemTable(project, query).ids())


def _open(terminal: Terminal, items: int) -> float:
    terminal.until_text("Browse")
    _settle(terminal)
    sent = terminal.go_to("b")
    milliseconds = (terminal.until_text(f"1 of {items:,}") - sent) * 1000
    _settle(terminal)
    return milliseconds


def _view(terminal: Terminal, key: str, text: str, count: int) -> float:
    """Return the time from enter to the complete view; then return to all items."""
    terminal.press(key)
    terminal.press(text)
    milliseconds = _until(terminal, "enter", lambda: terminal.until_text(f"of {count:,}"))
    _settle(terminal)
    terminal.send("escape")
    terminal.until_text(f"of {FULL:,}")
    _settle(terminal)
    return milliseconds


def _during_search(terminal: Terminal) -> list[float]:
    """Return the times of presses of a key between the first rows of a search and the last."""
    found = []
    for number in range(5):
        terminal.press("/")
        terminal.press(str(number))
        sent = terminal.send("enter")
        terminal.until_quiet()
        while time.perf_counter() - sent < _SEARCHING_S:
            found.append(_press(terminal, "down"))
        _settle(terminal)
        terminal.send("escape")
        _settle(terminal)
    return found


def _until(terminal: Terminal, key: str, wait: Callable[[], float]) -> float:
    sent = terminal.send(key)
    return (wait() - sent) * 1000


def _presses(terminal: Terminal, key: str, times: int) -> list[float]:
    return [_press(terminal, key) for _ in range(times)]


def _press(terminal: Terminal, key: str) -> float:
    milliseconds = terminal.press(key)
    time.sleep(_PAUSE_S)
    return milliseconds


def _settle(terminal: Terminal) -> None:
    """Let the app finish drawing."""
    with suppress(TimeoutError):
        terminal.until_quiet(quiet=_SETTLED_S, first=_SETTLED_S)


if __name__ == "__main__":
    main()
