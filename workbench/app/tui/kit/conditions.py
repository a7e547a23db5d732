"""Conditions on a table's cells: parsing, matching, and chips above the table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.suggester import Suggester

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import TableColumn, TableRow
from workbench.core.errors import UsageError, did_you_mean
from workbench.core.selection import Condition, Operator
from workbench.tables.document import Cell

_WORD = re.compile(r'(?:[^\s"]|"[^"]*")+')
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
    if text.count('"') % 2:
        raise UsageError("A quotation mark is open.", 'Write a value with spaces as model="a b".')
    return tuple(_parse_condition(word.replace('"', ""), columns) for word in _WORD.findall(text))


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
