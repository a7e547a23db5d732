"""One JSON line per metric: ``{"figure", "value", "unit", "goal", "ok"}``; a goal is text such as ``"<= 80"``."""

from __future__ import annotations

import json
from collections.abc import Sequence


def report(figure: str, value: float, unit: str, goal: float | None = None, *, at_least: bool = False) -> None:
    """Print a metric.

    Args:
        goal: The value that it should not exceed, if there is one.
        at_least: The value should reach the goal instead.
    """
    shown = round(value, 2)
    text = ok = None
    if goal is not None:
        text = f"{'>=' if at_least else '<='} {goal:g}"
        ok = shown >= goal if at_least else shown <= goal
    print(json.dumps({"figure": figure, "value": shown, "unit": unit, "goal": text, "ok": ok}), flush=True)


def left_out(figure: str, why: str) -> None:
    """Print that a metric could not be measured."""
    print(json.dumps({"figure": figure, "left_out": why}), flush=True)


def p90(values: Sequence[float]) -> float:
    """Return the 90th percentile, by nearest rank."""
    return sorted(values)[min(len(values) - 1, int(0.9 * len(values)))]


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile, by nearest rank."""
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]


def median(values: Sequence[float]) -> float:
    """Return the median, by nearest rank."""
    return sorted(values)[len(values) // 2]
