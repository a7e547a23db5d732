"""Tables of accuracy: every verifier over all items and by group, and both averages."""

from __future__ import annotations

from typing import Any

from tests.auditing.plain.rates import UNDECIDED, Value, accuracy, auroc, counted, rates, ratio

AGAINST = {"subtype": "type"}
"""The groups against whose accuracy a group's delta is computed; all items for any other group."""


def figures(frame: Any, protocol: str, by: str | None) -> dict[str, Value]:
    """Return (group, metric) -> value, of one verifier's frame."""
    found = {f"all | {name}": value for name, value in _row(frame, protocol).items()}
    whole = accuracy(counted(frame, protocol))
    found["all | micro"] = whole
    if by is None:
        shares = [accuracy(part) for _, part in counted(frame, protocol).groupby("type")]
        found["all | macro"] = ratio(sum(share or 0.0 for share in shares), len(shares))
        return found
    shares = [accuracy(part) for _, part in counted(frame, protocol).groupby(by)]
    found["all | macro"] = ratio(sum(share or 0.0 for share in shares), len(shares))
    # A group without countable items is an empty row.
    for group, part in frame.groupby(by):
        row = _row(part, protocol)
        wider = frame[frame[AGAINST[by]] == part[AGAINST[by]].iloc[0]] if by in AGAINST else frame
        base = accuracy(counted(wider, protocol))
        row["delta"] = None if row["accuracy"] is None or base is None else row["accuracy"] - base
        found |= {f"{by} {group} | {name}": value for name, value in row.items()}
    return found


def _row(frame: Any, protocol: str) -> dict[str, Value]:
    every = frame[frame["gold"].notna() & frame["outcome"].notna()]
    scored = frame[frame["gold"].notna() & frame["score"].notna()]
    return rates(counted(frame, protocol)) | {
        "coverage": ratio(float((~every["outcome"].isin(UNDECIDED)).sum()), len(every)),
        "auroc": auroc(scored["score"].to_numpy(), scored["gold"].to_numpy()),
    }
