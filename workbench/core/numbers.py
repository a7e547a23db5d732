"""Numbers from outside that figures are counted from."""

from __future__ import annotations

from typing import Final

MOST: Final = 1e100
"""Beyond it squares, and sums of them, leave what a float can hold."""


def is_figure(value: float) -> bool:
    """Whether a number can be counted with: it is finite, and no larger than any measure is."""
    return -MOST <= value <= MOST
