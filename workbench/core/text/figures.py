"""Figures as text: bars and intervals of block characters, the number always beside or in place of them."""

from __future__ import annotations

NONE = "–"
"""What stands for a figure that does not exist."""

_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(value: float, width: int) -> str:
    """A horizontal bar of eighths of a cell.

    Args:
        value: A share from 0 to 1; values outside are clipped.
        width: Cells of a full bar; the result is padded to it.
    """
    eighths = round(_clipped(value) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def interval_bar(value: float, lo: float, hi: float, width: int, line: float | None = None) -> str:
    """An estimate and its interval on a line from 0 to 1: ``  ├──●───┤  ``.

    Args:
        value: The estimate, a share from 0 to 1.
        lo: The interval's lower end.
        hi: The interval's upper end.
        width: Cells from 0 to 1; the result is padded to it.
        line: A share to compare with, as ``┊``, or ``┼`` inside the interval; an end or the estimate covers it.
    """
    if width <= 0:
        return ""
    first, point, last = (round(_clipped(share) * (width - 1)) for share in (lo, value, hi))
    cells = [" "] * width
    for at in range(first, last + 1):
        cells[at] = "─"
    if line is not None:
        at = round(_clipped(line) * (width - 1))
        cells[at] = "┼" if cells[at] == "─" else "┊"
    cells[first], cells[last] = "├", "┤"
    cells[point] = "●"
    return "".join(cells)


def percent(value: float | None, decimals: int = 1) -> str:
    """A share as a percentage without its sign (``"81.2"``); ``"–"`` for None."""
    return NONE if value is None or value != value else f"{100 * value:.{decimals}f}"


def compact_count(count: int) -> str:
    """A count in at most five characters: ``"999"``, ``"12.3k"``, ``"1.45M"``."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= max(size * 0.9995, 1000):
            scaled = count / size
            decimals = 2 if scaled < 9.995 else 1 if scaled < 99.95 else 0
            number = f"{scaled:.{decimals}f}"
            return (number.rstrip("0").rstrip(".") if decimals else number) + unit
    return str(count)


def _clipped(value: float) -> float:
    return 0.0 if value != value else min(max(value, 0.0), 1.0)


def dollars(cost: float) -> str:
    """US dollars, with cents, or more digits where cents say nothing."""
    return f"${cost:.4f}" if 0 < cost < 0.1 else f"${cost:,.2f}"


def counted(number: int, noun: str) -> str:
    """A number of things in words: ``1 item``, ``1,234 items``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
