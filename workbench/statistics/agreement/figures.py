"""Computes the reported agreement metrics of some items, and of each annotator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct, structs

from workbench.statistics.agreement import coefficients
from workbench.statistics.agreement.clustered import Evidence, evidence, interval, jackknife
from workbench.statistics.agreement.coefficients import alpha, divide_or_nan, fleiss, pabak, sum_by_position
from workbench.statistics.agreement.ratings import Ratings, Units, units
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray, defined
from workbench.statistics.intervals import compact, intervals_by_question
from workbench.statistics.records.agreement import Ends, Figures, Level, Share

MOST_LISTED = 100
"""Most categories whose shares are listed; with more, prevalence is left out."""


class Rated(Struct, frozen=True, kw_only=True, eq=False):
    """Ratings with the names of their categories and the clusters of their items.

    Attributes:
        names: The categories' names, in the categories' order.
        values: The categories' numbers, ascending; ranks unless the level is interval or ratio.
        cluster: Each item's question, or the item itself; at least 0.
    """

    ratings: Ratings
    names: Sequence[str]
    values: FloatArray
    level: Level
    cluster: IntArray

    def of(self, kept: BoolArray) -> Rated:
        return structs.replace(self, ratings=self.ratings.of(kept), cluster=self.cluster[kept])


def figures(rated: Rated) -> Figures:
    found = units(rated.ratings)
    often = found.often
    percent = defined(coefficients.percent(found, often)[0])
    values, categories = rated.values, len(rated.values)
    ac2: dict[str, float | None] = {
        name: defined(coefficients.ac2(found, often, name, values)[0]) for name in coefficients.WEIGHTINGS
    }
    shares = coefficients.prevalence(found).tolist() if found.sizes.size else []
    known = _interval_evidence(found, rated.cluster)
    drawn = _with_intervals(found, rated, known)
    (fleiss_kappa, fleiss_ci), (alpha, alpha_ci), (ac1, ac1_ci) = drawn
    return Figures(
        items=int(often.sum()),
        paired=int(often[0, found.sizes > 1].sum()),
        labels=len(rated.ratings.item),
        percent_agreement=percent,
        percent_ci=coefficients.percent_interval(found, rated.cluster),
        fleiss_kappa=fleiss_kappa,
        fleiss_ci=fleiss_ci,
        krippendorff_alpha=alpha,
        alpha_ci=alpha_ci,
        gwet_ac1=ac1,
        ac1_ci=ac1_ci,
        gwet_ac2=None if rated.level == "nominal" else ac2,
        pabak=None if percent is None else defined(pabak(percent, categories)),
        prevalence=dict(zip(rated.names, shares, strict=False)) if categories <= MOST_LISTED else None,
        differing=int(known.differing[0]),
        alike=int(known.alike[0]),
        rarer=int(known.rarer[0]),
    )


def _with_intervals(found: Units, rated: Rated, known: Evidence) -> list[tuple[float | None, Ends | None]]:
    coefficient: dict[str, Callable[[FloatArray], FloatArray]] = {
        "fleiss": lambda weights: fleiss(found, weights),
        "alpha": lambda weights: alpha(found, weights, rated.level, rated.values),
        "ac1": lambda weights: coefficients.ac1(found, weights),
    }
    value = {name: float(figure(found.often)[0]) for name, figure in coefficient.items()}
    there = {name: figure for name, figure in coefficient.items() if abs(value[name]) < 1}
    of = dict.fromkeys(coefficient, known)
    if rated.level != "nominal":
        of["alpha"] = _interval_evidence(found, rated.cluster, near=True)
    there = {name: figure for name, figure in there.items() if of[name].is_enough()}
    errors = jackknife(found.kind, len(found.sizes), rated.cluster, there) if there else {}
    return [
        (defined(value[name]), interval(value[name], errors[name], of[name]) if name in errors else None)
        for name in coefficient
    ]


def _interval_evidence(found: Units, cluster: IntArray, *, near: bool = False) -> Evidence:
    """Return the numbers of clusters behind the intervals. If several categories are equally frequent, none is the
    majority and all count as rarer.

    Args:
        near: The level measures how close categories are: two rarer labels then count as agreement to some degree,
            whether they are equal or not.
    """
    several = found.sizes > 1
    there = found.kind >= 0
    where, clusters = compact(cluster[there])

    def by_cluster(mass: FloatArray) -> FloatArray:
        return sum_by_position(where, np.where(several, mass, 0.0)[found.kind[there]], len(clusters))

    totals = (found.often[0] * several) @ found.counts
    commonest = np.flatnonzero(totals == totals.max(initial=0))
    often = found.counts[:, commonest].toarray()[:, 0] if len(commonest) == 1 else np.zeros(len(found.sizes))
    agreeing = np.nan_to_num(coefficients.agreeing(found), nan=1.0)
    on_commonest = np.nan_to_num(divide_or_nan(often * (often - 1), found.sizes * (found.sizes - 1)))
    place = np.zeros(len(clusters), dtype=np.int64)
    differing, rarer = by_cluster(1 - agreeing), by_cluster(found.sizes - often)
    alike = rarer if near else by_cluster(agreeing - on_commonest)
    return evidence(place, differing, alike, rarer, 1)


NO_SHARE: Final = Share(n=0, share=None, ci=None)
"""The share of zero items."""


def shares(right: FloatArray | BoolArray, cluster: IntArray, group: IntArray, groups: int) -> list[Share]:
    """Return each group's share, with its interval by cluster, see `statistics.intervals.share_ends`.

    Args:
        right: Whether each counted unit agrees, or the share of it that does.
        cluster: The question of each unit, at least 0: labels on completions of one question are dependent.
        group: The group of each unit, from 0 to ``groups - 1``.
    """
    n = np.bincount(group, minlength=groups).tolist()
    total = np.bincount(group, weights=right, minlength=groups).tolist()
    ends = intervals_by_question(right, cluster, group, groups)
    return [Share(n=of, share=k / of, ci=ci) if of else NO_SHARE for k, of, ci in zip(total, n, ends, strict=True)]


def blocks(completed: Sequence[str], size: int, most: int) -> list[IntArray]:
    """Split the items, in the order of their completion, into blocks of almost equal size.

    Equal blocks have intervals of similar width, unlike weeks with unequal amounts of work.

    Args:
        completed: Time of each item's last label.
        size: Minimum number of items of a block; with fewer items than two such blocks there is one block.
        most: Maximum number of blocks.
    """
    order = np.argsort(np.asarray(completed, dtype=np.str_), kind="stable")
    number = max(1, min(most, len(order) // size))
    return [part for part in np.array_split(order, number) if len(part)]


# -- Dawid and Skene's model: annotators' confusion matrices, and the resulting consensus.


MOST_CATEGORIES = 50
"""Most categories for the model. With more, values are measurements and a confusion matrix is meaningless."""
_MAX_ROUNDS = 100
_CLOSE = 1e-6
_SMALLEST = 1e-12


class Consensus(NamedTuple):
    """The result of Dawid and Skene's model.

    Attributes:
        probability: Probability that each category is an item's true one, items x categories; uniform without ratings.
        confusion: Probability that each annotator labels c if k is true, annotators x true category x label.
        share: Estimated share of items whose true category is each one.
    """

    probability: FloatArray
    confusion: FloatArray
    share: FloatArray

    @property
    def labels(self) -> IntArray:
        return np.asarray(np.argmax(self.probability, axis=1))


def consensus(ratings: Ratings, often: IntArray | None = None) -> Consensus:
    """Fit the model of Dawid and Skene by expectation maximization, from the shares of votes; it is deterministic.

    M: share_k = mean_i T_ik, confusion_akc = sum_i T_ik [a said c of i] / sum_i T_ik [a rated i]. E: T_ik proportional
    to share_k prod_a confusion_a,k,said(a, i). It stops when no T changes by more than 1e-6, or after 100 iterations.
    Source: Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", Applied
    Statistics 28, 1979.

    Args:
        often: How many items with the same ratings each item represents; None for one each.
    """
    items, people, categories = ratings.items, ratings.annotators, ratings.categories
    keys = ratings.annotator * categories + ratings.value
    truth = np.bincount(ratings.item * categories + ratings.value, minlength=items * categories).astype(float)
    truth = _normalise_rows(truth.reshape(items, categories))
    weight = (np.bincount(ratings.item, minlength=items) > 0) * (1.0 if often is None else often)
    for _ in range(_MAX_ROUNDS):
        counted = truth * weight[:, None]
        share = _normalise_rows(counted.sum(axis=0))
        votes = [sum_by_position(keys, counted[ratings.item, true], people * categories) for true in range(categories)]
        confusion = _normalise_rows(np.stack([vote.reshape(people, categories) for vote in votes], axis=1))
        likely = np.log(np.maximum(confusion, _SMALLEST))[ratings.annotator, :, ratings.value]
        scores = [sum_by_position(ratings.item, likely[:, true], items) for true in range(categories)]
        score = np.stack(scores, axis=1) + np.log(np.maximum(share, _SMALLEST))
        before, truth = truth, _normalise_rows(np.exp(score - score.max(axis=1, keepdims=True)))
        if np.abs(truth - before).max(initial=0) < _CLOSE:
            break
    return Consensus(truth, confusion, share)


def _normalise_rows(values: FloatArray) -> FloatArray:
    total = values.sum(axis=-1, keepdims=True)
    shares: FloatArray = np.full(values.shape, 1 / values.shape[-1])
    np.divide(values, total, out=shares, where=total > 0)
    return shares


# -- Each person's labels, compared with the others' and with a consensus.


FEWEST = 3
"""Fewest people for a consensus."""


def with_others(ratings: Ratings, cluster: IntArray) -> list[Share]:
    """Return each annotator's agreement with the others: the mean share of an item's other annotators who chose the
    same label, over the items that others also labelled.

    Args:
        cluster: Each item's question, or the item itself.
    """
    size = np.bincount(ratings.item, minlength=ratings.items)[ratings.item]
    cell = ratings.item * ratings.categories + ratings.value
    same = np.unique(cell, return_inverse=True, return_counts=True)
    alike = same[2][same[1]]
    paired = size > 1
    share = (alike[paired] - 1) / (size[paired] - 1)
    return shares(share, cluster[ratings.item[paired]], ratings.annotator[paired], ratings.annotators)


class Modelled(NamedTuple):
    """Estimates of Dawid and Skene's model about annotators.

    Attributes:
        agreement: For each annotator, the share of labels equal to the consensus, on items that others also labelled.
        hit: Probability that each annotator labels k if k is true, annotators x categories; NaN if the model expects
            no item of category k among that annotator's.
    """

    agreement: list[Share]
    hit: FloatArray


def modelled(ratings: Ratings, cluster: IntArray) -> Modelled | None:
    """Estimate every annotator's quality by Dawid and Skene's model; None with fewer than three annotators, or with
    too many categories.

    Args:
        cluster: Each item's question, or the item itself.
    """
    if np.count_nonzero(np.bincount(ratings.annotator)) < FEWEST or not 1 < ratings.categories <= MOST_CATEGORIES:
        return None
    found = consensus(ratings)
    paired = np.bincount(ratings.item, minlength=ratings.items)[ratings.item] > 1
    right = (found.labels[ratings.item] == ratings.value)[paired]
    hit = np.diagonal(found.confusion, axis1=1, axis2=2).copy()
    for category in range(ratings.categories):
        expected = sum_by_position(ratings.annotator, found.probability[ratings.item, category], ratings.annotators)
        hit[expected < 1, category] = np.nan
    agreement = shares(right, cluster[ratings.item[paired]], ratings.annotator[paired], ratings.annotators)
    return Modelled(agreement, hit)


def median(person: IntArray, times: IntArray, people: int) -> FloatArray:
    middle: FloatArray = np.full(people, np.nan)
    order = np.argsort(person, kind="stable")
    ends = np.cumsum(np.bincount(person, minlength=people))
    for number, part in enumerate(np.split(times[order], ends[:-1])):
        if len(part):
            middle[number] = np.median(part)
    return middle
