"""Sorting and filtering of rows from any source."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

from workbench.app.tui.kit.columns import RowSource, Sort, TableRow
from workbench.app.tui.kit.conditions import condition_value, row_filter
from workbench.app.tui.kit.sources import MemorySource, PagedSource
from workbench.core.progress import raise_if_cancelled
from workbench.core.selection import Condition
from workbench.core.text.figures import NONE

_NUMBER = re.compile(r"(\d{1,18})")
_NOTHING: Final = {"", NONE, "…", "none"}
"""Texts for a missing value."""
_OUTCOMES: Final = {"incorrect": 0, "error": 1, "abstain": 2, "correct": 3}
"""Verdicts, worst first."""
_CHUNK = 1_000
"""Number of rows read at once."""


def rank(value: float | str | tuple[float, ...] | None) -> tuple[bool, Any] | None:
    """Return a cell's sort key: numbers before words, and words with numbers in them by the
    numbers' size.

    Verdicts are sorted by severity. None is returned for an empty value, which comes last in either direction.
    """
    if isinstance(value, str):
        parts = ["", str(_OUTCOMES[value])] if value in _OUTCOMES else _NUMBER.split(value.casefold())
        return None if value in _NOTHING else (True, [int(part) if part.isdecimal() else part for part in parts])
    return None if value is None or value != value else (False, value)


class Tally(NamedTuple):
    """The number of rows with a value.

    Attributes:
        value: The value as it is written in a condition.
        said: The value as the table shows it.
    """

    value: str
    said: str
    n: int


class ArrangedSource:
    """A `RowSource` that sorts and filters another one; every row is read once, in the thread that calls `ids`.

    Args:
        base: The original source.
        sort: The column to sort by; None for the original order.
        conditions: Conditions that rows must meet.
    """

    queried = False

    def __init__(self, base: RowSource, sort: Sort | None, conditions: Sequence[Condition] = ()) -> None:
        self.columns, self.page = base.columns, base.page
        self._base, self._sort, self._conditions = base, sort, conditions

    def ids(self) -> array[int]:
        """Return the ids of the rows that meet the conditions, in order.

        Raises:
            Stopped: The view was closed.
        """
        wanted = row_filter(self._conditions, self.columns)
        return self._sorted_ids(row for row in read_all(self._base) if row.cells and wanted(row))

    def _sorted_ids(self, rows: Iterator[TableRow]) -> array[int]:
        sort = self._sort
        if sort is None:
            return array("q", [row.id for row in rows])
        place = [column.key for column in self.columns].index(sort.column)
        blocks: defaultdict[int, list[_Ranked]] = defaultdict(list)
        for row in rows:
            blocks[row.block].append((rank(row.cells[place].value), row.id))
        return array("q", chain.from_iterable(_sorted_block_ids(blocks[block], sort) for block in sorted(blocks)))

    def first_page(self, limit: int) -> list[TableRow]:
        """Return sorted and filtered rows if all are in memory; otherwise rows in the original order, or none if there
        are conditions.
        """
        if isinstance(self._base, MemorySource):
            return self.page(self.ids()[:limit])
        return [] if self._conditions else self._base.first_page(limit)


_Ranked: TypeAlias = tuple[tuple[bool, Any] | None, int]
"""A row's sort key and id."""


def _sorted_block_ids(rows: list[_Ranked], sort: Sort) -> Iterator[int]:
    told = [row for row in rows if row[0] is not None]
    told.sort(key=itemgetter(0), reverse=sort.descending)
    yield from (row_id for _, row_id in told)
    yield from (row_id for found, row_id in rows if found is None)


def count_values(source: RowSource, column: int) -> list[Tally]:
    """Count the values in a column, the most frequent first.

    Raises:
        Stopped: The view was closed.
    """
    if isinstance(source, PagedSource):
        found = source.tally(source.columns[column].key)
        if found is not None:
            return [Tally(value, said, n) for value, said, n in found]
    counts: Counter[str] = Counter()
    said: dict[str, str] = {}
    for row in read_all(source):
        if row.cells:
            value = condition_value(row.cells[column])
            counts[value] += 1
            said[value] = row.cells[column].full
    return [Tally(value, said[value], n) for value, n in counts.most_common()]


def read_all(source: RowSource) -> Iterator[TableRow]:
    """Yield every row of a source.

    Raises:
        Stopped: The view was closed.
    """
    if isinstance(source, MemorySource):
        yield from source.rows
        return
    ids = source.ids()
    for first in range(0, len(ids), _CHUNK):
        raise_if_cancelled()
        yield from source.page(ids[first : first + _CHUNK])
