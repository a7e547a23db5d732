"""Balanced accuracy: (TPR + TNR) / 2.

Source: Brodersen et al., "The balanced accuracy and its posterior distribution", ICPR 2010.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.statistics.metrics.metric import Metric, ratio

if TYPE_CHECKING:
    from workbench.statistics.confusion import Confusion


def balanced_accuracy(counts: Confusion) -> float | None:
    sensitivity = ratio(counts.tp, counts.tp + counts.fn)
    specificity = ratio(counts.tn, counts.tn + counts.fp)
    return None if sensitivity is None or specificity is None else (sensitivity + specificity) / 2


BALANCED_ACCURACY = Metric(
    name="balanced accuracy",
    heading="bal. acc.",
    short="BA",
    help="Mean of the shares of correct and of incorrect completions that are recognised",
    undefined="if gold lacks a class",
    of=balanced_accuracy,
    interval="balanced_accuracy_ci",
).field()
