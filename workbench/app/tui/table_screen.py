"""Screens that list rows: one table, the texts around it, and the common behaviour of lists."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, TypeVar

from msgspec import structs
from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.timer import Timer
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Static

from workbench.app.tui.kit.arranging import ConditionSuggester, condition_text
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import Sort
from workbench.app.tui.kit.prompt_line import PromptLine, filter_line
from workbench.app.tui.kit.sources import PagedSource
from workbench.app.tui.kit.table_messages import (
    Failed,
    NarrowRequested,
    RowHighlighted,
    RowSelected,
    SelectionHidden,
    SortRequested,
)
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screen import WorkbenchScreen
from workbench.core.label import FLAG_STATES
from workbench.core.selection import COLUMN, FIELDS, Condition
from workbench.core.taxonomy import SUBTYPES, TYPES, UNTYPED
from workbench.measuring import browsing
from workbench.tables.table import Columns

_FIXED: dict[str, tuple[str, ...]] = {
    "state": ("unlabelled", "labelled", "conflict", "final", "excluded"),
    "gold": ("correct", "incorrect", "none"),
    "flagged": FLAG_STATES,
    "type": (*TYPES, UNTYPED),
    "subtype": (*SUBTYPES, UNTYPED),
}

_VERDICTS = ("correct", "incorrect", "abstain", "error", "none")


def item_suggester(names: Mapping[str, Sequence[str]]) -> ConditionSuggester:
    """Complete conditions on items.

    Args:
        names: Field -> its values; ``verdict:`` has the names of verifiers, ``column:NAME`` the values of a kept
            column.
    """
    verifiers = [f"verdict:{name}" for name in names.get("verdict:", ())]
    values = {**names, **_FIXED, **dict.fromkeys([*verifiers, "verdict"], _VERDICTS)}
    fields = (*verifiers, *FIELDS, *(name for name in names if name.startswith(COLUMN)))
    return ConditionSuggester({field: values.get(field, ()) for field in fields})


Row = TypeVar("Row")


class TableScreen(WorkbenchScreen):
    """A table, the texts above and below it, and the row under the cursor in full.

    A subclass defines its data, the rows made of it, and what a row opens; actions common to all lists belong to the
    table.

    Attributes:
        ABOVE: Names of the texts between title and table.
        BELOW: Names of the texts below the table.
        DETAIL: Whether a scrollable text shows the row under the cursor in full.
        PANE: Whether that text can take the focus.
        EMPTY: Text in place of table and detail while the screen has the class ``empty``.
        REST_S: Seconds the cursor rests before a row's details are read.
        WIDE: Terminal columns from which the table has more columns; 0 if it always has the same.
        ITEMS: Whether the rows are items; the table's row ids are then those of completions.
        records: The listed records; see `list_records`.
    """

    DEFAULT_CSS = """
    TableScreen .nothing { display: none; height: 1fr; padding: 1 2; }
    TableScreen.empty .nothing { display: block; }
    TableScreen.empty VirtualTable, TableScreen.empty .detail { display: none; }
    """
    ABOVE: ClassVar[tuple[str, ...]] = ()
    BELOW: ClassVar[tuple[str, ...]] = ()
    DETAIL: ClassVar[bool] = False
    PANE: ClassVar[bool] = False
    EMPTY: ClassVar[str] = ""
    REST_S: ClassVar[float] = 0
    WIDE: ClassVar[int] = 0
    ITEMS: ClassVar[bool] = False
    records: Sequence[Any] = ()
    _schedule_pause: Timer | None = None

    # -- the frame ---------------------------------------------------------------------------------

    def content(self) -> ComposeResult:
        yield from self.above()
        yield VirtualTable(id=f"{self.PREFIX}-table")
        yield from self.texts(*self.BELOW)
        if self.DETAIL:
            name = f"{self.PREFIX}-detail"
            yield VerticalScroll(Static(markup=False), id=name, classes="detail", can_focus=self.PANE)
        if self.EMPTY:
            yield Static(self.EMPTY, id=f"{self.PREFIX}-empty", classes="nothing", markup=False)

    def above(self) -> Iterator[Widget]:
        yield from self.texts(*self.ABOVE)

    @property
    def table(self) -> VirtualTable:
        return self.query_one(VirtualTable)

    @property
    def wide(self) -> bool:
        return self.size.width >= self.WIDE

    def redraw(self) -> None:
        if self.WIDE and any(table.source for table in self.query(VirtualTable)):
            self.fill()

    def fill(self) -> None:
        """Fill the table with the loaded data; called again when the width changes."""

    def list_records(self, columns: Columns[Row], records: Sequence[Row]) -> None:
        """Fill the table with records, whose row ids are their positions; the cursor stays at its line."""
        table, at, self.records = self.table, self.table.cursor or 0, records
        table.show_records(columns, enumerate(records))
        self.set_class(not records, "empty")
        if records:
            table.focus()
            table.jump_to_row(min(at, len(records) - 1) + 1)

    def put_detail(self, text: VisualType, *, begin: bool = True) -> None:
        """Replace the text about the row under the cursor.

        Args:
            begin: Whether to scroll to its beginning, because it is about another row.
        """
        box = self.query_one(f"#{self.PREFIX}-detail", VerticalScroll)
        shown = box.query_one(Static)
        before = _height_of(shown)
        shown.update(text, layout=False)
        # A new layout costs as much as drawing the screen, and most rows have texts of the same height.
        if before != _height_of(shown) or not before:
            shown.refresh(layout=True)
        if begin and box.scroll_offset.y:
            box.scroll_home(animate=False)

    @property
    def record_here(self) -> Any | None:
        """Return the record under the cursor."""
        at = self.table.selected_id
        return self.records[at] if at is not None and at < len(self.records) else None

    # -- rows --------------------------------------------------------------------------------------

    def highlighted(self, row: int) -> None:
        """Handle the cursor's move to a row."""

    def opened(self, row: int) -> None:
        """Open a row, after a key or a click on the row under the cursor."""

    @on(RowHighlighted)
    def _row_highlighted(self, event: RowHighlighted) -> None:
        if self._schedule_pause is not None:
            self._schedule_pause.stop()
        if self.REST_S:
            self._schedule_pause = self.set_timer(self.REST_S, partial(self.highlighted, event.row_id))
        else:
            self.highlighted(event.row_id)

    @on(RowSelected)
    def _row_selected(self, event: RowSelected) -> None:
        self.opened(event.row_id)

    @property
    def item_here(self) -> int | None:
        return self.table.selected_id if self.ITEMS and self.table.cursor is not None else None

    def action_open_row(self) -> None:
        self.table.action_open()

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        WorkbenchScreen.show_error(self, event.error)


