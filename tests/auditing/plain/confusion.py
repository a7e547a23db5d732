"""Verifiers against gold and against each other: counts, and the overlap of their errors."""

from __future__ import annotations

from math import sqrt
from typing import Any

from tests.auditing.plain.rates import Value, counted, ratio, table


def figures(frame: Any, protocol: str) -> dict[str, Value]:
    """Return the counts of one verifier."""
    tp, fp, tn, fn = table(counted(frame, protocol))
    every = frame[frame["gold"].notna() & frame["outcome"].notna()]
    undecided = {name: int((every["outcome"] == code).sum()) for name, code in (("abstain", 2), ("error", 3))}
    return {"tp": tp, "fp": fp, "tn": tn, "fn": fn, **undecided}


def together(one: Any, other: Any) -> dict[str, Value]:
    """Return the agreement of two verifiers on the items that both judged; an undecided verdict is never right."""
    both = one[["item", "gold", "outcome"]].merge(other[["item", "outcome"]], on="item", suffixes=("_a", "_b"))
    both = both[both["outcome_a"].notna() & both["outcome_b"].notna()]
    a, b = both["outcome_a"].clip(upper=2), both["outcome_b"].clip(upper=2)
    n, same = len(both), float((a == b).mean()) if len(both) else 0.0
    chance = sum(float((a == word).mean() * (b == word).mean()) for word in (0, 1, 2)) if n else 1.0
    known = both[both["gold"].notna()]
    wrong_a, wrong_b = known["outcome_a"] != known["gold"], known["outcome_b"] != known["gold"]
    cells = {(x, y): int(((wrong_a == x) & (wrong_b == y)).sum()) for x in (True, False) for y in (True, False)}
    alike, unlike = cells[True, True] * cells[False, False], cells[True, False] * cells[False, True]
    margins = float(wrong_a.sum() * (~wrong_a).sum()) * float(wrong_b.sum() * (~wrong_b).sum())
    return {
        "n": n,
        "agreement": same if n else None,
        "kappa": None if chance == 1 else (same - chance) / (1 - chance),
        "both wrong": cells[True, True],
        "phi": (alike - unlike) / sqrt(margins) if margins else None,
        "yules_q": ratio(alike - unlike, alike + unlike),
    }
