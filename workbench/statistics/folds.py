"""Cross-fitting: choices made on some questions and evaluated on the others, so that no metric has selection bias."""

from __future__ import annotations

from math import sqrt

import numpy as np
from msgspec import structs

from workbench.statistics.confusion import IntArray
from workbench.statistics.intervals import compact
from workbench.statistics.records.comparison import PairedFigures

SEED = 0
"""Seed of the folds."""


def fold_of(question: IntArray, folds: int, seed: int = SEED) -> IntArray:
    """Return each item's fold, from 0: questions are assigned at random, with all their items, as evenly as possible.

    Source: Stone, "Cross-validatory choice and assessment of statistical predictions", JRSS B 36, 1974, with
    questions as the units.

    Raises:
        ValueError: There are fewer questions than folds, or fewer than two folds.
    """
    place, known = compact(question)
    if not 2 <= folds <= len(known):
        raise ValueError(f"{folds} folds of {len(known)} questions")
    return np.random.default_rng(seed).permutation(len(known))[place] % folds


def widened_for_selection(figures: PairedFigures, folds: int) -> PairedFigures:
    """Widen the interval of a difference of verifiers that were selected or fitted on the questions outside each fold.

    Each fold's choice depends on the other folds' items, so errors of folds are dependent. The variance of a mean of J
    folds counts as 1/J + 1/(J - 1) times that of a fold instead of 1/J: the interval becomes wider by the square root
    of the ratio, p is recomputed from a normal deviate divided by the same factor, and the detectable difference is
    multiplied by it. McNemar's test can't account for the selection, so its p is None. For verifiers that guess or are
    equally good, 95 %
    intervals that ignore the choice contain the true difference in .76 to .92 of cases. Source: Nadeau and Bengio,
    "Inference for the generalization error", Machine Learning 52, 2003, section 3.

    Args:
        figures: The metrics computed as if the verifier had been fixed in advance.
        folds: J, at least 2.
    """
    from scipy.special import ndtr, ndtri

    wider = sqrt(1 + folds / (folds - 1))
    at, (low, high) = figures.difference, figures.ci
    return structs.replace(
        figures,
        ci=(max(-1.0, at - wider * (at - low)), min(1.0, at + wider * (high - at))),
        permutation_p=float(2 * ndtr(ndtri(figures.permutation_p / 2) / wider)),
        mcnemar_p=None,
        detectable=None if figures.detectable is None else min(1.0, wider * figures.detectable),
    )
