"""How many to take of each stratum: largest remainders, and what a stratum gives back that it can't fill."""

from __future__ import annotations

from collections.abc import Mapping


def largest_remainder(weights: Mapping[str, int], count: int) -> dict[str, int]:
    """``floor(n W_s / W)`` of each stratum, then one more each by descending fraction, ties by name.

    Nothing for anybody where all weights are 0.
    """
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(weights, 0)
    shares = {name: count * weight // total for name, weight in weights.items()}
    by_fraction = sorted(weights, key=lambda name: (-(count * weights[name] % total), name))
    for name in by_fraction[: count - sum(shares.values())]:
        shares[name] += 1
    return shares


def apportion(weights: Mapping[str, int], count: int, room: Mapping[str, int]) -> dict[str, int]:
    """`largest_remainder`, where a stratum takes no more than it has room for.

    The rest goes to the others by the same rule, again and again; to those without weight, by their room, once all
    others are full. The sum is ``count``, or all the room there is.
    """
    taken = dict.fromkeys(weights, 0)
    while left := count - sum(taken.values()):
        open_ = {name: weight for name, weight in weights.items() if taken[name] < room[name]}
        if not any(open_.values()):
            open_ = {name: room[name] - taken[name] for name in open_}
        if not open_:
            break
        for name, share in largest_remainder(open_, left).items():
            taken[name] += min(share, room[name] - taken[name])
    return taken
