"""Reports as aligned columns of plain text."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from workbench.core.text.figures import NONE, percent
from workbench.core.text.inert import inert


def aligned(lines: Sequence[tuple[str, ...]], left: Collection[int] = (0,)) -> str:
    """Cells in columns, those in ``left`` to the left; control characters are shown, not obeyed."""
    safe = [[inert(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*safe, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in safe
    )


def number(value: float | None) -> str:
    """A figure at three decimals."""
    return NONE if value is None else f"{value:z.3f}"


def interval(ci: tuple[float, float] | None) -> str:
    """An interval at three decimals."""
    return NONE if ci is None else f"[{ci[0]:z.3f}, {ci[1]:z.3f}]"


def percent_interval(ci: tuple[float, float] | None) -> str:
    """A share's interval in percent."""
    return NONE if ci is None else f"[{percent(ci[0])}, {percent(ci[1])}]"


def p_value(p: float | None) -> str:
    """A p- or q-value as it is read: three digits, and no false precision near 0."""
    return NONE if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def one_decimal(value: float | None) -> str:
    """An expected count."""
    return NONE if value is None else f"{value:,.1f}"


def signed(value: float | None) -> str:
    """A difference to three digits, with its sign."""
    return NONE if value is None else f"{value:+.3f}"


def signed_interval(ends: tuple[float, float] | None) -> str:
    """A difference's interval."""
    return NONE if ends is None else f"[{ends[0]:+.3f}, {ends[1]:+.3f}]"


def whole(value: float | None) -> str:
    """A count that was estimated."""
    return NONE if value is None else f"{value:,.0f}"
