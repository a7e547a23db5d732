"""Rows in the order and under the conditions a person has chosen, whatever they come from."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Final

from workbench.app.tui.kit.columns import RowSource, Sort, TableRow
from workbench.app.tui.kit.sources import MemorySource
from workbench.core.progress import heed
from workbench.core.text.figures import NONE

_NUMBER = re.compile(r"(\d{1,18})")
_NOTHING: Final = {"", NONE, "…", "none"}
"""Words that say that there is no value."""
_OUTCOMES: Final = {"incorrect": 0, "error": 1, "abstain": 2, "correct": 3}
"""Verdicts, from the worst on."""
_CHUNK = 1_000
"""Rows that are read together."""


def rank(value: float | str | tuple[float, ...] | None) -> tuple[bool, Any] | None:
    """What a cell is sorted by: figures before words, in words numbers by size; None for nothing, which stands last.

    Verdicts stand by how bad they are.
    """
    if isinstance(value, str):
        parts = ["", str(_OUTCOMES[value])] if value in _OUTCOMES else _NUMBER.split(value.casefold())
        return None if value in _NOTHING else (True, [int(part) if part.isdecimal() else part for part in parts])
    return None if value is None or value != value else (False, value)


class ArrangedSource:
    """A `RowSource` over another one, in another order; it reads every row once, in the thread that asks for ids.

    Args:
        base: Where the rows come from.
        sort: The column they are sorted by.
    """

    queried = False

    def __init__(self, base: RowSource, sort: Sort) -> None:
        self.columns, self.count, self.page = base.columns, base.count, base.page
        self._base, self._sort = base, sort

    def ids(self) -> array[int]:
        """Row ids as they are arranged.

        Raises:
            Stopped: Nobody waits any more.
        """
        place = [column.key for column in self.columns].index(self._sort.column)
        ranks = [(rank(row.cells[place].value), row.id) for row in read_all(self._base) if row.cells]
        told = [(found, row_id) for found, row_id in ranks if found is not None]
        told.sort(key=itemgetter(0), reverse=self._sort.descending)
        return array("q", [*(row_id for _, row_id in told), *(row_id for found, row_id in ranks if found is None)])

    def first_page(self, limit: int, offset: int = 0) -> list[TableRow]:
        """Rows in memory as they are arranged, else in the order they come in."""
        if isinstance(self._base, MemorySource):
            return self.page(self.ids()[offset : offset + limit])
        return self._base.first_page(limit, offset)


def read_all(source: RowSource) -> Iterator[TableRow]:
    """Every row of a source.

    Raises:
        Stopped: Nobody waits any more.
    """
    if isinstance(source, MemorySource):
        yield from source.rows
        return
    ids = source.ids()
    for first in range(0, len(ids), _CHUNK):
        heed()
        yield from source.page(ids[first : first + _CHUNK])
