"""A choice of columns to sort by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.app.tui.kit.columns import Sort, TableColumn

IMPORT_ORDER = ""
"""The choice that is no column: the order of import."""


class SortByScreen(ModalScreen[str | None]):
    """Ends with the key of the chosen column, ``IMPORT_ORDER``, or None for no choice."""

    CSS_PATH = "sort_by.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,s,q", "dismiss", "Close", show=False)]

    def __init__(self, columns: Sequence[TableColumn], sort: Sort | None) -> None:
        super().__init__()
        self._columns = [column for column in columns if column.sortable]
        self._sort = sort

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = Content("Sort by")
            yield OptionList(*self._options(), markup=False)

    def on_mount(self) -> None:
        """Begin at the column in force."""
        keys = [IMPORT_ORDER, *(column.key for column in self._columns)]
        self.query_one(OptionList).highlighted = keys.index(self._sort.column) if self._sort else 0

    def _options(self) -> list[Option]:
        options = [Option(Content("order of import"), id="sort-")]
        for column in self._columns:
            mark = ""
            if self._sort is not None and self._sort.column == column.key:
                mark = " ▼ (again: ▲)" if self._sort.descending else " ▲ (again: ▼)"
            options.append(Option(Content(column.title + mark), id=f"sort-{column.key}"))
        return options

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(str(event.option_id).removeprefix("sort-"))
