"""Counts: the values in a column of a list by frequency; an opened value becomes a condition on the list."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from msgspec import Struct

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.arranging import Tally, count_values
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.table_messages import CountsRequested
from workbench.app.tui.table_screen import TableScreen
from workbench.core.selection import Condition
from workbench.core.text.figures import bar, counted, percent
from workbench.tables.table import Columns, column, count, word

_BAR = 20


class ValueCount(Struct, frozen=True):
    """A value, its number of rows, its share of all rows, and its frequency relative to the most frequent value's."""

    said: str
    n: int
    share: float
    of_most: float


class CountsScreen(TableScreen):
    """The values of one column, the most frequent first.

    Args:
        asked: The list and the column.
    """

    TITLE_TEXT = "Counts"
    PREFIX, ABOVE = "counts", ("about",)
    EMPTY = "No rows are listed, so there is nothing to count."
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("counts.open", "enter", "open_row", "Only these", "Show only the rows with this value."),
    )

    def __init__(self, asked: CountsRequested) -> None:
        super().__init__()
        self._asked = asked
        self._column = asked.source.columns[asked.column]
        self._tallies: list[Tally] = []

    def heading(self) -> tuple[str, str]:
        return "Counts", f"{printable(self._column.title)} · counting …"

    def on_mount(self) -> None:
        work = partial(count_values, self._asked.source, self._asked.column)
        self.in_background(work, self._show, group="counts", stops=True)

    def _show(self, tallies: list[Tally]) -> None:
        self._tallies = tallies
        whole, most = sum(one.n for one in tallies), max((one.n for one in tallies), default=1)
        self.say(f"{printable(self._column.title)} · {counted(len(tallies), 'value')} in {counted(whole, 'row')}")
        chips = self._asked.table.chips
        self.put("about", f"of the rows for which {' and '.join(map(printable, map(str, chips)))}" if chips else "")
        self.list_records(_COLUMNS, [ValueCount(one.said, one.n, one.n / whole, one.n / most) for one in tallies])

    def opened(self, row: int) -> None:
        table, value = self._asked.table, self._tallies[row].value
        self.app.pop_screen()
        table.add_condition(Condition(self._column.key, "=", value))


_COLUMNS: Columns[ValueCount] = (
    word("value", lambda one: one.said or "–", room=(12, 40)),
    count("n", lambda one: one.n, room=9, worst="high"),
    column("share", lambda one: one.share, lambda share: f"{percent(share)} %", room=8, worst="high"),
    word("", lambda one: bar(one.of_most, _BAR), by=lambda one: one.of_most, room=_BAR, tone="accent", key="bar"),
)
