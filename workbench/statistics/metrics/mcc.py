"""Matthews' correlation coefficient: (TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN)).

Source: Matthews, "Comparison of the predicted and observed secondary structure of T4 phage lysozyme", Biochimica et
Biophysica Acta 405, 1975.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from workbench.statistics.metrics.metric import Metric

if TYPE_CHECKING:
    from workbench.statistics.confusion import Confusion


def mcc(counts: Confusion) -> float | None:
    tp, fp, tn, fn = counts.tp, counts.fp, counts.tn, counts.fn
    if not tp + fn or not tn + fp:
        return None
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return (tp * tn - fp * fn) / sqrt(product) if product else 0.0


MCC = Metric(
    name="MCC",
    heading="MCC",
    short="MCC",
    help="Matthews' correlation of gold and verdicts, 0 if all verdicts are the same",
    undefined="if gold lacks a class",
    of=mcc,
    unit="",
    low=-1.0,
    interval="mcc_ci",
).field()
