"""Prediction-powered inference: a share estimated from few labels and many predictions of them.

The mean prediction of the unlabelled items is corrected by the predictions' mean error on labelled items, so poor
predictions cost precision but cause no bias. Sources: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic,
"Prediction-powered inference", Science 382,
2023; Angelopoulos, Duchi and Zrnic, "PPI++: efficient prediction-powered inference", arXiv 2311.01453 (power tuning).
Labelled items are assumed to be a random sample of all items, or of each stratum.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from workbench.core.verdict import OutcomeCode
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
from workbench.statistics.intervals import (
    Z95,
    Clustering,
    Ends,
    clusters,
    compact,
    design_effects,
    has_enough_clusters,
    share_ends,
    wilson,
)

_FITTED_PARAMETERS = 2
"""Number of parameters fitted to the labelled questions: a mean and a slope."""
FEWEST = 10
"""Questions of equal size, by Kish, without labels from which a stratum's predictions are used: the variance of fewer
can't be estimated.
"""
_CELL_PRIOR = 0.5
"""Fraction of an item added to each of the four cells of label by prediction when their covariance is estimated."""
_ROUNDING = 1e-9


class Powered(Struct, frozen=True, kw_only=True):
    """A prediction-powered estimate, and the classical one from labels alone.

    Attributes:
        estimate: The prediction-powered estimate.
        ci: Its 95 % interval; None with too few questions.
        classical: The share among labelled items; with strata, their shares weighted by their numbers of items.
        classical_ci: Its 95 % interval.
        power: The weight of predictions: lambda of PPI++, from 0 to 1.
        effective: Number of labels with which the classical estimate would have an interval as narrow.
    """

    estimate: float
    ci: Ends | None
    classical: float
    classical_ci: Ends | None
    power: float
    effective: float


class _Influence(NamedTuple):
    """Each question's contribution to the errors of the two parts of an estimate; the contributions to a part sum to 0.

    Attributes:
        labels: Contribution to the classical estimate.
        predictions: Contribution to the mean prediction of labelled items minus that of the others.
    """

    labels: FloatArray
    predictions: FloatArray


def estimate_share(
    truth: IntArray, predicted: FloatArray, question: IntArray, stratum: IntArray | None = None
) -> Powered:
    """Estimate a share of all items.

    With weights w under which the labelled, and the unlabelled, items represent all items (1 / n without strata),
    estimate = sum w Y + lambda (mean prediction of unlabelled items - mean prediction of labelled ones); Y are the
    labels. The variances and the covariance of both parts
    are summed by question, so completions of one question, labelled or not, may be dependent; lambda minimises the
    variance. Half an item is added to each cell of label by prediction, where an item has the weight of an average
    label, so that a few labels that happen to be predicted perfectly are not treated as certainty. The interval is
    that of `share_ends` for 1 / R times as many labels, in 1 / R times as many questions, with the degrees of freedom
    of the labelled questions. R is the share of the classical variance that remains, times (g - 1) / (g - 2) because
    lambda is fitted to g effective labelled questions, and at most 1. lambda is 0 for g up to 2. The predictions of a
    stratum are not used if its unlabelled items have fewer than `FEWEST` effective questions. The size
    of a question is the total weight of its labels, so a few labels that represent many items remain few. With
    uninformative predictions the interval is the classical clustered one.

    Args:
        truth: The label: 1 or 0, -1 without one.
        predicted: The predicted label of each item, as a fraction from 0 to 1.
        question: Each item's question; questions are the clusters.
        stratum: Each item's stratum, from 0; every stratum with items has labels.

    Raises:
        ValueError: There are no labels, or a stratum has none.
    """
    stratum = np.zeros(len(truth), dtype=np.int8) if stratum is None else stratum
    labelled = truth >= 0
    n = int(np.count_nonzero(labelled))
    cells = _cells(labelled, stratum)
    share = _share(truth[labelled], stratum[labelled], cells)
    paired = _has_unlabelled_questions(question[~labelled], stratum[~labelled], len(cells.size))
    # The mean prediction of labelled items minus that of the others.
    predicting = np.where(paired[:, None], cells.weight * [-1, 1], 0.0)
    means = np.bincount(cells.of_item, weights=predicted, minlength=cells.size.size) / np.maximum(cells.size, 1).ravel()
    shift = -float((means * cells.size.ravel()) @ predicting.ravel())
    parts = _influence(truth, predicted, labelled, question, stratum, cells, predicting, means)
    counting = cells.weight[stratum[labelled], 1]
    extra = _CELL_PRIOR * float(counting @ counting) ** 2
    labels, predictions = (float(part @ part) + extra for part in parts)
    together = float(parts.labels @ parts.predictions)
    mass = np.bincount(compact(question[labelled])[0], weights=counting / counting.min())
    questions = len(mass)
    known = design_effects(mass, mass, np.zeros(questions, dtype=np.int8), 1)
    worth = float(known.alike[0])
    known = known._replace(
        deff=np.array([_deff(parts.labels, share, n, questions)]),
        alike=np.minimum(known.alike, _least_effective_questions(question[labelled], stratum[labelled], cells)),
    )
    power = min(max(together / predictions, 0.0), 1.0) if worth > _FITTED_PARAMETERS else 0.0
    left = 1 - power * (2 * together - power * predictions) / labels
    if power:
        left = min(left * (worth - 1) / (worth - _FITTED_PARAMETERS), 1.0)
    estimate = min(max(share + power * shift, 0.0), 1.0)
    return Powered(
        estimate=estimate,
        ci=_ends(estimate, n / left, known._replace(alike=known.alike / left)),
        classical=share,
        classical_ci=_ends(share, n, known),
        power=power,
        effective=n / left,
    )


def _least_effective_questions(question: IntArray, stratum: IntArray, cells: _Cells) -> float:
    """Return the effective number of questions if all errors are in the stratum whose labels are the least informative.

    A share p of a stratum with the fraction w of all items is the share w p of all items, so g effective questions in
    the stratum count as g / w.
    """
    parts = clusters(question, stratum, len(cells.size))
    of_all = cells.size.sum(axis=1)
    there = of_all > 0
    worth = design_effects(parts.items, parts.items, parts.group, len(cells.size)).alike
    return float((worth[there] / (of_all[there] / of_all.sum())).min())


def _ends(share: float, n: float, known: Clustering) -> Ends | None:
    if not has_enough_clusters(known)[0]:
        return None
    low, high = share_ends(np.array([share * n]), np.array([n]), known)
    return float(low[0]), float(high[0])


class _Cells(NamedTuple):
    """The cells of items: the unlabelled and the labelled items of each stratum, in this order.

    Attributes:
        of_item: Each item's cell.
        size: Items by stratum and cell.
        weight: The weight of an item of each cell, so that labelled items, and unlabelled items, each sum to the
            strata's shares.
    """

    of_item: IntArray
    size: IntArray
    weight: FloatArray


def _cells(labelled: BoolArray, stratum: IntArray) -> _Cells:
    strata = int(stratum.max()) + 1 if len(stratum) else 0
    # The only array with one value for each item has a narrow type, to save memory.
    of_item = stratum.astype(np.min_scalar_type(2 * strata)) * 2
    of_item += labelled
    size = np.bincount(of_item, minlength=2 * strata).reshape(strata, 2)
    of_all = size.sum(axis=1)
    if not labelled.any() or ((of_all > 0) & (size[:, 1] == 0)).any():
        raise ValueError("an estimate needs labels, in each stratum")
    return _Cells(of_item, size, (of_all / len(stratum))[:, None] / np.maximum(size, 1))


def _share(right: IntArray, stratum: IntArray, cells: _Cells) -> float:
    of_all, size = cells.size.sum(axis=1), cells.size[:, 1]
    found = np.bincount(stratum, weights=right, minlength=len(size))
    return min(float(found / np.maximum(size, 1) @ (of_all / of_all.sum())), 1.0)


def _has_unlabelled_questions(question: IntArray, stratum: IntArray, strata: int) -> BoolArray:
    others = clusters(question, stratum, strata)
    known = design_effects(others.items, others.items, others.group, strata)
    return np.asarray(known.alike >= FEWEST - _ROUNDING)


def alike(question: IntArray) -> float:
    sizes = np.bincount(compact(question)[0]).astype(np.float64)
    return float(sizes.sum() ** 2 / max(float(sizes @ sizes), 1.0))


def _influence(
    truth: IntArray,
    predicted: FloatArray,
    labelled: BoolArray,
    question: IntArray,
    stratum: IntArray,
    cells: _Cells,
    predicting: FloatArray,
    means: FloatArray,
) -> _Influence:
    place, known = compact(question)
    off = predicted - means[cells.of_item]
    off *= predicting.ravel()[cells.of_item]
    of_predictions = np.bincount(place, weights=off, minlength=len(known))
    own, right = stratum[labelled], truth[labelled]
    mean = np.bincount(own, weights=right) / np.maximum(np.bincount(own), 1)
    off = cells.weight[own, 1] * (right - mean[own])
    of_labels = np.bincount(place[labelled], weights=off, minlength=len(known))
    return _Influence(np.asarray(of_labels, dtype=np.float64), np.asarray(of_predictions, dtype=np.float64))


def _deff(labels: FloatArray, share: float, n: int, questions: int) -> float:
    if not 0 < share < 1 or questions < 2:
        return 1.0
    return max(1.0, questions / (questions - 1) * float(labels @ labels) / (share * (1 - share) / n))


_MIN_GROUP_QUESTIONS = 10
"""Fewest questions of a group; smaller groups are merged."""
_BATCH_QUESTIONS = 100_000
"""Questions whose groups are in one array at once: crossed groups of a million would take a gigabyte."""


def mix_p(labelled: BoolArray, group: IntArray, question: IntArray) -> float | None:
    """Return the p-value of the difference between the mixes of groups among labelled and other items, under random
    assignment of labels to items or whole questions.

    It is a Wald test of the groups' shares among labelled items minus those among the others, whose covariance is
    summed by question, so completions of one question, labelled or not, may be dependent; degrees of freedom are those
    of the labelled or the unlabelled items, whichever have fewer questions. None if there is nothing to compare.
    Source: Rao and Scott, "The analysis of
    categorical data from complex sample surveys", Journal of the American Statistical Association 76, 1981.

    Args:
        labelled: Whether each item has a label.
        group: Each item's group, from 0.
        question: Each item's question.
    """
    from scipy.stats import f

    place, known = compact(question)
    group = _merge_small_groups(group, place)
    groups, questions, some = int(group.max(initial=0)) + 1, len(known), int(np.count_nonzero(labelled))
    if groups < 2 or not 0 < some < len(labelled):
        return None
    share = np.bincount(group, minlength=groups) / len(group)
    weight = np.where(labelled, 1 / some, -1 / (len(labelled) - some))
    off, covariance = np.zeros(groups - 1), np.zeros((groups - 1, groups - 1))
    for first in range(0, questions, _BATCH_QUESTIONS):
        part = slice(None) if questions <= _BATCH_QUESTIONS else (place >= first) & (place < first + _BATCH_QUESTIONS)
        many = min(_BATCH_QUESTIONS, questions - first)
        cell = (place[part] - first).astype(np.int64) * groups + group[part]
        of_cells = np.bincount(cell, weights=weight[part], minlength=many * groups).reshape(many, groups)
        parts = of_cells[:, 1:] - of_cells.sum(axis=1, keepdims=True) * share[1:]
        off, covariance = off + parts.sum(axis=0), covariance + parts.T @ parts
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True))
    side = min(len(np.unique(place[labelled])), len(np.unique(place[~labelled])))
    if not 0 < rank < side:
        return None
    wald = float(off @ np.linalg.pinv(covariance, hermitian=True) @ off)
    return float(f.sf(wald * (side - rank) / (rank * side), rank, side - rank))


def _merge_small_groups(group: IntArray, question: IntArray) -> IntArray:
    code, present = compact(group)
    pairs = np.unique(question.astype(np.int64) * len(present) + code)
    few = np.bincount(pairs % len(present), minlength=len(present)) < _MIN_GROUP_QUESTIONS
    together, _ = compact(np.where(few, len(present), np.arange(len(present)))[code])
    return together


# -- The number of items with gold for a required precision of accuracy.


def half_width(accuracy: float, n: int, deff: float) -> float:
    """Return half of the width that the 95 % interval of an accuracy on ``n`` items will have, by
    `intervals.share_ends` for many questions.

    It is that of Wilson's interval for n / deff items, since Student's t and the rule near 0 and 1 depend on the
    questions, which are not known yet. It
    decreases with ``n``, from 0.5 without items.

    Args:
        deff: The design effect, at least 1; ``n / deff`` independent items are equivalent.
    """
    effective = n / deff
    lo, hi = wilson(accuracy * effective, effective)
    return (hi - lo) / 2


def needed_items(accuracy: float, deff: float, within: float) -> int:
    """Return the least number of items whose interval is no wider than ± ``within``.

    With w = ``within``, q = p (1 - p) and m effective items, z sqrt(q m + z²/4) / (m + z²) = w is the quadratic
    w² m² + z² (2 w² - q) m + z⁴ (w² - 1/4) = 0; m is its greater root and n = ceil(m deff).

    Args:
        accuracy: The expected accuracy on these items, 0 to 1; 0.5 requires the most items.
        deff: The design effect, at least 1.
        within: Between 0 and 0.5, both excluded.
    """
    z2, w2 = Z95 * Z95, within * within
    b, c = z2 * (2 * w2 - accuracy * (1 - accuracy)), z2 * z2 * (w2 - 0.25)
    items = ceil(deff * (-b + sqrt(b * b - 4 * w2 * c)) / (2 * w2))
    # The root is a float, so the next integer is also checked.
    while half_width(accuracy, items, deff) > within:
        items += 1
    while items > 0 and half_width(accuracy, items - 1, deff) <= within:
        items -= 1
    return items


# -- The most informative items to label first, by verifiers' verdicts.


def disagreement(outcomes: Sequence[IntArray]) -> FloatArray:
    """Return how evenly the votes on each item are split: the minority's share, 0 to 0.5.

    It orders items like the entropy of the split, and equal splits of different sizes (1:1, 3:3) have exactly the same
    value. Only correct and incorrect verdicts are votes; an item without votes has 0.

    Args:
        outcomes: One array for each run, with one outcome for each item, -1 for none.
    """
    table = np.stack(outcomes)
    correct, incorrect = (table == OutcomeCode.CORRECT).sum(axis=0), (table == OutcomeCode.INCORRECT).sum(axis=0)
    return np.asarray(np.minimum(correct, incorrect) / np.maximum(correct + incorrect, 1))


def by_priority(priority: FloatArray, chance: FloatArray) -> IntArray:
    """Sort the items' positions by priority, highest first; items of equal priority are sorted by ``chance``."""
    return np.lexsort((chance, -priority))


def first_of_each(order: IntArray, group: IntArray, most: int) -> IntArray:
    """Return the first items in an order, with at most ``most`` of each group.

    Args:
        order: Positions of items.
        group: The group of each position, from 0.
    """
    groups = group[order]
    by_group = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    within = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    number = np.empty(len(order), dtype=np.int64)
    number[by_group] = within
    return order[number < most]
