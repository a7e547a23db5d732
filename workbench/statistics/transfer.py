"""What a verifier measured here would do where another share of completions is correct.

Its error rates are taken along, the share of correct completions is set. That holds as far as correct and incorrect
completions there are like those here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from workbench.statistics.arrays import BoolArray, FloatArray, IntArray
from workbench.statistics.intervals import clustered_wilson, compact


class Rates(NamedTuple):
    """Shares judged rightly among correct (TPR) and incorrect (TNR) completions, with 95 % intervals by question.

    Attributes:
        correlation: Of both shares' errors, from -1 to 1: questions that have completions of both classes.
    """

    tpr: float
    tnr: float
    tpr_ci: tuple[float, float]
    tnr_ci: tuple[float, float]
    correlation: float


class Best(NamedTuple):
    """Between which shares of correct completions one verifier has the highest expected accuracy.

    Attributes:
        place: The verifier's place among those compared.
    """

    place: int
    low: float
    high: float


def rates(right: BoolArray, gold: IntArray, question: IntArray) -> Rates | None:
    """Both shares; None where gold lacks a class.

    Args:
        right: Whether an item counts as judged rightly.
        gold: 1 correct, 0 incorrect.
        question: The item's question.
    """
    correct = gold == 1
    if correct.all() or not correct.any():
        return None
    labels, known = compact(question)
    errors = [_errors(right[kind], labels[kind], len(known)) for kind in (correct, ~correct)]
    spread = sqrt(float((errors[0] @ errors[0]) * (errors[1] @ errors[1])))
    return Rates(
        tpr=float(right[correct].mean()),
        tnr=float(right[~correct].mean()),
        tpr_ci=clustered_wilson(right[correct], question[correct]),
        tnr_ci=clustered_wilson(right[~correct], question[~correct]),
        correlation=float(errors[0] @ errors[1]) / spread if spread else 0.0,
    )


def accuracy_at(prevalence: float, known: Rates) -> tuple[float, tuple[float, float]]:
    """Expected accuracy where this share is correct, pi TPR + (1 - pi) TNR, with its 95 % interval.

    The interval puts both shares' intervals together: l = a - sqrt(u² + v² + 2 r u v), where u and v are the distances
    of pi TPR and (1 - pi) TNR to their lower ends and r is the correlation of their errors; the upper end alike. At a
    prevalence of 0 or 1 it is the share's own interval. Source: Zou and Donner, "Construction of confidence limits
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


def true_rate(accepted: float, known: Rates) -> float | None:
    """The share of correct completions behind the share a verifier accepts, within [0, 1].

    (accepted + TNR - 1) / (TPR + TNR - 1); None where TPR + TNR <= 1: it accepts wrong completions as readily as right
    ones, and its rate says nothing. Source: Rogan and Gladen, "Estimating prevalence from the results of a screening
    test", American Journal of Epidemiology 107, 1978.
    """
    informed = known.tpr + known.tnr - 1
    if informed <= 0:
        return None
    return min(max((accepted + known.tnr - 1) / informed, 0.0), 1.0)


def best(everyone: Sequence[Rates]) -> list[Best]:
    """Who has the highest expected accuracy at which prevalence, from 0 to 1; of equals the first.

    Expected accuracy is a straight line over prevalence, from TNR to TPR: this is the upper edge of the lines.
    """
    if not everyone:
        return []
    place = max(range(len(everyone)), key=lambda one: (everyone[one].tnr, _slope(everyone[one]), -one))
    found: list[Best] = []
    at = 0.0
    while True:
        now = everyone[place]
        steeper = [one for one, other in enumerate(everyone) if _slope(other) > _slope(now)]
        meets = [(_meeting(now, everyone[one]), -_slope(everyone[one]), one) for one in steeper]
        share, _, following = min(meets, default=(1.0, 0.0, place))
        if share >= 1:
            return [*found, Best(place, at, 1.0)]
        if share > at:
            found.append(Best(place, at, share))
        at, place = share, following


def _errors(right: BoolArray, labels: IntArray, questions: int) -> FloatArray:
    """Each question's sum of differences from the share of right items."""
    sizes = np.bincount(labels, minlength=questions)
    found: FloatArray = np.bincount(labels, weights=right, minlength=questions) - sizes * right.mean()
    return found


def _slope(known: Rates) -> float:
    return known.tpr - known.tnr


def _meeting(one: Rates, steeper: Rates) -> float:
    """The prevalence at which both lines are equally high."""
    return (one.tnr - steeper.tnr) / (_slope(steeper) - _slope(one))
