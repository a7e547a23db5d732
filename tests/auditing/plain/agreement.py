"""Agreement between annotators, from their labels."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

from tests.auditing.plain.rates import Value, ratio


def figures(labels: Any) -> dict[str, Value]:
    """Return all unweighted coefficients, overall and for every pair of annotators."""
    items = [list(part) for _, part in labels.groupby("subject")["value"]]
    paired = [labels_of_item for labels_of_item in items if len(labels_of_item) > 1]
    values = sorted(set(labels["value"]))
    observed = [_alike(labels_of_item) for labels_of_item in paired]
    percent = ratio(sum(observed), len(paired))
    found: dict[str, Value] = {
        "items": len(items),
        "paired": len(paired),
        "labels": len(labels),
        "percent_agreement": percent,
        "krippendorff_alpha": _alpha(paired),
        "gwet_ac1": None,
        "pabak": None,
        "fleiss_kappa": _fleiss(items),
    }
    k = len(values)
    if k > 1 and percent is not None:
        shares = [
            sum(labels_of_item.count(value) / len(labels_of_item) for labels_of_item in items) / len(items)
            for value in values
        ]
        chance = sum(share * (1 - share) for share in shares) / (k - 1)
        found["gwet_ac1"] = (percent - chance) / (1 - chance)
        found["pabak"] = (percent - 1 / k) / (1 - 1 / k)
    for a, b in combinations(sorted(set(labels["person"])), 2):
        found |= {f"{a} and {b} | {name}": value for name, value in _pair(labels, a, b).items()}
    return found


def _alike(labels_of_item: list[str]) -> float:
    pairs = list(permutations(labels_of_item, 2))
    return sum(one == other for one, other in pairs) / len(pairs)


def _alpha(paired: list[list[str]]) -> Value:
    """Return 1 - Do / De over the pairs of values of an item, each weighted by 1 / (m - 1)."""
    everything = [value for labels_of_item in paired for value in labels_of_item]
    n = len(everything)
    totals = {value: everything.count(value) for value in set(everything)}
    expected = n * n - sum(many * many for many in totals.values())
    if not expected:
        return None
    observed = sum((1 - _alike(labels_of_item)) * len(labels_of_item) for labels_of_item in paired)
    return 1 - observed * (n - 1) / expected


def _fleiss(items: list[list[str]]) -> Value:
    sizes = {len(labels_of_item) for labels_of_item in items}
    if len(sizes) != 1 or sizes == {1}:
        return None
    everything = [value for labels_of_item in items for value in labels_of_item]
    chance = sum((everything.count(value) / len(everything)) ** 2 for value in set(everything))
    observed = sum(map(_alike, items)) / len(items)
    return None if chance == 1 else (observed - chance) / (1 - chance)


def _pair(labels: Any, a: str, b: str) -> dict[str, Value]:
    one, other = (labels[labels["person"] == name].set_index("subject")["value"] for name in (a, b))
    both = one.index.intersection(other.index)
    if not len(both):
        return {}
    said_a, said_b = one[both], other[both]
    observed = float((said_a == said_b).mean())
    chance = sum(
        float((said_a == value).mean() * (said_b == value).mean()) for value in {*said_a.tolist(), *said_b.tolist()}
    )
    return {
        "n": len(both),
        "agreement": observed,
        "kappa": None if chance == 1 else (observed - chance) / (1 - chance),
    }
