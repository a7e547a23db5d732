"""Sorting, counting and filtering of rows from any source: conditions on cells, and their chips above the table."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.suggester import Suggester

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import RowSource, Sort, TableColumn, TableRow
from workbench.app.tui.kit.sources import MemorySource, PagedSource
from workbench.core.errors import UsageError, did_you_mean
from workbench.core.progress import raise_if_cancelled
from workbench.core.selection import Condition, Operator, words_of
from workbench.core.text.figures import NONE
from workbench.tables.document import Cell

_CONDITION = re.compile(r"(?P<field>[^=!<>]*)(?P<operator>!=|=|<|>)(?P<value>.*)", re.DOTALL)
ANYWHERE: Final = ""
"""The field of a condition that is met if any cell of the row contains its value."""


def condition_text(condition: Condition) -> str:
    field, value = (f'"{text}"' if " " in text else text for text in (condition.field, condition.value))
    return value if condition.field == ANYWHERE else f"{field}{condition.operator}{value}"


def read_line(text: str, columns: Sequence[TableColumn]) -> tuple[Condition, ...]:
    """Parse a line of conditions on columns, by their titles: ``gold=correct n>20 "a word anywhere"``.

    Raises:
        UsageError: A quotation mark is open, or there is no such column.
    """
    return tuple(_parse_condition(word, columns) for word in words_of(text))


def _parse_condition(word: str, columns: Sequence[TableColumn]) -> Condition:
    match = _CONDITION.fullmatch(word)
    if match is None:
        return Condition(ANYWHERE, "=", word)
    field = match["field"].strip()
    named = {name: column.key for column in columns for name in (column.title.strip(), column.key)}
    if field not in named:
        known = [column.title for column in columns if column.title.strip()]
        raise UsageError(f"There is no column {field!r}.", did_you_mean(field, known, f"Columns: {', '.join(known)}."))
    operator: Operator = match["operator"]  # type: ignore[assignment]
    return Condition(named[field], operator, match["value"])


def condition_value(cell: Cell) -> str:
    return cell.value if isinstance(cell.value, str) else cell.full.strip()


def row_filter(conditions: Iterable[Condition], columns: Sequence[TableColumn]) -> Callable[[TableRow], bool]:
    places = {column.key: place for place, column in enumerate(columns)}
    tests = [(places.get(one.field), one) for one in conditions if one.field in (ANYWHERE, *places)]
    return lambda row: all(
        _cell_meets(row.cells[place], one)
        if place is not None
        else one.value.casefold() in "\n".join(f"{cell.text} {cell.full}" for cell in row.cells).casefold()
        for place, one in tests
    )


def _cell_meets(cell: Cell, condition: Condition) -> bool:
    if condition.operator in "<>":
        shown, bound = _parse_number(cell.full), _parse_number(condition.value)
        value = cell.value if shown is None and isinstance(cell.value, int | float) else shown
        return (
            value is not None and bound is not None and (value < bound if condition.operator == "<" else value > bound)
        )
    wanted = condition.value.casefold()
    found = wanted in (condition_value(cell).casefold(), cell.text.strip().casefold(), cell.full.casefold())
    return found is (condition.operator == "=")


def _parse_number(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "").removesuffix("%"))
    except ValueError:
        return None


class ConditionSuggester(Suggester):
    """Completes the last word of a line of conditions.

    Args:
        values: Field -> its known values.
    """

    def __init__(self, values: Mapping[str, Iterable[str]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._values = values

    async def get_suggestion(self, value: str) -> str | None:
        start = value.rfind(" ") + 1
        field, sign, begun = value[start:].partition("=")
        known = self._values.get(field.removesuffix("!"), ()) if sign else list(self._values) if field else ()
        words = (f'"{one}"' if " " in one else one for one in known if one)
        typed = begun if sign else field
        found = next((word for word in words if word.startswith((typed, f'"{typed}'))), None)
        if found is None:
            return None
        return value[:start] + (f"{field}={found}" if sign else f"{found}=")


def values_of(columns: Sequence[TableColumn], rows: Iterable[TableRow]) -> dict[str, dict[str, None]]:
    """Return the values of some rows by column title."""
    found: dict[str, dict[str, None]] = {column.title.strip(): {} for column in columns}
    for row in rows:
        for title, cell in zip([*found], row.cells, strict=False):
            found[title][condition_value(cell)] = None
    return found


CHIP: Final = "chip"
"""Key of a chip's number among the metadata of its style."""


def chips_line(conditions: Sequence[Condition], remark: str, width: int, base: Style, chip: Style) -> Strip:
    segments = [Segment(" ", base)]
    for place, one in enumerate(conditions):
        style = chip + Style.from_meta({CHIP: place})
        segments += (Segment(f" {printable(condition_text(one))} ✕ ", style), Segment(" ", base))
    segments.append(Segment(remark, base))
    return Strip(segments).adjust_cell_length(width, base)


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
