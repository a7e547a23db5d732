"""k of n verifiers accept."""

from __future__ import annotations

from typing import Any

from tests.auditing.plain.rates import Value, counted, rates


def figures(members: list[Any], protocol: str) -> dict[str, Value]:
    """Every k of n on the items with gold that all members have judged."""
    judged = [set(member[member["outcome"].notna()]["item"]) for member in members]
    items = set.intersection(*judged)
    frames = [member[member["item"].isin(items)].sort_values("item") for member in members]
    found: dict[str, Value] = {}
    for k in range(1, len(members) + 1):
        votes = [frame["outcome"].to_numpy() for frame in frames]
        outcome = [_vote([vote[place] for vote in votes], k) for place in range(len(frames[0]))]
        frame = frames[0].assign(outcome=outcome)
        row = rates(counted(frame, protocol))
        found |= {f"{k} of {len(members)} | {name}": value for name, value in row.items()}
    return found


def _vote(said: list[float], k: int) -> int:
    """Correct with k acceptances, incorrect where k can't be reached any more, else undecided."""
    if said.count(1) >= k:
        return 1
    return 0 if len(said) - said.count(0) < k else 2
