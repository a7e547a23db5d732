"""Accuracy on correct completions (TPR) and on incorrect completions (TNR), and the metrics that follow from both.

Intervals of these metrics combine those of the shares, so that they are valid if a class is rare: "square and add" of
Zou and Donner, "Construction of confidence limits about effect measures: a general approach", Statistics in Medicine
27, 2008. The lower end of a function f of shares is f - sqrt(sum d²): d is the decrease of f if one share alone moves
to the end of its interval that lowers f. The upper end is analogous. Two shares with errors correlated by r add 2 r d
d' under the root.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
from workbench.statistics.intervals import FEWEST, Ends, compact, design_effects, share_ends


class ShareEnds(NamedTuple):
    """A share in each group with the ends of its 95 % interval, as arrays with one value for each group.

    Attributes:
        enough: Whether there are enough clusters for an interval.
    """

    share: FloatArray
    low: FloatArray
    high: FloatArray
    enough: BoolArray

    @property
    def first(self) -> tuple[float, Ends]:
        return float(self.share[0]), (float(self.low[0]), float(self.high[0]))


class ClassRates(NamedTuple):
    """TPR, TNR and the share of correct completions (prevalence) in each group.

    Attributes:
        correlation: Correlation of both shares' errors, from -1 to 1, over questions with completions of both classes.
    """

    tpr: ShareEnds
    tnr: ShareEnds
    prevalence: ShareEnds
    correlation: FloatArray


def class_rates(cells: IntArray, group: IntArray, groups: int) -> ClassRates:
    """Return TPR, TNR and prevalence in each group.

    Args:
        cells: Number of items by cluster, gold (incorrect, correct) and whether they are judged correctly.
        group: Each cluster's group, from 0 to ``groups - 1``.
    """
    sizes = cells.sum(axis=2)
    shares = [_share(sizes[:, gold], cells[:, gold, 1], group, groups) for gold in (0, 1)]
    errors = [cells[:, gold, 1] - sizes[:, gold] * share.share[group] for gold, share in enumerate(shares)]
    together, *alone = (
        np.bincount(group, weights=one * other, minlength=groups)
        for one, other in (errors, (errors[0], errors[0]), (errors[1], errors[1]))
    )
    spread = np.sqrt(alone[0] * alone[1])
    correlation = np.divide(together, spread, out=np.zeros(groups), where=spread > 0)
    return ClassRates(shares[1], shares[0], _share(sizes.sum(axis=1), sizes[:, 1], group, groups), correlation)


def _share(sizes: IntArray, right: IntArray, group: IntArray, groups: int) -> ShareEnds:
    n, k = (np.bincount(group, weights=each, minlength=groups) for each in (sizes, right))
    known = design_effects(sizes, right, group, groups)
    return ShareEnds(k / np.maximum(n, 1), *share_ends(k, n, known), known.alike >= FEWEST - 1e-9)


def balanced_intervals(known: ClassRates) -> list[Ends | None]:
    """Return 95 % intervals of balanced accuracy; None if a class has too few questions."""
    return _combined_intervals(known, lambda tpr, tnr, prevalence: (tpr + tnr) / 2)


def mcc_intervals(known: ClassRates) -> list[Ends | None]:
    return _combined_intervals(known, matthews_at)


def matthews_at(tpr: FloatArray, tnr: FloatArray, prevalence: FloatArray) -> FloatArray:
    """Return Matthews' correlation: (TPR + TNR - 1) sqrt(pi (1 - pi) / (q (1 - q))), pi the prevalence and q the share
    of accepted completions; 0 if all or none are accepted."""
    accepted = prevalence * tpr + (1 - prevalence) * (1 - tnr)
    spread = accepted * (1 - accepted)
    ratio = np.divide(prevalence * (1 - prevalence), spread, out=np.zeros(len(spread)), where=spread > 0)
    return np.asarray((tpr + tnr - 1) * np.sqrt(ratio))


def _combined_intervals(
    known: ClassRates, figure: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
) -> list[Ends | None]:
    tpr, tnr, prevalence = known.tpr, known.tnr, known.prevalence
    at = figure(tpr.share, tnr.share, prevalence.share)
    moved = [figure(tpr.share, tnr.share, end) - at for end in (prevalence.low, prevalence.high)]
    ends = []
    for sign, a, b in ((-1, tpr.low, tnr.low), (1, tpr.high, tnr.high)):
        u, v = (sign * (figure(one, other, prevalence.share) - at) for one, other in ((a, tnr.share), (tpr.share, b)))
        w = np.maximum(np.maximum(sign * moved[0], sign * moved[1]), 0.0)
        reach = np.sqrt(np.maximum(u * u + v * v + 2 * known.correlation * u * v + w * w, 0.0))
        ends.append(np.clip(at + sign * reach, -1.0, 1.0).tolist())
    enough = (tpr.enough & tnr.enough).tolist()
    return [(low, high) if there else None for low, high, there in zip(*ends, enough, strict=True)]


# -- Expected metrics of a verifier at another share of correct completions.


class Rates(NamedTuple):
    """Shares judged correctly among correct (TPR) and incorrect (TNR) completions, with 95 % intervals by question.

    Attributes:
        correlation: Correlation of both shares' errors, from -1 to 1, over questions with completions of both classes.
    """

    tpr: float
    tnr: float
    tpr_ci: tuple[float, float]
    tnr_ci: tuple[float, float]
    correlation: float


class Best(NamedTuple):
    """A range of prevalence in which one verifier has the highest expected accuracy.

    Attributes:
        place: The verifier's position among those compared.
    """

    place: int
    low: float
    high: float


def rates(right: BoolArray, gold: IntArray, question: IntArray) -> Rates | None:
    """Return TPR and TNR with their intervals; None if gold lacks a class.

    Args:
        right: Whether each item counts as judged correctly.
        gold: 1 correct, 0 incorrect.
        question: Each item's question.
    """
    correct = gold == 1
    if correct.all() or not correct.any():
        return None
    labels, known = compact(question)
    kind = np.bincount(4 * labels + 2 * correct + right, minlength=4 * len(known)).reshape(-1, 2, 2)
    found = class_rates(kind, np.zeros(len(known), dtype=np.int64), 1)
    (tpr, tpr_ci), (tnr, tnr_ci) = found.tpr.first, found.tnr.first
    return Rates(tpr=tpr, tnr=tnr, tpr_ci=tpr_ci, tnr_ci=tnr_ci, correlation=float(found.correlation[0]))


def accuracy_at(prevalence: float, known: Rates) -> tuple[float, tuple[float, float]]:
    """Return the expected accuracy at the prevalence pi, pi TPR + (1 - pi) TNR, with its 95 % interval.

    The interval combines both shares' intervals: l = a - sqrt(u² + v² + 2 r u v), where u and v are the distances of pi
    TPR and (1 - pi) TNR to their lower ends and r is the correlation of their errors; the upper end is analogous. At a
    prevalence of 0 or 1 the interval is that of TNR or TPR. Source: Zou and Donner, "Construction of confidence limits
    about effect measures: a general approach", Statistics in Medicine 27, 2008.
    """
    weights = (prevalence, 1 - prevalence)
    found = prevalence * known.tpr + (1 - prevalence) * known.tnr
    shares = ((known.tpr, known.tpr_ci), (known.tnr, known.tnr_ci))
    ends = []
    for end in (0, 1):
        u, v = (weight * (share - ci[end]) for weight, (share, ci) in zip(weights, shares, strict=True))
        ends.append(sqrt(max(u * u + v * v + 2 * known.correlation * u * v, 0.0)))
    return found, (max(found - ends[0], 0.0), min(found + ends[1], 1.0))


def accuracy_without_label_errors(measured: float, ci: Ends, wrong: float, wrong_ci: Ends) -> tuple[float, Ends] | None:
    """Return accuracy against error-free labels, A = (a - w) / (1 - 2 w), with its 95 % interval from both intervals.

    A verifier with accuracy A, independent of the label errors, agrees with a label with probability A (1 - w) + (1 -
    A) w. None if half of the labels or more may be wrong, or if the whole interval is outside 0 to 1: then independent
    label errors at this rate are incompatible with the measured accuracy. Source: Rogan and Gladen, American Journal of
    Epidemiology 107, 1978, for equal error rates of gold on both classes; intervals by Zou and Donner, as above.

    Args:
        measured: Accuracy against the existing labels.
        wrong: The share of labels that are wrong.
    """
    if max(wrong, *wrong_ci) >= 0.5:
        return None
    found = _correct_for_label_errors(measured, wrong)
    moved = [_correct_for_label_errors(measured, end) - found for end in wrong_ci]
    low, high = (
        found
        + sign
        * sqrt((_correct_for_label_errors(end, wrong) - found) ** 2 + max(0.0, *(sign * one for one in moved)) ** 2)
        for sign, end in zip((-1, 1), ci, strict=True)
    )
    if wrong and not (low < 1 and high > 0):
        return None
    return min(max(found, 0.0), 1.0), (min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0))


def _correct_for_label_errors(measured: float, wrong: float) -> float:
    return (measured - wrong) / (1 - 2 * wrong)


def true_rate(accepted: float, known: Rates) -> float | None:
    """Return the share of correct completions, within [0, 1], that follows from a verifier's share of accepted
    completions.

    (accepted + TNR - 1) / (TPR + TNR - 1); None if TPR + TNR <= 1: the verifier accepts incorrect completions as
    readily as correct ones, so its acceptance rate is uninformative. Source: Rogan and Gladen, "Estimating prevalence
    from the results of a screening test", American Journal of Epidemiology 107, 1978.
    """
    informed = known.tpr + known.tnr - 1
    return None if informed <= 0 else min(max((accepted + known.tnr - 1) / informed, 0.0), 1.0)


def best(everyone: Sequence[Rates]) -> list[Best]:
    """Return the ranges of prevalence, from 0 to 1, with the verifier of the highest expected accuracy in each; the
    first verifier in a tie.

    Expected accuracy is a straight line over prevalence, from TNR to TPR: the result is the upper envelope of the
    lines.
    """
    if not everyone:
        return []
    place = max(range(len(everyone)), key=lambda one: (everyone[one].tnr, _slope(everyone[one]), -one))
    found: list[Best] = []
    at = 0.0
    while True:
        now = everyone[place]
        steeper = [one for one, other in enumerate(everyone) if _slope(other) > _slope(now)]
        meets = [(_crossing_prevalence(now, everyone[one]), -_slope(everyone[one]), one) for one in steeper]
        share, _, following = min(meets, default=(1.0, 0.0, place))
        if share >= 1:
            return [*found, Best(place, at, 1.0)]
        if share > at:
            found.append(Best(place, at, share))
        at, place = share, following


def _slope(known: Rates) -> float:
    return known.tpr - known.tnr


def _crossing_prevalence(one: Rates, steeper: Rates) -> float:
    return (one.tnr - steeper.tnr) / (_slope(steeper) - _slope(one))
