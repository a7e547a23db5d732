"""How many items with gold it takes for an accuracy to be known with a given precision."""

from __future__ import annotations

from math import ceil, sqrt

from workbench.statistics.intervals import Z95, wilson


def half_width(accuracy: float, n: int, deff: float) -> float:
    """Half of the 95 % interval of ``analysis.intervals`` for an accuracy on ``n`` items.

    It falls as ``n`` grows, from 0.5 without items.

    Args:
        deff: The design effect, at least 1; ``n / deff`` independent items tell as much.
    """
    effective = n / deff
    lo, hi = wilson(accuracy * effective, effective)
    return (hi - lo) / 2


def needed(accuracy: float, deff: float, within: float) -> int:
    """The least number of items whose interval is no wider than ± ``within``.

    With w = ``within``, q = p (1 - p) and m effective items, z sqrt(q m + z²/4) / (m + z²) = w is the quadratic
    w² m² + z² (2 w² - q) m + z⁴ (w² - 1/4) = 0; m is its greater root and n = ceil(m deff).

    Args:
        accuracy: The accuracy expected on them, 0 to 1; 0.5 takes most.
        deff: The design effect, at least 1.
        within: Between 0 and 0.5, both excluded.
    """
    z2, w2 = Z95 * Z95, within * within
    b, c = z2 * (2 * w2 - accuracy * (1 - accuracy)), z2 * z2 * (w2 - 0.25)
    items = ceil(deff * (-b + sqrt(b * b - 4 * w2 * c)) / (2 * w2))
    # The root is a float: the next number may be the one.
    while half_width(accuracy, items, deff) > within:
        items += 1
    while items > 0 and half_width(accuracy, items - 1, deff) <= within:
        items -= 1
    return items
