"""Figures of one confusion table, as fractions; None where a figure is undefined.

``correct`` is the positive class: TPR = TP / (TP + FN), TNR = TN / (TN + FP).
"""

from __future__ import annotations

from math import sqrt

from workbench.statistics.confusion import Confusion


def accuracy(counts: Confusion) -> float | None:
    """(TP + TN) / n; None without rows."""
    return _ratio(counts.tp + counts.tn, counts.n)


def balanced_accuracy(counts: Confusion) -> float | None:
    """(TPR + TNR) / 2; None when gold lacks a class.

    Source: Brodersen et al., "The balanced accuracy and its posterior distribution", ICPR 2010.
    """
    sensitivity = _ratio(counts.tp, counts.tp + counts.fn)
    specificity = _ratio(counts.tn, counts.tn + counts.fp)
    if sensitivity is None or specificity is None:
        return None
    return (sensitivity + specificity) / 2


def mcc(counts: Confusion) -> float | None:
    """(TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN)).

    None when gold lacks a class; 0 when gold holds both and every verdict is the same.

    Source: Matthews, "Comparison of the predicted and observed secondary structure of T4 phage
    lysozyme", Biochimica et Biophysica Acta 405, 1975.
    """
    tp, fp, tn, fn = counts.tp, counts.fp, counts.tn, counts.fn
    if not tp + fn or not tn + fp:
        return None
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return (tp * tn - fp * fn) / sqrt(product) if product else 0.0


def fpr(counts: Confusion) -> float | None:
    """FP / (FP + TN), the share of wrong completions accepted; None when there are none."""
    return _ratio(counts.fp, counts.fp + counts.tn)


def fnr(counts: Confusion) -> float | None:
    """FN / (FN + TP), the share of right completions refused; None when there are none."""
    return _ratio(counts.fn, counts.fn + counts.tp)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
