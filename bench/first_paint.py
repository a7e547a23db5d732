"""From the start of the process to Home's first complete frame, and to its counts, at 1,000 and 1,450,000 items.

The real app runs on a pseudo-terminal of 120x40. Usage: python -m bench.first_paint
"""

from __future__ import annotations

from pathlib import Path

from bench.figures import median, report
from bench.synthetic import FULL, cached
from bench.terminal import Terminal, workbench

_SIZES = (1_000, FULL)
_GOAL_MS = 400.0
_ROUNDS = 9


def main() -> None:
    """Measure and print."""
    for items in _SIZES:
        path = cached(items)
        frames, counts = zip(*(_start(path, items) for _ in range(_ROUNDS)), strict=True)
        report(f"home_first_paint_{items}", median(frames), "ms", _GOAL_MS)
        report(f"home_counts_{items}", median(counts), "ms")


def _start(path: Path, items: int) -> tuple[float, float]:
    """Return the milliseconds to the first complete frame (its last line is the footer) and to the number of items."""
    with Terminal(workbench("open", str(path))) as terminal:
        frame = terminal.until_text("Quit") - terminal.started
        counts = terminal.until_text(f"{items:,} items") - terminal.started
    return frame * 1000, counts * 1000


if __name__ == "__main__":
    main()
