"""Compares each item's verdicts before and after a change: the change fixes or breaks a verdict, or does neither."""

from __future__ import annotations

import numpy as np

from workbench.core.verdict import OutcomeCode, Protocol3
from workbench.statistics.accuracy import group_order
from workbench.statistics.confusion import BoolArray, IntArray, defined, grade
from workbench.statistics.records.flips import FLIP_KINDS, FlipKind, FlipRow

UNCHANGED = -1


def flip_code(kind: FlipKind) -> int:
    return FLIP_KINDS.index(kind)


def flips(before: IntArray, after: IntArray, gold: IntArray, protocol: Protocol3) -> IntArray:
    """Return each item's kind of change, as a position in `FLIP_KINDS`; `UNCHANGED` without a change (int8).

    An item without both verdicts has no change.

    Args:
        before: One outcome for each row, -1 for none.
        after: One new outcome for each row, -1 for none.
        gold: One gold label for each row, -1 for none.
        protocol: How undecided rows are counted.
    """
    found = np.full(len(gold), UNCHANGED, dtype=np.int8)
    changed = (before >= 0) & (after >= 0) & (before != after)
    was, now = grade(before, gold, protocol), grade(after, gold, protocol)
    decided_before, decided_after = before < OutcomeCode.ABSTAIN, after < OutcomeCode.ABSTAIN
    found[changed] = flip_code("other")
    found[changed & ~decided_before & decided_after] = flip_code("now_decided")
    found[changed & decided_before & ~decided_after] = flip_code("now_undecided")
    found[changed & was.right & now.counted & ~now.right] = flip_code("broken")
    found[changed & was.counted & ~was.right & now.right] = flip_code("fixed")
    found[changed & (gold < 0)] = flip_code("without_gold")
    return found


def flip_rows(
    before: IntArray, after: IntArray, gold: IntArray, protocol: Protocol3, group: IntArray, names: tuple[str, ...]
) -> list[FlipRow]:
    """Return the metrics over all rows, then those of each group that has rows.

    Args:
        group: Each row's position in ``names``.
    """
    kinds = flips(before, after, gold, protocol)
    both = (gold >= 0) & (before >= 0) & (after >= 0)
    was, now = grade(before, gold, protocol), grade(after, gold, protocol)

    def row(name: str | None, rows: BoolArray) -> FlipRow:
        counts = {kind: int(np.count_nonzero(kinds[rows] == at)) for at, kind in enumerate(FLIP_KINDS)}
        return FlipRow(
            group=name,
            n=int(np.count_nonzero(rows)),
            accuracy_before=_share(was.right & rows, was.counted & rows),
            accuracy_after=_share(now.right & rows, now.counted & rows),
            fixed=counts["fixed"],
            broken=counts["broken"],
            now_decided=counts["now_decided"],
            now_undecided=counts["now_undecided"],
            other=counts["other"],
        )

    there = sorted(np.unique(group[both]).tolist(), key=lambda at: group_order(names[at]))
    return [row(None, both), *(row(names[at], both & (group == at)) for at in there)]


def _share(right: BoolArray, counted: BoolArray) -> float | None:
    n = np.count_nonzero(counted)
    return defined(np.count_nonzero(right) / n) if n else None
