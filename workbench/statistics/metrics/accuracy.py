"""Accuracy: (TP + TN) / n."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.statistics.metrics.metric import Metric, ratio

if TYPE_CHECKING:
    from workbench.statistics.confusion import Confusion


def accuracy(counts: Confusion) -> float | None:
    return ratio(counts.tp + counts.tn, counts.n)


ACCURACY = Metric(
    name="accuracy",
    heading="accuracy",
    short="acc",
    help="Share of the counted verdicts that equal gold",
    undefined="without rows",
    of=accuracy,
    interval="ci",
).field()
