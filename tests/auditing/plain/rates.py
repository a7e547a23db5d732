"""Metrics of one list of verdicts against gold."""

from __future__ import annotations

from math import sqrt
from typing import Any

Value = float | None
UNDECIDED = (2, 3)


def counted(frame: Any, protocol: str) -> Any:
    """Return rows with gold and a verdict that a protocol counts, with the counted verdict in ``said``."""
    found = frame[frame["gold"].notna() & frame["outcome"].notna()].copy()
    open_ = found["outcome"].isin(UNDECIDED)
    found["said"] = found["outcome"]
    if protocol == "decided":
        return found[~open_]
    found.loc[open_, "said"] = 0 if protocol == "forced" else 1 - found.loc[open_, "gold"]
    return found


def table(frame: Any) -> tuple[int, int, int, int]:
    """Return true positives, false positives, true negatives, false negatives."""
    gold, said = frame["gold"], frame["said"]
    pairs = ((1, 1), (0, 1), (0, 0), (1, 0))
    tp, fp, tn, fn = (int(((gold == truth) & (said == word)).sum()) for truth, word in pairs)
    return tp, fp, tn, fn


def ratio(part: float, whole: float) -> Value:
    """Return a share; None if the whole is zero."""
    return part / whole if whole else None


def accuracy(frame: Any) -> Value:
    """Return the share of rows that are right."""
    return ratio(float((frame["gold"] == frame["said"]).sum()), len(frame))


def rates(frame: Any) -> dict[str, Value]:
    """Return accuracy and the rates derived from the four counts."""
    tp, fp, tn, fn = table(frame)
    tpr, tnr = ratio(tp, tp + fn), ratio(tn, tn + fp)
    both = tpr is not None and tnr is not None
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    mcc = (tp * tn - fp * fn) / sqrt(product) if product else 0.0
    return {
        "n": len(frame),
        "questions": frame["question"].nunique(),
        "accuracy": accuracy(frame),
        "balanced_accuracy": ((tpr or 0.0) + (tnr or 0.0)) / 2 if both else None,
        "mcc": mcc if both else None,
        "fpr": None if tnr is None else 1 - tnr,
        "fnr": None if tpr is None else 1 - tpr,
    }


def auroc(score: Any, gold: Any) -> Value:
    """Return the probability that a correct item scores above an incorrect one; a tie counts one half."""
    from scipy.stats import mannwhitneyu

    right, wrong = score[gold == 1], score[gold == 0]
    if not len(right) or not len(wrong):
        return None
    return float(mannwhitneyu(right, wrong).statistic) / (len(right) * len(wrong))