def _height_of(text: Static) -> int:
    """Return a text's height in lines; 0 before it has been laid out."""
    width = text.content_size.width
    return text.visual.get_height(text.styles.get_rules(), width) if width else 0


class FilterScreen(TableScreen):
    """A list filtered by typed conditions; its metrics are those of the filtered items.

    Attributes:
        FILTER_HINT: Placeholder of an empty line of conditions.
        asked: The query: a record with ``conditions``.
        change: Changes fields of the query and lists its items.
    """

    asked: Any
    change: Callable[..., None]
    FILTER_HINT: ClassVar[str] = "type=A dataset=NAME verdict:NAME=correct column:NAME=VALUE"

    @property
    def conditions(self) -> tuple[Condition, ...]:
        found: tuple[Condition, ...] = self.asked.conditions
        return found

    def on_mount(self) -> None:
        self.table.takes = is_item_condition
        self.table.set_query_conditions(self.conditions)

    @on(NarrowRequested)
    def _narrow_requested(self, event: NarrowRequested) -> None:
        self._apply_conditions(event.conditions)

    def _apply_conditions(self, conditions: tuple[Condition, ...]) -> None:
        if conditions != self.conditions:
            self.table.set_query_conditions(conditions)
            self.change(conditions=conditions)

    def action_filter(self) -> None:
        self.in_background(partial(browsing.field_values, self.project), self._ask_filter, group="names")

    def _ask_filter(self, names: dict[str, list[str]]) -> None:
        def apply(text: str) -> None:
            self._apply_conditions(browsing.read_conditions(text, names["verdict:"]))

        self.app.push_screen(filter_line(self.filter_text, apply, self.FILTER_HINT, item_suggester(names)))

    @property
    def filter_text(self) -> str:
        return " ".join(map(condition_text, self.conditions))

    def clear_restriction(self) -> bool:
        if self.table.chips:
            self.table.narrow(())
            self._apply_conditions(())
            return True
        return super().clear_restriction()


def is_item_condition(condition: Condition) -> bool:
    return condition.field in FIELDS or condition.field.startswith(("verdict:", COLUMN))


