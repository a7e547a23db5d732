"""Figures as they are printed: percentages and differences, ties rounded to the even digit."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

from workbench.core.text.figures import NONE

MINUS = "−"
"""The sign of a negative figure."""

_EXACT = 9
"""Digits of a percentage within which a float stands for the fraction it came from."""


def percentage(share: float | None, decimals: int = 1) -> str:
    """A share as a percentage without its sign: ``"12.35"``.

    A tie goes to the even digit, by the fraction that was meant and not by how its float falls: 1/32 and 3/32 are
    3.12 and 9.38.
    """
    return NONE if share is None else _rounded(share, decimals)


def difference(points: float | None, decimals: int = 1) -> str:
    """A difference of shares as percentage points with its sign: ``"+0.5"``, ``"−12.5"``."""
    if points is None:
        return NONE
    text = _rounded(points, decimals)
    return text if text.startswith(MINUS) else f"+{text}"


def _rounded(share: float, decimals: int) -> str:
    exact = Decimal(repr(round(100 * share, _EXACT)))
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN)
    return f"{rounded:f}".replace("-", MINUS) if rounded else f"{abs(rounded):f}"
