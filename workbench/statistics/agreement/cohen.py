"""Cohen's kappa of every two annotators, with its standard error by question."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from workbench.statistics.agreement.clustered import Evidence, evidence, interval
from workbench.statistics.agreement.coefficients import divide_or_nan, sum_by_position
from workbench.statistics.agreement.ratings import Ratings
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray, align
from workbench.statistics.intervals import Z95, compact
from workbench.statistics.records.agreement import Ends

_MIN_LARGE_SAMPLE: Final = 10
"""Fewest items with disagreement, and fewest with agreement on a rarer label, for the large-sample formula."""
_BLOCK: Final = 1 << 22
"""Most items of pairs that are processed at once."""


class PairErrors(NamedTuple):
    """Standard errors of kappas: arrays with one value for each pair.

    Attributes:
        independent: Standard errors for independent items; NaN if kappa is NaN.
        clustered: Leave-one-cluster-out standard errors; NaN if kappa is NaN without some cluster.
        shared: Whether any two of a pair's items are in one cluster (0 or 1).
        known: The numbers of clusters behind intervals.
    """

    independent: FloatArray
    clustered: FloatArray
    shared: IntArray
    known: Evidence


class LabelPairs(NamedTuple):
    """Every two annotators with common items, as arrays of equal length, ordered by their numbers.

    Attributes:
        a: The first annotator's number.
        b: The second annotator's number, which is higher.
        items: Number of items rated by both.
        agreement: The share of these items on which they agree.
        kappa: Cohen's kappa; NaN if both annotators used only a single, common category.
        errors: The standard errors of kappa.
    """

    a: IntArray
    b: IntArray
    items: IntArray
    agreement: FloatArray
    kappa: FloatArray
    errors: PairErrors

    def interval(self, pair: int) -> Ends | None:
        return kappa_interval(float(self.kappa[pair]), self.errors, pair)


def kappa_interval(kappa: float, errors: PairErrors, pair: int = 0) -> Ends | None:
    """Return the 95 % interval of kappa: k ± z e, cut at -1 and 1, for many independent items, else that of
    `clustered.interval`.

    The formula for independent items is that of Fleiss, Cohen and Everitt, see `pairs`.
    """
    known = errors.known
    many = min(known.differing[pair], known.alike[pair]) >= _MIN_LARGE_SAMPLE
    if errors.shared[pair] or not many:
        return interval(kappa, float(errors.clustered[pair]), known, pair)
    half = Z95 * float(errors.independent[pair])
    return max(-1.0, kappa - half), min(1.0, kappa + half)


def pairs(ratings: Ratings, cluster: IntArray) -> LabelPairs:
    """Return Cohen's kappa of every two annotators, on the items rated by both.

    kappa = (po - pe) / (1 - pe), pe = sum_c p_c. p_.c. An item that the first annotator labels c and the second d has
    the influence u / n, u = ([c = d] - po) / (1 - pe) - (1 - po) (p_.c + p_d. - 2 pe) / (1 - pe)². Standard errors:
    sqrt(sum u²) / n for independent items, sqrt((G - 1) / G sum_g (k_g - mean k)²) for G clusters, k_g being kappa
    without cluster g. Sources: Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological
    Measurement 20, 1960; Fleiss, Cohen and Everitt, "Large sample standard errors of kappa and weighted kappa",
    Psychological Bulletin 72, 1969, formula 13; Efron and Stein, "The jackknife estimate of variance", Annals of
    Statistics 9, 1981.

    One sparse matrix product counts all contingency tables at once, so the cost grows with the number of common
    ratings, not with the square of the number of annotators.

    Args:
        cluster: Each item's cluster, any integers.
    """
    from scipy import sparse

    cell = ratings.annotator.astype(np.int64) * ratings.categories + ratings.value
    shape = (ratings.items, ratings.annotators * ratings.categories)
    labelled = sparse.csr_array((np.ones(len(cell)), (ratings.item, cell)), shape=shape)
    met = (labelled.T @ labelled).tocoo()
    row, column = (np.asarray(side, dtype=np.int64) for side in (met.row, met.col))
    kept = row // ratings.categories < column // ratings.categories
    row, column, count = row[kept], column[kept], met.data[kept]
    both = row // ratings.categories * ratings.annotators + column // ratings.categories
    keys, pair = np.unique(both, return_inverse=True)
    tables = Tables(pair, row % ratings.categories, column % ratings.categories, count, ratings.categories)
    found = kappas(tables, len(keys))
    order = np.argsort(row * shape[1] + column)
    places = (row * shape[1] + column)[order], order
    met_at = _common_labels(ratings, cluster)
    blocks = ((align(one * shape[1] + other, *places, np.int64(0)), where) for one, other, where in met_at)
    a, b = np.divmod(keys, ratings.annotators)
    errors = _errors(tables, found, blocks)
    return LabelPairs(a, b, found.n.astype(np.int64), found.agreement, found.kappa, errors)


def _common_labels(ratings: Ratings, cluster: IntArray) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    where = compact(cluster)[0][ratings.item]
    order = np.lexsort((ratings.annotator, ratings.item, where))
    item, where = ratings.item[order], where[order]
    keys = ratings.annotator[order].astype(np.int64) * ratings.categories + ratings.value[order]
    first = np.flatnonzero(np.diff(item, prepend=-1))
    sizes = np.diff(first, append=len(item))
    block = np.cumsum(sizes * (sizes - 1) // 2) // _BLOCK
    whole = np.flatnonzero(np.diff(where[first], prepend=-1))
    cuts = first[whole[1:][np.diff(block[whole]) > 0]].tolist()
    for start, end in pairwise([0, *cuts, len(item)]):
        yield _pairs_of_labels(item[start:end], keys[start:end], where[start:end])


def _pairs_of_labels(item: IntArray, said: IntArray, where: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    found: list[tuple[IntArray, IntArray, IntArray]] = []
    for apart in range(1, len(item)):
        same = np.flatnonzero(item[apart:] == item[:-apart])
        if not len(same):
            break
        found.append((said[same], said[same + apart], where[same]))
    empty = np.empty(0, dtype=np.int64)
    one, other, at = zip((empty, empty, empty), *found, strict=True)
    return np.concatenate(one), np.concatenate(other), np.concatenate(at)


class Tables(NamedTuple):
    """Cells of the contingency tables of many pairs of annotators.

    Attributes:
        pair: Each cell's pair of annotators, which has one table.
        first: The first annotator's category.
        second: The second annotator's category.
        often: Number of items in the cell.
        categories: Number of categories."""

    pair: IntArray
    first: IntArray
    second: IntArray
    often: FloatArray
    categories: int


class Kappas(NamedTuple):
    """Cohen's kappa of many tables: arrays with one value for each table; ``moves``, ``beside`` and ``rarer`` have one
    for each cell.

    Attributes:
        n: Number of items of each table.
        agreement: The share of items that both annotators put into the same category; NaN without items.
        expected: The agreement expected by chance.
        kappa: Cohen's kappa; NaN without items, or if both annotators used only a single, common category.
        moves: The influence on kappa, times n, of one item in the cell.
        beside: How many labels the second annotator has in the cell's first category, plus how many the first
            annotator has in its second category.
        rarer: How many of the cell's two labels, 0 to 2, are rarer than the table's most frequent label.
    """

    n: FloatArray
    agreement: FloatArray
    expected: FloatArray
    kappa: FloatArray
    moves: FloatArray
    beside: FloatArray
    rarer: FloatArray


def kappas(cells: Tables, tables: int) -> Kappas:
    def total(values: FloatArray) -> FloatArray:
        return sum_by_position(cells.pair, values, tables)

    n = total(cells.often)
    share = cells.often / n[cells.pair]
    rows, columns = _Margin(cells, cells.first, share), _Margin(cells, cells.second, share)
    same = cells.first == cells.second
    observed = total(share * same)
    table, category = np.divmod(rows.keys, cells.categories)
    expected = sum_by_position(table, rows.shares * columns.of(table, category), tables)
    kappa = _kappa(observed, expected)
    beside = columns.of(cells.pair, cells.first) + rows.of(cells.pair, cells.second)
    moves = same - observed[cells.pair] - (1 - kappa)[cells.pair] * (beside - 2 * expected[cells.pair])
    moves = divide_or_nan(moves, (1 - expected)[cells.pair], where=_is_kappa_defined(expected)[cells.pair])
    rarer = _rarer(cells, rows, columns, tables)
    return Kappas(n, observed, expected, kappa, moves, beside * n[cells.pair], rarer)


def _is_kappa_defined(expected: FloatArray) -> BoolArray:
    return np.asarray(expected < 1 - 1e-12)


def _kappa(observed: FloatArray, expected: FloatArray) -> FloatArray:
    return divide_or_nan(observed - expected, 1 - expected, where=_is_kappa_defined(expected))


def _rarer(cells: Tables, rows: _Margin, columns: _Margin, tables: int) -> FloatArray:
    """Return how many of each cell's two labels are rarer than the most frequent one of its table. Labels that tie for
    the most frequent all count as most frequent.
    """
    keys = np.union1d(rows.keys, columns.keys)
    table, category = np.divmod(keys, cells.categories)
    shares = rows.of(table, category) + columns.of(table, category)
    most = np.zeros(tables)
    np.maximum.at(most, table, shares)
    highest = shares >= most[table] - 1e-12
    commonest = np.full(tables, -1, dtype=np.int64)
    commonest[table[highest]] = category[highest]
    commonest[np.bincount(table[highest], minlength=tables) > 1] = -1
    of_cell = commonest[cells.pair]
    return np.asarray((cells.first != of_cell).astype(float) + (cells.second != of_cell))


class _Margin:
    def __init__(self, cells: Tables, said: IntArray, share: FloatArray) -> None:
        self._categories = cells.categories
        self.keys, place = np.unique(cells.pair * cells.categories + said, return_inverse=True)
        self.shares = sum_by_position(place, share, len(self.keys))

    def of(self, table: IntArray, category: IntArray) -> FloatArray:
        """Return the share of each category in its table, 0 for a category that was never used."""
        return align(table * self._categories + category, self.keys, self.shares, np.float64(0))


def _errors(cells: Tables, found: Kappas, blocks: Iterator[tuple[IntArray, IntArray]]) -> PairErrors:
    """Return the standard errors of the kappas.

    Args:
        blocks: The cell and the cluster of each pair's common items, in blocks; no cluster is in two blocks.
    """
    tables = len(found.n)
    differs = (cells.first != cells.second).astype(float)
    alike = (1 - differs) * (found.rarer > 0)
    parts: list[tuple[IntArray, FloatArray]] = []
    for cell, where in blocks:
        clusters = int(where.max(initial=0)) + 1
        key, known = compact(cells.pair[cell] * clusters + where)
        of_cells = (np.ones(len(differs)), differs, alike, found.rarer, found.beside)
        sums = [sum_by_position(key, values[cell], len(known)) for values in of_cells]
        together = _count_equal_pairs(key, cells.first[cell], cells.second[cell], cells.categories, len(known))
        parts.append((known // clusters, np.stack([*sums, together])))
    pair = np.concatenate([part[0] for part in parts])
    items, differing, agreed, rarer, beside, together = np.concatenate([part[1] for part in parts], axis=1)
    n = found.n[pair] - items
    observed = divide_or_nan((found.n * found.agreement)[pair] - (items - differing), n)
    expected = divide_or_nan((found.n**2 * found.expected)[pair] - beside + together, n**2)
    without, number = _kappa(observed, expected), np.bincount(pair, minlength=tables).astype(float)
    apart = without - divide_or_nan(sum_by_position(pair, without, tables), number)[pair]
    alone = sum_by_position(cells.pair, cells.often * found.moves**2, tables)
    return PairErrors(
        independent=np.sqrt(alone) / found.n,
        clustered=np.sqrt(sum_by_position(pair, apart**2, tables) * divide_or_nan(number - 1, number)),
        shared=np.bincount(pair[items > 1], minlength=tables),
        known=evidence(pair, differing, agreed, rarer, tables),
    )


def _count_equal_pairs(key: IntArray, first: IntArray, second: IntArray, categories: int, clusters: int) -> FloatArray:
    (rank, places), (other_rank, others) = (compact(key * categories + values) for values in (first, second))
    said, other = np.bincount(rank), align(places, others, np.bincount(other_rank), np.int64(0))
    return sum_by_position(places // categories, said * other, clusters)


def kappa_of(first: IntArray, second: IntArray, cluster: IntArray, categories: int) -> tuple[Kappas, PairErrors]:
    """Return Cohen's kappa of two raters of the same items, and its standard errors.

    Args:
        cluster: Each item's cluster, any integers.
    """
    cell, known = compact(first.astype(np.int64) * categories + second)
    table = np.zeros(len(known), dtype=np.int64)
    cells = Tables(table, known // categories, known % categories, np.bincount(cell).astype(float), categories)
    found = kappas(cells, min(len(known), 1))
    return found, _errors(cells, found, iter([(cell, compact(cluster)[0])]))
