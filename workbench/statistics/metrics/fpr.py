"""The false-positive rate: FP / (FP + TN)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.statistics.metrics.metric import Metric, ratio

if TYPE_CHECKING:
    from workbench.statistics.confusion import Confusion


def fpr(counts: Confusion) -> float | None:
    return ratio(counts.fp, counts.fp + counts.tn)


FPR = Metric(
    name="FPR",
    heading="FPR",
    short="FPR",
    help="Share of the incorrect completions that are accepted",
    undefined="without incorrect completions",
    hint="wrong completions accepted",
    of=fpr,
    better="low",
).field()
