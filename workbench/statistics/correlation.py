"""How far a verifier's scores follow the gold labels: Kendall, Pearson and Spearman, over all rows and by question."""

from __future__ import annotations

from typing import Final

import numpy as np
from msgspec import Struct

from workbench.statistics.arrays import FloatArray, IntArray

METHODS: Final = ("kendall", "pearson", "spearman")


class Correlation(Struct, frozen=True, kw_only=True):
    """One coefficient, from -1 to 1.

    Attributes:
        corpus: Over all rows; None where scores or labels don't vary.
        mean: Mean of the groups' own coefficients; None where none has one.
        defined: Groups with a coefficient: both their scores and their labels vary.
        groups: Groups with any row.
    """

    corpus: float | None
    mean: float | None
    defined: int
    groups: int


def correlations(score: FloatArray, gold: IntArray, group: IntArray) -> dict[str, Correlation]:
    """Kendall's tau-b, Pearson's r and Spearman's rho between scores and gold labels, by name.

    Example-level means over the groups in which the coefficient is defined, as in ICE-Score (arXiv 2304.14317).

    Args:
        score: One score a row, in any unit, NaN for none: such rows don't count.
        gold: 1 correct, 0 incorrect, -1 none: such rows don't count either.
        group: Each row's group, such as its question.
    """
    kept = (gold >= 0) & ~np.isnan(score)
    score, gold, group = score[kept], gold[kept], group[kept]
    order = np.argsort(group, kind="stable")
    rows = np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else []
    found = {}
    for method in METHODS:
        own = [one for row in rows if (one := _coefficient(method, score[row], gold[row])) is not None]
        found[method] = Correlation(
            corpus=_coefficient(method, score, gold),
            mean=float(np.mean(own)) if own else None,
            defined=len(own),
            groups=len(rows),
        )
    return found


def _coefficient(method: str, score: FloatArray, gold: IntArray) -> float | None:
    from scipy import stats

    if len(score) == 0 or np.ptp(score) == 0 or np.ptp(gold) == 0:
        return None
    measure = {"kendall": stats.kendalltau, "pearson": stats.pearsonr, "spearman": stats.spearmanr}[method]
    return float(measure(score, gold).statistic)
