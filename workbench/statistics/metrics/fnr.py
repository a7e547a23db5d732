"""The false-negative rate: FN / (FN + TP)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.statistics.metrics.metric import Metric, ratio

if TYPE_CHECKING:
    from workbench.statistics.confusion import Confusion


def fnr(counts: Confusion) -> float | None:
    return ratio(counts.fn, counts.fn + counts.tp)


FNR = Metric(
    name="FNR",
    heading="FNR",
    short="FNR",
    help="Share of the correct completions that are rejected",
    undefined="without correct completions",
    hint="right completions rejected",
    of=fnr,
    better="low",
).field()
