"""Triage of the largest cell at 1,000 and 1,450,000 items: the time to the first card, and from card to card.

The real app runs on a pseudo-terminal of 120x40. Usage: python -m bench.triage
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from bench.figures import p95, report
from bench.synthetic import FULL, VERIFIER, cached
from bench.terminal import Terminal, workbench

_SIZES = (1_000, FULL)
_OPENS_MS, _KEY_MS = 1_000.0, 50.0
_MORE_MB = 20.0
_PRESSES = 150
_SETTLED_S = 0.6


def main() -> None:
    """Measure and print."""
    for items in _SIZES:
        _measure(cached(items), items)


def _measure(path: Path, items: int) -> None:
    with Terminal(workbench("open", str(path))) as terminal:
        terminal.until_text("Browse")
        _settle(terminal)
        terminal.go_to("y")
        terminal.until_text(f"{VERIFIER} · all · accuracy")
        _settle(terminal)
        # The cell of all items comes first.
        sent = terminal.send("m")
        report(f"triage_opens_{items}", (terminal.until_text("case 1 of") - sent) * 1000, "ms", _OPENS_MS)
        _settle(terminal)
        before = _resident(terminal.process.pid)
        presses = []
        for _ in range(_PRESSES):
            presses.append(terminal.press("]"))
            time.sleep(0.01)
        report(f"triage_next_case_p95_{items}", p95(presses), "ms")
        report(f"triage_next_case_longest_{items}", max(presses), "ms", _KEY_MS)
        report(f"triage_memory_grows_{items}", _resident(terminal.process.pid) - before, "MB", _MORE_MB)


def _resident(process: int) -> float:
    """Return the resident memory of a process in megabytes."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


def _settle(terminal: Terminal) -> None:
    """Let the app finish drawing."""
    with suppress(TimeoutError):
        terminal.until_quiet(quiet=_SETTLED_S, first=_SETTLED_S)


if __name__ == "__main__":
    main()
