"""Heat cells: a figure's step between two ends, as a glyph beside its number and as a tint behind it."""

from __future__ import annotations

from typing import Final

GLYPHS: Final = "▁▂▃▄▅▆▇█"
"""One glyph a step; its height tells the step where there is no colour."""

STEPS: Final = len(GLYPHS)
"""Steps of a heat cell."""


def shade(value: float, low: float, high: float) -> int:
    """The step a value falls into when the way from `low` to `high` is cut into `STEPS` equal parts.

    Args:
        value: A figure; what lies outside counts as the nearer end.
        low: The lower end of the first step.
        high: The upper end of the last step.

    Returns:
        From 0 to ``STEPS - 1``; a value on the border of two steps belongs to the upper one.

    Raises:
        ValueError: `low` is not below `high`, or a number is not one.
    """
    if not low < high or value != value:
        raise ValueError(f"no step for {value} between {low} and {high}")
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return min(int(share * STEPS), STEPS - 1)


def tint(step: int, *, rising: bool) -> float:
    """How good a step is: from -1, the worst, to 1, the best.

    Args:
        step: As `shade` gives it.
        rising: Whether more of the figure is better.
    """
    height = 2 * step / (STEPS - 1) - 1
    return height if rising else -height


def scale_words(low: str, high: str) -> str:
    """What the glyphs stand for: ``"▁ 0 … █ 100"``."""
    return f"{GLYPHS[0]} {low} … {GLYPHS[-1]} {high}"
