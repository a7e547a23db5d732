"""Two verifiers on the items that count for both."""

from __future__ import annotations

from typing import Any

from tests.auditing.plain.rates import Value, counted, rates


def figures(one: Any, other: Any, protocol: str) -> dict[str, Value]:
    """Return how often each is right, and the difference."""
    a, b = counted(one, protocol), counted(other, protocol)
    a, b = a[a["item"].isin(b["item"])], b[b["item"].isin(a["item"])]
    if not len(a):
        return {}
    right_a, right_b = (a["gold"] == a["said"]).to_numpy(), (b["gold"] == b["said"]).to_numpy()
    of_a, of_b = rates(a), rates(b)
    found: dict[str, Value] = {
        "n": len(a),
        "questions": a["question"].nunique(),
        "both_right": int((right_a & right_b).sum()),
        "only_a": int((right_a & ~right_b).sum()),
        "only_b": int((~right_a & right_b).sum()),
        "both_wrong": int((~right_a & ~right_b).sum()),
        "difference": float(right_a.mean() - right_b.mean()),
        "accuracy_a": float(right_a.mean()),
        "accuracy_b": float(right_b.mean()),
    }
    for metric in ("accuracy", "balanced_accuracy", "mcc"):
        found |= {f"{metric} of A": of_a[metric], f"{metric} of B": of_b[metric]}
    return found
