"""Each person's labels, held against the others and against a consensus."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.statistics.agreement.arithmetic import summed
from workbench.statistics.agreement.dawid_skene import MOST_CATEGORIES, consensus
from workbench.statistics.agreement.figures import share_of
from workbench.statistics.agreement.ratings import Ratings
from workbench.statistics.arrays import FloatArray, IntArray
from workbench.statistics.records.agreement import Share

FEWEST = 3
"""With fewer people a consensus can't say who is right."""


def with_others(ratings: Ratings) -> list[Share]:
    """For each person, the mean share of the others who say the same, over the items others labelled too."""
    size = np.bincount(ratings.item, minlength=ratings.items)[ratings.item]
    cell = ratings.item * ratings.categories + ratings.value
    same = np.unique(cell, return_inverse=True, return_counts=True)
    alike = same[2][same[1]]
    paired = size > 1
    share = (alike[paired] - 1) / (size[paired] - 1)
    return _shares(ratings.annotator[paired], share, ratings.annotators)


class Modelled(NamedTuple):
    """What Dawid and Skene's model says of people.

    Attributes:
        agreement: For each person, how many labels of items others labelled too equal the consensus.
        hit: The chance of each person to say category k where k is true, people x categories; NaN where the model
            expects no such item among theirs.
    """

    agreement: list[Share]
    hit: FloatArray


def modelled(ratings: Ratings) -> Modelled | None:
    """Everyone by the model; None with fewer than three people, or too many categories for it."""
    if np.count_nonzero(np.bincount(ratings.annotator)) < FEWEST or not 1 < ratings.categories <= MOST_CATEGORIES:
        return None
    found = consensus(ratings)
    paired = np.bincount(ratings.item, minlength=ratings.items)[ratings.item] > 1
    right = (found.labels[ratings.item] == ratings.value)[paired].astype(float)
    hit = np.diagonal(found.confusion, axis1=1, axis2=2).copy()
    for category in range(ratings.categories):
        expected = summed(ratings.annotator, found.probability[ratings.item, category], ratings.annotators)
        hit[expected < 1, category] = np.nan
    return Modelled(_shares(ratings.annotator[paired], right, ratings.annotators), hit)


def _shares(person: IntArray, right: FloatArray, people: int) -> list[Share]:
    n = np.bincount(person, minlength=people).tolist()
    total = summed(person, right, people).tolist()
    return [share_of(k, of) for k, of in zip(total, n, strict=True)]


def median(person: IntArray, times: IntArray, people: int) -> FloatArray:
    """Each person's median time; NaN without any."""
    middle: FloatArray = np.full(people, np.nan)
    order = np.argsort(person, kind="stable")
    ends = np.cumsum(np.bincount(person, minlength=people))
    for number, part in enumerate(np.split(times[order], ends[:-1])):
        if len(part):
            middle[number] = np.median(part)
    return middle
