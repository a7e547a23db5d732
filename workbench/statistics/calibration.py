"""Calibration of scores as probabilities of being correct: error measures, and maps that reduce the error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import numpy as np
from msgspec import Struct

from workbench.statistics.bootstrap import Interval, percentiles
from workbench.statistics.confusion import FloatArray, IntArray

BINS: Final = 10
"""Number of bins of items by probability, of sizes as equal as possible."""
SAMPLES: Final = 1_000
_MIN_SAMPLES: Final = 100
_MAX_DRAWN: Final = 2 * 10**8
_MAX_ROUNDS: Final = 100
_TOLERANCE: Final = 1e-12
_MIN_CHANCE: Final = 1e-6
"""Probabilities are clipped to this value and 1 minus it where their odds are needed."""
Map = Callable[[FloatArray], FloatArray]
"""Maps scores to probabilities."""
CalibrationMethod = Literal["platt", "isotonic"]


class ReliabilityBin(Struct, frozen=True, kw_only=True):
    """Items with similar probabilities.

    Attributes:
        n: Number of items.
        mean: The items' mean probability.
        rate: Share of correct items.
    """

    n: int
    mean: float
    rate: float


# -- Expected calibration error, and its bins.


def equal_mass(chance: FloatArray, bins: int = BINS) -> IntArray:
    """Return each item's bin, from 0, by its probability; equal probabilities share a bin.

    Source: Nixon et al., "Measuring Calibration in Deep Learning" (CVPR workshops 2019): bins of equal size are more
    informative than bins of equal width if probabilities cluster at the ends.
    """
    _, place, count = np.unique(chance, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - count / 2
    _, part = np.unique((middle * bins / max(len(chance), 1)).astype(np.int64), return_inverse=True)
    return np.asarray(part[place])


def calibration_error(chance: FloatArray, gold: IntArray, part: IntArray) -> float | None:
    """Return the expected calibration error: the mean over items of |mean probability - share correct| in the item's
    bin; None without items.

    Source: Naeini, Cooper and Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning", AAAI 2015.
    """
    return float(np.abs(np.bincount(part, weights=chance - gold)).sum() / len(chance)) if len(chance) else None


def calibration_interval(chance: FloatArray, gold: IntArray, part: IntArray, question: IntArray, seed: int) -> Interval:
    """Return the bootstrap interval of `calibration_error` over questions, with fixed bins.

    Resampling adds error, so the interval of well calibrated probabilities stays above 0.
    """
    known, place = np.unique(question, return_inverse=True)
    parts, clusters = int(part.max(initial=-1)) + 1, len(known)
    order = np.argsort(place, kind="stable")
    place, off, part = place[order], (chance - gold)[order], part[order]
    generator = np.random.default_rng(seed)
    samples = max(_MIN_SAMPLES, min(SAMPLES, _MAX_DRAWN // max(clusters, 1)))
    found = np.empty(samples if clusters else 0)
    for at in range(len(found)):
        often = np.bincount(generator.integers(clusters, size=clusters), minlength=clusters)[place]
        found[at] = np.abs(np.bincount(part, weights=off * often, minlength=parts)).sum() / often.sum()
    return percentiles(found)


def reliability(chance: FloatArray, gold: IntArray, part: IntArray) -> list[ReliabilityBin]:
    size = np.bincount(part)
    chances, correct = np.bincount(part, weights=chance), np.bincount(part, weights=gold)
    return [
        ReliabilityBin(n=int(n), mean=float(total / n), rate=float(right / n))
        for n, total, right in zip(size, chances, correct, strict=True)
    ]


# -- Maps from scores to probabilities.


def fit_map(score: FloatArray, gold: IntArray, method: CalibrationMethod) -> Map:
    """Fit a map to rows with gold 1 or 0, which has both values."""
    return platt(score, gold) if method == "platt" else isotonic(score, gold)


def platt(score: FloatArray, gold: IntArray) -> Map:
    """Fit Platt's sigmoid 1 / (1 + exp(-(a s + b))), with his targets, by Newton's method.

    Sources: Platt, "Probabilistic outputs for support vector machines", 1999; Lin, Lin and Weng, "A note on Platt's
    probabilistic outputs for support vector machines", Machine Learning 68, 2007.
    """
    correct = int(gold.sum())
    wrong = len(gold) - correct
    target = np.where(gold == 1, (correct + 1) / (correct + 2), 1 / (wrong + 2))
    # The squares of very large scores may overflow.
    most = float(np.abs(score).max()) or 1.0
    centre, spread = float((score / most).mean()), float((score / most).std()) or 1.0
    a, b = 0.0, float(np.log((correct + 1) / (wrong + 1)))
    at = (score / most - centre) / spread
    loss = _log_loss(a, b, at, target)
    for _ in range(_MAX_ROUNDS):
        p = _sigmoid(a * at + b)
        slope = np.array([(at * (p - target)).sum(), (p - target).sum()])
        weight = p * (1 - p)
        off = float((weight * at).sum())
        curve = np.array([[float((weight * at * at).sum()), off], [off, float(weight.sum())]]) + _TOLERANCE * np.eye(2)
        step = np.linalg.solve(curve, slope)
        size = 1.0
        while (tried := _log_loss(a - size * step[0], b - size * step[1], at, target)) > loss and size > _TOLERANCE:
            size /= 2
        a, b, gained, loss = float(a - size * step[0]), float(b - size * step[1]), loss - tried, tried
        if gained <= _TOLERANCE * max(abs(loss), 1):
            break
    return lambda scores: _sigmoid(a * ((scores / most - centre) / spread) + b)


def _log_loss(a: float, b: float, at: FloatArray, target: FloatArray) -> float:
    value = a * at + b
    return float((np.logaddexp(0, value) - target * value).sum())


def _sigmoid(value: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.clip(value, -500, 500))))


def isotonic(score: FloatArray, gold: IntArray) -> Map:
    """Fit the increasing map with the least squared error: pooled adjacent violators, linear between the fitted points.

    Sources: Barlow et al., "Statistical Inference under Order Restrictions", 1972; Zadrozny and Elkan, "Transforming
    classifier scores into accurate multiclass probability estimates", KDD 2002.
    """
    known, place = np.unique(score, return_inverse=True)
    weight = np.bincount(place).astype(np.float64)
    blocks: list[tuple[float, float, int]] = []
    for right, size in zip(np.bincount(place, weights=gold), weight, strict=True):
        blocks.append((float(right), float(size), 1))
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            above, below = blocks.pop(), blocks.pop()
            blocks.append((below[0] + above[0], below[1] + above[1], below[2] + above[2]))
    level = np.repeat([right / size for right, size, _ in blocks], [count for *_, count in blocks])
    return lambda scores: np.interp(scores, known, level)


def odds(score: FloatArray) -> FloatArray:
    kept = np.clip(score, _MIN_CHANCE, 1 - _MIN_CHANCE)
    return np.asarray(np.log(kept / (1 - kept)))


def fold_of(question: IntArray, folds: int, seed: int = 0) -> IntArray:
    """Return each item's fold, from 0: questions are assigned at random, with all their items, as evenly as possible.

    Source: Stone, "Cross-validatory choice and assessment of statistical predictions", JRSS B 36, 1974, with
    questions as the units.
    """
    known, place = np.unique(question, return_inverse=True)
    return np.random.default_rng(seed).permutation(len(known))[place] % folds


def cross_fitted(score: FloatArray, gold: IntArray, fold: IntArray, method: CalibrationMethod) -> FloatArray | None:
    """Return each item's probability by the map fitted on the other folds; None if, for some fold, the others lack
    correct or incorrect items.
    """
    found = np.empty(len(score))
    for held in np.unique(fold).tolist():
        inside = fold == held
        rest = gold[~inside]
        if rest.all() or not rest.any():
            return None
        found[inside] = fit_map(score[~inside], rest, method)(score[inside])
    return found