class CatalogScreen(TableScreen):
    """All records of a kind, read page by page; they can be searched, sorted, and found by row number or name.

    Attributes:
        KIND: What a row is called, and what its name is called: ``("item", "id")``.
        SEARCH_HINT: Placeholder of an empty search line.
        JUMP_HINT: Placeholder of an empty jump line.
        asked: The query: a record with ``search``, ``sort`` and ``descending``.
    """

    KIND: ClassVar[tuple[str, str]]
    SEARCH_HINT: ClassVar[str]
    JUMP_HINT: ClassVar[str]

    def __init__(self, asked: Any) -> None:
        super().__init__()
        self.asked = asked
        self._source: PagedSource[Any] | None = None
        self._hidden = False

    @abstractmethod
    def rows_of(self, asked: Any) -> PagedSource[Any]:
        """Return a source of the query's rows; runs in a thread."""

    @abstractmethod
    def find(self, name: str) -> list[int]:
        """Return the ids of the rows with this name; runs in a thread."""

    def narrowed(self) -> list[str]:
        """Return the active restrictions other than the search, as texts for the title line."""
        return []

    def on_mount(self) -> None:
        self.watch(self.table, "position", self.tell, init=False)

    def show_index_progress(self) -> None:
        self.tell()

    def on_unmount(self) -> None:
        if self._source is not None:
            self._source.cancel()

    # -- the query ---------------------------------------------------------------------------------

    def change(self, **changes: Any) -> None:
        """Change fields of the query and read its rows; without changes, read them again."""
        asked = self.asked = structs.replace(self.asked, **changes)
        self.in_background(lambda: (asked, self.rows_of(asked)), self._show, group="rows")

    def fill(self) -> None:
        self.change()

    action_again = fill

    def _show(self, found: tuple[Any, PagedSource[Any]]) -> None:
        asked, source = found
        older, self._source, self._hidden = self._source, source, False
        self.table.set_source(source, sort=Sort(asked.sort, asked.descending) if asked.sort else None)
        self.table.mark(asked.search)
        if older is not None:
            older.cancel()  # after the table has dropped it: cancelling then causes no error message
        self.tell()

    def tell(self) -> None:
        narrowed = self.narrowed()
        self.table.narrowed = bool(narrowed)
        parts = [self.table.position, *narrowed]
        if self.asked.search:
            parts.append(f"/{self.asked.search}")
            if (share := self.workbench.indexed) is not None:
                parts.append(f"index {100 * share:.0f} % built")
        if self.table.position.endswith("…"):
            parts.append("reading")
        elif self._hidden and self.table.cursor is None:
            parts.append("selection filtered out")
        self.say(printable("  ·  ".join(parts)))

    @on(SelectionHidden)
    def _selection_hidden(self) -> None:
        self._hidden = True
        self.tell()

    # -- search and jump ---------------------------------------------------------------------------

    def action_search(self) -> None:
        self.app.push_screen(PromptLine("/", self.asked.search, entered=self._search, hint=self.SEARCH_HINT))

    def _search(self, text: str) -> None:
        if text != self.asked.search:
            self.change(search=text)

    def action_jump(self) -> None:
        self.app.push_screen(PromptLine("go to", entered=self._jump, hint=self.JUMP_HINT))

    def _jump(self, text: str) -> bool:
        number = text.replace(",", "").replace("_", "")
        if number.isdecimal() and 1 <= int(number) <= self.table.row_count:
            self.table.jump_to_row(int(number))
        elif text:
            (kind, called), name = self.KIND, text.removeprefix("#")
            lacks = f"There are {self.table.row_count:,} rows." if number.isdecimal() else ""
            lacks = lacks or f"No {kind} has the {called} {name!r}."
            several = f"{kind}s have the {called} {name!r}; this is the first."
            self.in_background(partial(self.find, name), partial(self._jump_to_found, lacks, several), group="find")
            return False
        return True

    def _jump_to_found(self, lacks: str, several: str, ids: list[int]) -> None:
        line = self.open_line
        if ids:
            self.table.jump_to_id(ids[0])
        if len(ids) > 1:
            self.notify(f"{len(ids)} {several}")
        if line is not None and ids:
            line.dismiss("")
        elif line is not None:
            line.complain(lacks)

    def clear_restriction(self) -> bool:
        if self.asked.search:
            self.change(search="")
            return True
        return super().clear_restriction()

    # -- sorting -----------------------------------------------------------------------------------

    @on(SortRequested)
    def _sort_requested(self, event: SortRequested) -> None:
        sort = event.sort
        self.change(sort=sort and sort.column, descending=sort is not None and sort.descending)
