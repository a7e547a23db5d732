"""Formats numbers as text: digits, bars, intervals, aligned columns and heat cells."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from typing import Final, Literal

from workbench.core.errors import opt
from workbench.core.text.inert import inert

_NO_ROOM = {"Mn", "Me", "Cf"}
"""Unicode categories without width: marks on other characters, and joiners."""

NONE = "–"
"""The sign of an undefined value."""
_EIGHTHS = " ▏▎▍▌▋▊▉"
_MAX_NAMED = 4
"""Most names that are listed; of more, the first three are listed and the others counted."""


class Narration(str):
    """A line of a report that is a remark to the user, not data: the command line prints it on stderr."""

    __slots__ = ()


SHOWN = 20
"""Number of entries of a list that a report shows."""


def some(lines: Sequence[str]) -> list[str]:
    """Return the first `SHOWN` lines, and a line with the number of further ones."""
    if len(lines) <= SHOWN:
        return list(lines)
    return [*lines[:SHOWN], f"… and {len(lines) - SHOWN:,} more; {opt.json} has them all."]


def time_to_minute(at: str) -> str:
    """Format a time for lists, to the minute: ``2026-11-28 14:05``. Details show it in full."""
    return at.replace("T", " ")[:16]


def bar(value: float, width: int) -> str:
    """Return a horizontal bar in eighths of a cell.

    Args:
        value: A share from 0 to 1; values outside are clipped.
        width: Width of a full bar in cells; the result is padded to it.
    """
    eighths = round(_clipped(value) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def interval_bar(value: float, lo: float, hi: float, width: int, line: float | None = None) -> str:
    """Draw an estimate and its interval on a line from 0 to 1: ``  ├──●───┤  ``.

    Args:
        value: The estimate, a share from 0 to 1.
        lo: The interval's lower end.
        hi: The interval's upper end.
        width: Width of the line from 0 to 1 in cells; the result is padded to it.
        line: A share to compare with, drawn as ``┊``, or as ``┼`` inside the interval; the ends and the estimate are
            drawn over it.
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
    """Format a share as a percentage without its sign (``"81.2"``); ``"–"`` for None."""
    return NONE if value is None or value != value else f"{100 * value:.{decimals}f}"


def compact_count(count: int) -> str:
    """Format a count in at most five characters: ``"999"``, ``"12.3k"``, ``"1.45M"``."""
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
    """Format US dollars with cents, or more digits if the cents are zero."""
    return f"${cost:.4f}" if 0 < cost < 0.1 else f"${cost:,.2f}"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def verb_wait(number: int) -> str:
    return "waits" if number == 1 else "wait"


def listed(names: Sequence[str], last: Literal["and", "or"] = "and") -> str:
    """Join names for a sentence: ``a, b and c``; of many names, the first ones and the number of the others."""
    if len(names) > _MAX_NAMED:
        names = (*names[: _MAX_NAMED - 1], f"{len(names) - _MAX_NAMED + 1} more")
    return f" {last} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


# -- Reports as aligned columns of plain text.


def width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(character) in _NO_ROOM else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )


def padded(text: str, room: int, *, left: bool) -> str:
    """Pad a text with spaces to ``room`` cells: after the text if it is left-aligned, otherwise before it."""
    blanks = " " * (room - width(text))
    return text + blanks if left else blanks + text


def aligned(lines: Sequence[tuple[str, ...]], left: Collection[int] = (0,)) -> str:
    """Align cells in columns, the columns in ``left`` to the left; control characters are made visible."""
    safe = [[inert(cell) for cell in line] for line in lines]
    widths = [max(map(width, column)) for column in zip(*safe, strict=True)]
    return "\n".join(
        "  ".join(
            padded(cell, room, left=place in left) for place, (cell, room) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in safe
    )


def number(value: float | None) -> str:
    return NONE if value is None else f"{value:z.3f}"


def interval(ci: tuple[float, float] | None) -> str:
    return NONE if ci is None else f"[{ci[0]:z.3f}, {ci[1]:z.3f}]"


def percent_interval(ci: tuple[float, float] | None) -> str:
    return NONE if ci is None else f"[{percent(ci[0])}, {percent(ci[1])}]"


def p_value(p: float | None) -> str:
    """Format a p- or q-value with three decimals, four below 0.01, ``< 0.0001`` below that."""
    return NONE if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def one_decimal(value: float | None) -> str:
    return NONE if value is None else f"{value:,.1f}"


def signed_number(value: float | None) -> str:
    return NONE if value is None else f"{value:+.3f}"


def signed_interval(ends: tuple[float, float] | None) -> str:
    return NONE if ends is None else f"[{ends[0]:+.3f}, {ends[1]:+.3f}]"


def whole_number(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f}"


# -- Heat cells: a value's step on a scale, as a glyph next to the number and as a background tint.


GLYPHS: Final = "▁▂▃▄▅▆▇█"
"""One glyph for each colour step; its height shows the step where there is no colour."""
STEPS: Final = len(GLYPHS)
"""Number of colour steps of a heat cell."""


def shade(value: float, low: float, high: float) -> int:
    """Return the step of a value on a scale: the range from `low` to `high` is cut into `STEPS` equal steps.

    Args:
        value: A number; values outside the range are clipped.
        low: The lower end of the first step.
        high: The upper end of the last step.

    Returns:
        From 0 to ``STEPS - 1``; a value on the border of two steps belongs to the upper one.

    Raises:
        ValueError: `low` is not below `high`, or a number is NaN.
    """
    if not low < high or value != value:
        raise ValueError(f"no step for {value} between {low} and {high}")
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return min(int(share * STEPS), STEPS - 1)


def tint(step: int, *, rising: bool) -> float:
    """Return how good a step is: from -1, the worst, to 1, the best.

    Args:
        step: As `shade` returns it.
        rising: Whether higher values are better.
    """
    height = 2 * step / (STEPS - 1) - 1
    return height if rising else -height


def scale_words(low: str, high: str) -> str:
    return f"{GLYPHS[0]} {low} … {GLYPHS[-1]} {high}"


def points(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:+.1f}"


def points_interval(ends: tuple[float, float] | None) -> str:
    return NONE if ends is None else f"[{points(ends[0])}, {points(ends[1])}]"
