"""Kappa: Cohen's for two people, Fleiss' for a fixed number of ratings an item, and what prevalence does to both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.statistics.agreement.arithmetic import divided, summed
from workbench.statistics.agreement.observed import percent
from workbench.statistics.agreement.ratings import Ratings, Units
from workbench.statistics.arrays import FloatArray, IntArray, align
from workbench.statistics.intervals import Z95

_NOTHING = 1e-9


class LabelPairs(NamedTuple):
    """Every two people with an item in common, arrays of one length, in order of their numbers.

    Attributes:
        a: The first person.
        b: The second person, of a higher number.
        items: Items both rated.
        agreement: The share of them on which they agree.
        kappa: Cohen's kappa; NaN where both used one and the same category only.
        error: Its standard error; NaN where kappa is.
    """

    a: IntArray
    b: IntArray
    items: IntArray
    agreement: FloatArray
    kappa: FloatArray
    error: FloatArray


def pairs(ratings: Ratings) -> LabelPairs:
    """Cohen's kappa of every two people, on the items both have rated.

    kappa = (po - pe) / (1 - pe), pe = sum_c p_c. p_.c. Standard error: sqrt((A + B - C) / n) / (1 - pe) with
    A = sum_c p_cc (1 - (p_c. + p_.c) (1 - kappa))², B = (1 - kappa)² sum_{c != d} p_cd (p_.c + p_d.)² and
    C = (kappa - pe (1 - kappa))².
    Sources: Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20,
    1960; Fleiss, Cohen and Everitt, "Large sample standard errors of kappa and weighted kappa", Psychological
    Bulletin 72, 1969, formula 13.

    One sparse product counts all tables at once, so that it costs the ratings that meet, not people squared.
    """
    from scipy import sparse

    cell = ratings.annotator.astype(np.int64) * ratings.categories + ratings.value
    shape = (ratings.items, ratings.annotators * ratings.categories)
    said = sparse.csr_array((np.ones(len(cell)), (ratings.item, cell)), shape=shape)
    met = (said.T @ said).tocoo()
    row, column = (np.asarray(side, dtype=np.int64) for side in (met.row, met.col))
    kept = row // ratings.categories < column // ratings.categories
    row, column, count = row[kept], column[kept], met.data[kept]
    both = row // ratings.categories * ratings.annotators + column // ratings.categories
    keys, pair = np.unique(both, return_inverse=True)
    tables = _Tables(pair, row % ratings.categories, column % ratings.categories, count, ratings.categories)
    n, observed, kappa, error = _cohen(tables, len(keys))
    a, b = np.divmod(keys, ratings.annotators)
    return LabelPairs(a, b, n.astype(np.int64), observed, kappa, error)


class Cohen(NamedTuple):
    """Cohen's kappa of many tables, arrays of one length.

    Attributes:
        n: Items of each table.
        agreement: The share of them both put into the same category; NaN without items.
        kappa: NaN without items, and where both used one and the same category only.
        error: Its standard error, items taken as independent; NaN where kappa is.
    """

    n: FloatArray
    agreement: FloatArray
    kappa: FloatArray
    error: FloatArray


def of_tables(counts: FloatArray) -> Cohen:
    """Cohen's kappa of tables of two raters, see `pairs`.

    Args:
        counts: How often the first said one thing and the second another; tables x categories x categories.
    """
    there = counts.any(axis=(1, 2))
    filled = counts[there]
    table, first, second = np.nonzero(filled)
    cells = _Tables(table, first, second, filled[table, first, second], counts.shape[1])
    found = Cohen(np.zeros(len(counts)), *np.full((3, len(counts)), np.nan))
    for figure, values in zip(found, _cohen(cells, len(filled)), strict=True):
        figure[there] = values
    return found


class _Tables(NamedTuple):
    """Cells of many tables of two people: the pair, what the first and the second said, how often."""

    pair: IntArray
    first: IntArray
    second: IntArray
    often: FloatArray
    categories: int


def _cohen(cells: _Tables, tables: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Of each table n, po, kappa and its standard error."""

    def total(values: FloatArray) -> FloatArray:
        return summed(cells.pair, values, tables)

    n = total(cells.often)
    share = cells.often / n[cells.pair]
    rows, columns = _Margin(cells, cells.first, share), _Margin(cells, cells.second, share)
    same = cells.first == cells.second
    observed = total(share * same)
    table, category = np.divmod(rows.keys, cells.categories)
    expected = summed(table, rows.shares * columns.of(table, category), tables)
    varies = expected < 1 - 1e-12
    kappa = divided(observed - expected, 1 - expected, where=varies)
    beside = (1 - kappa)[cells.pair]
    diagonal = share * (1 - (rows.of(cells.pair, cells.first) + columns.of(cells.pair, cells.first)) * beside) ** 2
    others = share * beside**2 * (columns.of(cells.pair, cells.first) + rows.of(cells.pair, cells.second)) ** 2
    variance = total(np.where(same, diagonal, others)) - (kappa - expected * (1 - kappa)) ** 2
    return n, observed, kappa, divided(np.sqrt(np.maximum(variance, 0) / n), 1 - expected, where=varies)


class _Margin:
    """Shares of what one of the two people said, by table and category."""

    def __init__(self, cells: _Tables, said: IntArray, share: FloatArray) -> None:
        self._categories = cells.categories
        self.keys, place = np.unique(cells.pair * cells.categories + said, return_inverse=True)
        self.shares = summed(place, share, len(self.keys))

    def of(self, table: IntArray, category: IntArray) -> FloatArray:
        """The share of each category in its table, 0 where it was never said."""
        found: FloatArray = align(table * self._categories + category, self.keys, self.shares, np.float64(0))
        return found


def interval(kappa: float, error: float) -> tuple[float, float] | None:
    """The 95 % interval kappa ± z error, cut at -1 and 1.

    None without an error: where two people never differ, or one always says the same, the formula has no width, and
    that is no certainty.
    """
    if not error > _NOTHING:
        return None
    return max(-1.0, kappa - Z95 * error), min(1.0, kappa + Z95 * error)


def fleiss(units: Units, weights: FloatArray) -> FloatArray:
    """Fleiss' kappa, a value a sample; NaN where items differ in their number of ratings, or with one category.

    (P - Pe) / (1 - Pe), P percent agreement and Pe = sum_c p_c² with p_c the share of category c in all ratings.
    Source: Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76, 1971.

    Args:
        weights: How many items are of each kind, samples x kinds.
    """
    if len(np.unique(units.sizes)) != 1 or units.sizes[0] < 2:
        return np.full(len(weights), np.nan)
    totals = weights @ units.counts
    expected = (divided(totals, totals.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
    several = np.count_nonzero(totals, axis=1) > 1
    return divided(percent(units, weights) - expected, 1 - expected, where=several)


def pabak(observed: float, categories: int) -> float:
    """Prevalence- and bias-adjusted kappa: 2 po - 1 for two categories, (K po - 1) / (K - 1) for K.

    Sources: Byrt, Bishop and Carlin, "Bias, prevalence and kappa", Journal of Clinical Epidemiology 46, 1993; for
    more than two categories it is the coefficient of Brennan and Prediger, Educational and Psychological Measurement
    41, 1981. NaN with one category.
    """
    return float("nan") if categories < 2 else (categories * observed - 1) / (categories - 1)
