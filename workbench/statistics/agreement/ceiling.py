"""The ceiling that label noise puts on a verifier's measured accuracy, and the assumptions behind it."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod, sqrt
from typing import NamedTuple

from workbench.statistics.agreement.coefficients import percent, percent_interval, prevalence
from workbench.statistics.agreement.figures import Rated
from workbench.statistics.agreement.ratings import units
from workbench.statistics.confusion import defined
from workbench.statistics.records.agreement import Ceiling, Ends, GoldLabels, Share, Source

SHARED = 0.3
"""Intra-class correlation of annotators' errors on an item if hard items are hard for everyone."""


class Residue(NamedTuple):
    """The label errors that remain if two annotators label each item and a third decides where they disagree.

    Attributes:
        wrong: The share of final labels that are wrong.
        conflicts: The share of items on which the two annotators disagree.
    """

    wrong: float
    conflicts: float


def remaining_errors(accuracy: float) -> Residue:
    """Return the share of wrong final labels and of conflicts, for three annotators who all have this accuracy.

    wrong = (1 - a)² + 2 a (1 - a) (1 - a) = (1 - a)² (1 + 2 a), conflicts = 2 a (1 - a).
    """
    miss = 1 - accuracy
    return Residue(wrong=miss * miss * (1 + 2 * accuracy), conflicts=2 * accuracy * miss)


def accuracy_behind(agreement: float) -> float:
    """Return the accuracy of two equally accurate annotators with this agreement: a = (1 + sqrt(2 po - 1)) / 2.

    po is the agreement. The result is one half for an agreement below one half, which no accuracy explains.
    """
    return (1 + sqrt(max(2 * agreement - 1, 0.0))) / 2


class GoldMade(NamedTuple):
    """The number of gold labels by their origin.

    Attributes:
        agreed: Number of agreeing annotators -> number of items on which that many agree.
        adjudicated: Number of items on which two annotators disagreed and a third decided.
        in_conflict: Number of items with an unresolved disagreement, which have no gold.
    """

    agreed: Mapping[int, int]
    adjudicated: int
    in_conflict: int

    @property
    def labels(self) -> GoldLabels:
        return GoldLabels(agreed=sum(self.agreed.values()), adjudicated=self.adjudicated, in_conflict=self.in_conflict)


def wrong_gold(made: GoldMade | None, error: Ends, common: float = 0.5, shared: float = 0.0) -> float:
    """Return the share of gold labels that are wrong.

    The probability of an error on an item follows a beta distribution with the mean e and the intra-class correlation
    r, so that all k annotators err with the probability prod (e (1 - r) + i r) / (1 - r + i r) over i < k; with r = 0
    it is e^k. Two disagree with the probability 2 e (1 - e) (1 - r), and then a third errs with (e (1 - r) + r) / (1 +
    r).

    Args:
        made: The origin of the gold; None if two annotators label every item and a third decides where they disagree.
        error: An annotator's probability of an error on items of the more frequent class, and on items of the other.
            common: The share of the more frequent class.
        shared: r, the intra-class correlation of annotators' errors on an item.
    """
    classes = [(common, error[0]), (1 - common, error[1])]
    split = sum(weight * _conflict_probability(e, shared) for weight, e in classes)
    lost = sum(
        weight * _conflict_probability(e, shared) * (e * (1 - shared) + shared) / (1 + shared) for weight, e in classes
    )
    if made is None:
        return sum(weight * _all_wrong_probability(e, 2, shared) for weight, e in classes) + lost
    wrong = made.adjudicated * (lost / split if split else 0.0)
    for people, items in made.agreed.items():
        missed = sum(weight * _all_wrong_probability(e, people, shared) for weight, e in classes)
        hit = sum(weight * _all_wrong_probability(1 - e, people, shared) for weight, e in classes)
        wrong += items * missed / (missed + hit)
    return wrong / (sum(made.agreed.values()) + made.adjudicated)


def _all_wrong_probability(chance: float, people: int, shared: float) -> float:
    return prod((chance * (1 - shared) + place * shared) / (1 - shared + place * shared) for place in range(people))


def _conflict_probability(error: float, shared: float) -> float:
    return 2 * error * (1 - error) * (1 - shared)


def ceiling(
    source: Source, accuracy: float, ends: Ends, *, made: GoldMade | None = None, common: float | None = None
) -> Ceiling:
    """Return the share of wrong gold labels for annotators of this accuracy, and the measured accuracy of an
    error-free verifier.

    Args:
        ends: The accuracy's 95 % interval.
        made: The origin of the gold; if it is None or has no gold, two annotators are assumed to label every item and
            a third to decide where they disagree.
        common: The share of the more frequent class; None if unknown.
    """
    gold = made if made is not None and (made.agreed or made.adjudicated) else None
    wrong, *of_ends = (wrong_gold(gold, (1 - one, 1 - one)) for one in (accuracy, *ends))
    highest = [1 - wrong, *(1 - wrong_gold(gold, *case) for case in _sensitivity_cases(source, accuracy, common))]
    return Ceiling(
        source=source,
        annotator_accuracy=accuracy,
        accuracy_ci=ends,
        gold=made.labels if made is not None else None,
        wrong=wrong,
        conflicts_per_1000=1000 * remaining_errors(accuracy).conflicts,
        highest_accuracy=1 - wrong,
        highest_ci=(1 - of_ends[0], 1 - of_ends[1]),
        sensitivity=(min(highest), max(highest)),
    )


def _sensitivity_cases(source: Source, accuracy: float, common: float | None) -> list[tuple[Ends, float, float]]:
    share = 0.5 if common is None else common
    one_class = [(1 / share, 0.0), (0.0, 1 / (1 - share))] if share < 1 else []
    found = []
    for shared in (0.0, SHARED):
        for weights in ((1.0, 1.0), *one_class):
            errors = [_error_on_class(source, accuracy, weight, shared) for weight in weights]
            if None not in errors:
                found.append(((errors[0] or 0.0, errors[1] or 0.0), share, shared))
    return found


def _error_on_class(source: Source, accuracy: float, weight: float, shared: float) -> float | None:
    if source == "checks":
        error = weight * (1 - accuracy)
        return error if error <= 0.5 else None
    differ = weight * remaining_errors(accuracy).conflicts / (1 - shared)
    return (1 - sqrt(1 - 2 * differ)) / 2 if differ <= 0.5 else None


def ceilings(rated: Rated, checks: Share, made: GoldMade | None = None) -> list[Ceiling]:
    """Return one ceiling for each available estimate of annotators' accuracy: from their agreement, if it is at least
    one half, and from checks."""
    found, labels = [], units(rated.ratings)
    common = float(prevalence(labels).max()) if labels.sizes.size else None
    agreed, ci = defined(percent(labels, labels.often)[0]), percent_interval(labels, rated.cluster)
    if agreed is not None and ci is not None and agreed >= 0.5:
        low, high = map(accuracy_behind, ci)
        accuracy = accuracy_behind(agreed)
        found.append(ceiling("agreement", accuracy, (low, high), made=made, common=common))
    if checks.share is not None and checks.ci is not None:
        found.append(ceiling("checks", checks.share, checks.ci, made=made, common=common))
    return found
