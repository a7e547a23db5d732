"""A table that reads pages of rows in threads, and that the user sorts and filters; columns can be hidden and resized,
and their values counted.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

from textual import on
from textual.app import App
from textual.scroll_view import ScrollView
from textual.worker import Worker, WorkerState, get_current_worker

from workbench.app.tui.allocating import release_worker_after
from workbench.app.tui.keymap import Action, key_names
from workbench.app.tui.kit import table_messages as messages
from workbench.app.tui.kit.arranging import (
    ArrangedSource,
    ConditionSuggester,
    condition_text,
    condition_value,
    read_line,
    values_of,
)
from workbench.app.tui.kit.choices import ManyMenu, choose
from workbench.app.tui.kit.columns import (
    Layout,
    Record,
    RowPainter,
    RowSource,
    Sort,
    TableColumn,
    TableRow,
    next_sort,
    rows_of,
    rows_of_table,
    table_columns,
    worst_first,
)
from workbench.app.tui.kit.copies import ActingWidget, Copyable, row_copyables
from workbench.app.tui.kit.prompt_line import filter_line
from workbench.app.tui.kit.sources import PAGE, MemorySource, PageCache
from workbench.core.progress import Listener, Stopped, listening_with
from workbench.core.selection import Condition
from workbench.tables.document import Table
from workbench.tables.table import Columns

SORTING: Final = "Sort by this column, worst first; again: reversed, then unsorted."
"""Help text on sorting, for all tables and matrices."""
_ACTIONS: Final = (
    Action("table.sort", "s", "sort", "Sort", SORTING),
    Action("table.reverse", "S", "reverse", "Reverse", "Reverse the order; if unsorted: best first.", False),
    Action("table.filter", "f", "filter", "Filter", "Show only rows that meet conditions, while you type."),
    Action("table.unfilter", "F", "unfilter", "Unfilter", "Remove the last condition.", False),
    Action("table.only", "=", "only", "Only", "Show only rows like this one in the column.", False),
    Action("table.counts", "#", "counts", "Counts", "Count the values of the column.", False),
    Action("table.hide", "-", "hide_column", "Hide", "Hide the column under the cursor.", False),
    Action("table.columns", "_", "choose_columns", "Columns", "Choose which columns are shown.", False),
    Action("table.export", "e", "export", "Export", "Export or copy the list: CSV, Markdown, LaTeX."),
    Action("table.narrower", "<", "resize(-1)", "Narrower", "Make the column narrower.", False),
    Action("table.wider", ">", "resize(1)", "Wider", "Make the column wider.", False),
)
_WIDTH_STEP: Final = 4
"""Cells by which a column is widened."""
_MIN_WIDTH: Final = 3
_LAYOUTS: Final[WeakKeyDictionary[App[Any], dict[str, Layout]]] = WeakKeyDictionary()
"""Column layouts by list, kept while the app runs."""


@cache
def _keys_of(actions: tuple[Action, ...]) -> frozenset[str]:
    return frozenset(key for one in actions for key in key_names(one.keys))


class ArrangedView(ScrollView, ActingWidget):
    """A list of rows in the order and under the conditions that the user has chosen.

    Its threads communicate with it only by messages. One reads the ids of all rows, and one the requested pages, the
    newest request first. A new source cancels what the older one still reads.

    Attributes:
        selected_id: Id of the selected row; the cursor stays on it when the rows change.
        ACTIONS: Actions of every list.
        source: Where rows come from, unsorted and unfiltered; None until it has been set.
        sort: The current order; None for the source's own.
        asked: Conditions of the screen's query.
        conditions: Conditions that the table itself applies, to the text of its cells.
        takes: Returns whether the screen's query can apply a condition; if so, `NarrowRequested` asks the screen to
            add it to ``asked``.
        cursor: The index of the row under the cursor; None while its row is not in the view.
        column: The index of the column under the cursor, among those that are shown.
    """

    ACTIONS: ClassVar[tuple[Action, ...]] = _ACTIONS

    def __init__(self, *, id: str | None) -> None:
        super().__init__(id=id)
        self.selected_id: int | None = None
        self._chosen = False  # by the user or a screen; otherwise the cursor is just on the first row
        self.source: RowSource | None = None
        self._arranged: RowSource | None = None
        self._cache: PageCache | None = None
        self.ready = False
        self._fetcher: Worker[None] | None = None
        self.sort: Sort | None = None
        self.asked: tuple[Condition, ...] = ()
        self.conditions: tuple[Condition, ...] = ()
        self.takes: Callable[[Condition], bool] = lambda _: False
        self.cursor: int | None = None
        self.column = 0
        self._painter: RowPainter | None = None

    @abstractmethod
    def _rows_changed(self) -> None:
        """Redraw: the number of rows has changed, or rows can't be read."""

    @abstractmethod
    def _page_arrived(self, first: int) -> None:
        """Redraw: the page that begins with row `first` has been read."""

    @abstractmethod
    def _measure(self) -> None:
        """Recompute widths and redraw after a change of rows or lines."""

    @abstractmethod
    def refresh_rows(self) -> None:
        """Read the visible rows again."""

    @abstractmethod
    def reload(self) -> None:
        """Ask the source for its ids again."""

    @property
    def layout_of_columns(self) -> Layout:
        known = _LAYOUTS.setdefault(self.app, {})
        return known.setdefault(f"{type(self.screen).__name__}.{self.id}", Layout())

    # -- reading in threads ------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        return 0 if self._cache is None else self._cache.count

    def on_mount(self) -> None:
        self._load(natural=True)

    def _start(self, group: str, work: partial[None]) -> Worker[None]:
        # The description is given because the default one is the repr of everything in `work`.
        return self.run_worker(
            release_worker_after(work), group=group, description=group, thread=True, exclusive=True, exit_on_error=False
        )

    def _load(self, *, natural: bool) -> None:
        if self._arranged is not None and self.is_attached:
            self._start("table-ids", partial(self._read_ids, self._arranged, natural))

    def _read_ids(self, source: RowSource, natural: bool) -> None:
        worker = get_current_worker()
        if natural:
            first = PageCache(source)
            first.put(first.read(0))
            self.post_message(messages.ViewReady(worker, first))
        cache = None
        with listening_with(Listener(lambda: worker.is_cancelled)), suppress(Stopped):
            cache = PageCache(source, source.ids())
        if cache is None or worker.is_cancelled:
            return
        sought = self.selected_id if self._chosen else None
        index = 0 if sought is None else cache.index_of(sought)
        near = (max(0, (index or 0) + step) for step in (-PAGE // 2, PAGE // 2))
        for number in {row // PAGE for row in (*near, cache.count - 1) if 0 <= row < cache.count}:
            cache.put(cache.read(number))  # the last page too: it often has the widest numbers
        self.post_message(messages.ViewReady(worker, cache, sought, index))

    def _read_pages(self, cache: PageCache, numbers: Sequence[int]) -> None:
        for number in numbers:
            self.post_message(messages.PageReady(cache, cache.read(number)))

    def _fetch_wishes(self) -> None:
        if self._cache is None or not (self._fetcher is None or self._fetcher.is_finished):
            return
        if wanted := self._cache.take_requests():
            self._fetcher = self._start("table-pages", partial(self._read_pages, self._cache, wanted))

    @on(messages.PageReady)
    def _page_ready(self, event: messages.PageReady) -> None:
        if event.cache is self._cache:
            self._cache.put(event.page)
            self._page_arrived(event.page.number * PAGE)

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.SUCCESS:
            self._fetch_wishes()
        if event.state is not WorkerState.ERROR or event.worker.error is None:
            return
        if event.worker is self._fetcher and self._cache is not None:
            self._cache.fetch_failed()
        self._rows_changed()
        self.post_message(messages.Failed(self, event.worker.error))

    # -- where rows come from ----------------------------------------------------------------------

    def set_source(self, source: RowSource, *, sort: Sort | None = None) -> None:
        """Show the rows of another source: its first page at once, the others once the row ids are known.

        The selected row stays selected. Old rows stay visible until the first page has been read. The user's order
        is kept if the new source has its column.

        Args:
            sort: The order in which a `queried` source returns its rows.
        """
        there = {column.key for column in source.columns}
        if not source.queried:
            mine = self.sort if self.source is None or not self.source.queried else None
            sort = mine if mine and mine.column in there else None
        self.source, self.sort = source, sort
        self.conditions = tuple(one for one in self.conditions if one.field in ("", *there))
        self._show_arranged()

    def _show_arranged(self) -> None:
        given = self.source
        assert given is not None
        sort = None if given.queried else self.sort
        self._arranged = ArrangedSource(given, sort, self.conditions) if sort or self.conditions else given
        self.ready = False
        self._load(natural=True)
        self._measure()

    def show_records(self, columns: Columns[Record], records: Iterable[tuple[int, Record]]) -> None:
        """Show records, each with its row id, as rows of these columns; see `show_rows`."""
        self.show_rows(table_columns(columns), rows_of(columns, records))

    def show_table(self, found: Table) -> None:
        """Show a table of a document, as the command line prints it; a row's id is its position."""
        self.show_rows(*rows_of_table(found))

    def show_rows(self, columns: Sequence[TableColumn], rows: Sequence[TableRow]) -> None:
        """Show rows from memory; the cursor is kept, and so is the order if its column still exists."""
        given = self.source
        if not isinstance(given, MemorySource) or given.columns != tuple(columns):
            self.set_source(MemorySource(columns, rows))
            return
        before = self._arranged_ids()
        given.put(rows)
        if self._arranged_ids() != before:
            self.reload()
        else:
            self.refresh_rows()

    def _arranged_ids(self) -> array[int]:
        assert self._arranged is not None
        return self._arranged.ids()

    # -- the order, and the column under the cursor -----------------------------------------------

    def action_sideways(self, steps: int) -> None:
        if self._painter is None:
            return
        self._place_column(max(0, min(self.column + steps, len(self._painter.shown) - 1)))

    def _place_column(self, column: int) -> None:
        self.column = column
        if self._painter is not None and column < len(self._painter.shown):
            self.scroll_to(x=self._painter.scrolled_to(column, self.scroll_offset.x), animate=False, force=True)
        self.refresh()
        self.post_message(messages.ColumnHighlighted(self))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable an action if the screen uses its key."""
        keys = _keys_of(tuple(one for one in self.ACTIONS if one.run.partition("(")[0] == action))
        return keys.isdisjoint(_keys_of(getattr(self.screen, "ACTIONS", ())))

    @property
    def column_here(self) -> TableColumn | None:
        return None if self._painter is None else self._painter.columns[self.column_index]

    @property
    def column_index(self) -> int:
        """Return the index of the column under the cursor, among all columns."""
        return 0 if self._painter is None else self._painter.shown[min(self.column, len(self._painter.shown) - 1)]

    @property
    def _cursor_row(self) -> TableRow | None:
        row = None if self._cache is None or self.cursor is None else self._cache.row(self.cursor)
        return row if row is not None and row.cells else None

    def copies(self) -> Iterator[Copyable]:
        if self._painter is not None and self._cursor_row is not None:
            yield from row_copyables(self._painter.columns, self._cursor_row, self.column_index)

    def action_sort(self) -> None:
        """Sort by the column under the cursor: worst first, then reversed, then unsorted."""
        if self.column_here is not None:
            self._apply_sort(next_sort(self.column_here, self.sort))

    def action_reverse(self) -> None:
        if self.column_here is not None:
            self._apply_sort((self.sort or worst_first(self.column_here)).turned())

    def _apply_sort(self, sort: Sort | None) -> None:
        if self.source is not None and self.source.queried:
            self.post_message(messages.SortRequested(self, sort))
        else:
            self.sort = sort
            self._show_arranged()

    # -- conditions --------------------------------------------------------------------------------

    @property
    def chips(self) -> tuple[Condition, ...]:
        return (*self.asked, *self.conditions)

    def set_query_conditions(self, conditions: tuple[Condition, ...]) -> None:
        self.asked = conditions
        self._measure()

    def narrow(self, conditions: tuple[Condition, ...]) -> None:
        if conditions != self.conditions and self.source is not None:
            self.conditions = conditions
            self._show_arranged()

    def add_condition(self, condition: Condition) -> None:
        if condition in self.chips:
            return
        if self.takes(condition):
            self.post_message(messages.NarrowRequested(self, (*self.asked, condition)))
        else:
            self.narrow((*self.conditions, condition))

    def remove_condition(self, place: int) -> None:
        own = place - len(self.asked)
        if own < 0:
            left = (*self.asked[:place], *self.asked[place + 1 :])
            self.post_message(messages.NarrowRequested(self, left))
        else:
            self.narrow((*self.conditions[:own], *self.conditions[own + 1 :]))

    def action_filter(self) -> None:
        given = self.source
        if given is None:
            return
        pages = () if self._cache is None else self._cache.pages
        at_hand = given.rows if isinstance(given, MemorySource) else chain.from_iterable(pages)
        text = " ".join(map(condition_text, self.conditions))
        suggester = ConditionSuggester(values_of(given.columns, at_hand))

        def narrow(text: str) -> None:
            self.narrow(read_line(text, given.columns))

        self.app.push_screen(filter_line(text, narrow, self.filter_hint, suggester))

    @property
    def filter_hint(self) -> str:
        """Return the placeholder of an empty line of conditions."""
        return 'gold=correct n>20 a-word "some words"'

    def action_unfilter(self) -> None:
        if self.chips:
            self.remove_condition(len(self.chips) - 1)

    def action_only(self) -> None:
        if self.column_here is not None and self._cursor_row is not None:
            value = condition_value(self._cursor_row.cells[self.column_index])
            self.add_condition(Condition(self.column_here.key, "=", value))

    def action_counts(self) -> None:
        if self._arranged is not None and self.column_here is not None:
            self.post_message(messages.CountsRequested(self, self._arranged, self.column_index))

    def action_export(self) -> None:
        if self._arranged is not None and self._painter is not None:
            self.post_message(messages.ExportRequested(self, self._arranged, tuple(self._painter.shown)))

    # -- columns -----------------------------------------------------------------------------------

    def action_hide_column(self) -> None:
        if self._painter is not None and self.column_here is not None and len(self._painter.shown) > 1:
            self.layout_of_columns.hidden.add(self.column_here.key)
            self._update_layout()

    def action_choose_columns(self) -> None:
        if self._painter is None:
            return
        names = {column.key: column.title.strip() or column.key or "mark" for column in self._painter.columns}
        hidden = self.layout_of_columns.hidden
        taken = [name for key, name in names.items() if key not in hidden]
        menu = ManyMenu("Columns", list(dict.fromkeys(names.values())), taken)

        def chosen(wanted: tuple[str, ...]) -> None:
            if wanted:
                hidden.difference_update(names)
                hidden.update(key for key, name in names.items() if name not in wanted)
                self._update_layout()

        choose(self, menu, chosen)

    def action_resize(self, steps: int) -> None:
        if self._painter is not None and self.column_here is not None:
            width = self._painter.widths[self.column] + steps * _WIDTH_STEP
            self.layout_of_columns.widths[self.column_here.key] = max(_MIN_WIDTH, width)
            self._update_layout()

    def _update_layout(self) -> None:
        if self._painter is not None:
            self._painter.resize(self.scrollable_size.width)
            self._measure()
            self._place_column(min(self.column, len(self._painter.shown) - 1))
