"""Verdicts and scores as probabilities of being correct."""

from __future__ import annotations

from typing import Any

from tests.auditing.plain.rates import Value, auroc

_PARTS = 10


def figures(frame: Any) -> dict[str, Value]:
    """Return metrics that need no fit: the verdict as 1 or 0, and the unscaled score."""
    counted = frame[frame["gold"].notna() & frame["outcome"].notna() & frame["score"].notna()]
    counted = counted[counted["score"].abs() < float("inf")]
    found: dict[str, Value] = {}
    if counted["outcome"].isin((0, 1)).all():
        found |= _reading("verdict", counted, counted["outcome"].astype(float), chances=True)
    found |= _reading("score", counted, counted["score"], chances=bool(counted["score"].between(0, 1).all()))
    return found


def _reading(name: str, counted: Any, chance: Any, *, chances: bool) -> dict[str, Value]:
    gold = counted["gold"]
    right = ((chance >= 0.5) == (gold == 1)).mean()
    return {
        f"{name} | auroc": auroc(chance.to_numpy(), gold.to_numpy()),
        f"{name} | ece": _error(chance, gold) if chances else None,
        f"{name} | brier": float(((chance - gold) ** 2).mean()) if chances else None,
        f"{name} | accuracy": float(right) if chances else None,
    }


def _error(chance: Any, gold: Any) -> float:
    """Return the calibration error: items in tenths by probability (ties together), mean probability against share
    correct."""
    n, below = len(chance), 0
    parts: dict[int, list[float]] = {}
    for value, many in sorted(chance.value_counts().items()):
        part = int((below + many / 2) * _PARTS / n)
        parts.setdefault(part, []).extend((chance - gold)[chance == value])
        below += many
    return sum(abs(sum(off)) for off in parts.values()) / n
