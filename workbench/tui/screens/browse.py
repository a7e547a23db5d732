"""Browse: every item in a table, with search, conditions, sorting and details beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.timer import Timer

from workbench.errors import UsageError
from workbench.model.browse import BrowseQuery
from workbench.model.selection import Condition
from workbench.services.items import browsing
from workbench.tui.actions import Action
from workbench.tui.screen import BREAKPOINTS, WorkbenchScreen
from workbench.tui.screens.sort_by import IMPORT_ORDER, SortByScreen
from workbench.tui.widgets import table_messages
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import Sort
from workbench.tui.widgets.condition_suggester import ConditionSuggester
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.item_source import ItemSource
from workbench.tui.widgets.prompt_bar import PromptBar
from workbench.tui.widgets.reader import Reader
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable

if TYPE_CHECKING:
    from workbench.render.document import RenderedText
    from workbench.tui.screens.item import ItemScreen

_PAUSE_S = 0.1
"""The cursor rests this long before details are read."""


class BrowseScreen(WorkbenchScreen):
    """The table of all items.

    Args:
        conditions: Which items to begin with; all of them when there are none.
    """

    CSS_PATH = "browse.tcss"
    TITLE_TEXT = "Browse"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("browse.search", "slash", "search", "Search", "Search ids, questions, references and completions."),
        Action("browse.filter", "f", "filter", "Filter", "Show only items for which conditions hold."),
        Action("browse.sort", "s", "sort", "Sort", "Choose the column to sort by."),
        Action("browse.reverse", "S", "reverse", "Reverse", "Turn the order round.", footer=False),
        Action("browse.jump", "g", "jump", "Jump", "Go to a row number or to an item's id."),
        Action("browse.details", "d", "details", "Details", "Show the row's texts beside the table."),
        Action("browse.again", "r", "again", "Read again", "Read the items anew.", footer=False),
        Action("browse.back", "escape", "back", "Back", "Clear the search, then the filter, then go back."),
    )

    def __init__(self, *conditions: Condition) -> None:
        super().__init__()
        self._query = BrowseQuery(conditions=conditions)
        self._filter_text = " ".join(map(_shown, conditions))
        self._source: ItemSource | None = None
        self._opened: ItemScreen | None = None
        self._hidden = False
        self._rest: Timer | None = None

    def compose(self) -> ComposeResult:
        """The frame; rows come later."""
        yield TitleBar("Browse", "…")
        with Horizontal():
            yield VirtualTable()
            yield Reader(title="Details", id="browse-details")
        yield PromptBar()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin to read."""
        table = self.query_one(VirtualTable)
        table.focus()
        self.watch(table, "position", self._tell, init=False)  # in one frame with the cursor; a message comes later
        self._read()

    def on_unmount(self) -> None:
        """Nobody waits for the rows any more."""
        if self._source is not None:
            self._source.items.cancel()

    def on_screen_resume(self) -> None:
        """Go to the item that was read last, and show what has changed."""
        if self._opened is not None:
            table = self.query_one(VirtualTable)
            table.jump_to_id(self._opened.completion)
            table.refresh_rows()
            self._opened = None

    # -- the query ---------------------------------------------------------------------------------

    def _read(self) -> None:
        """Ask for the items of the query."""
        project, query = self.project, self._query
        self.in_background(lambda: ItemSource(browsing.ItemTable(project, query)), self._show, group="browse-open")

    def _show(self, source: ItemSource) -> None:
        older, self._source, self._hidden = self._source, source, False
        sort = Sort(source.items.query.sort, source.items.query.descending) if source.items.query.sort else None
        self.query_one(VirtualTable).set_source(source, sort=sort)
        if older is not None:
            older.items.cancel()  # after its readers have been: it ends without a word
        self._tell()

    def _change(self, **changes: object) -> None:
        self._query = msgspec.structs.replace(self._query, **changes)
        self._read()

    def action_again(self) -> None:
        """Read the items anew."""
        self._read()

    # -- search, filter, jump ----------------------------------------------------------------------

    def action_search(self) -> None:
        """Ask for a text."""
        hint = "part of an id, question, reference or completion"
        self.query_one(PromptBar).ask("search", "/", self._query.search, hint=hint)

    def action_filter(self) -> None:
        """Ask for conditions; what can be filtered by is read for the suggestions."""
        self.in_background(lambda: browsing.names(self.project), self._ask_filter, group="browse-names")

    def _ask_filter(self, names: dict[str, list[str]]) -> None:
        text = self._filter_text
        self.query_one(PromptBar).ask(
            "filter",
            "filter",
            f"{text} " if text else "",
            hint="type=A state!=final verdict:NAME=correct  (tab completes)",
            suggester=ConditionSuggester(names),
        )

    def action_jump(self) -> None:
        """Ask for a place."""
        self.query_one(PromptBar).ask("jump", "go to", hint="row number, or an item's id (#17 for an id of digits)")

    @on(PromptBar.Submitted)
    def _answered(self, event: PromptBar.Submitted) -> None:
        text = event.text.strip()
        if event.asked == "jump":
            self._jump(text)
            return
        try:
            if event.asked == "search":
                self._search(text)
            else:
                self._filter(text)
        except UsageError as error:
            self.query_one(PromptBar).complain(f"{error.message} {error.hint}")
            return
        self._close_prompt()

    def _search(self, text: str) -> None:
        if text != self._query.search:
            self._change(search=text)

    def _filter(self, text: str) -> None:
        verifiers = self._source.items.verifiers if self._source is not None else ()
        conditions = browsing.read_conditions(text, verifiers)
        self._filter_text = text
        if conditions != self._query.conditions:
            self._change(conditions=conditions)

    def _jump(self, text: str) -> None:
        table = self.query_one(VirtualTable)
        number = text.replace(",", "").replace("_", "")
        if not text:
            self._close_prompt()
        elif not number.isdecimal():
            key = text.removeprefix("#")
            self.in_background(lambda: (key, browsing.find(self.project, key)), self._go_to, group="browse-find")
        elif 1 <= int(number) <= table.row_count:
            table.jump_to_row(int(number))
            self._close_prompt()
        else:
            self.query_one(PromptBar).complain(f"There are {table.row_count:,} rows.")

    def _go_to(self, found: tuple[str, list[int]]) -> None:
        key, ids = found
        if not ids:
            self.query_one(PromptBar).complain(f"No item has the id {key!r}.")
            return
        self._close_prompt()
        self.query_one(VirtualTable).jump_to_id(ids[0])
        if len(ids) > 1:
            self.notify(f"{len(ids)} items have the id {key!r}; this is the first.", markup=False)

    def _close_prompt(self) -> None:
        self.query_one(PromptBar).close()
        self.query_one(VirtualTable).focus()

    def action_back(self) -> None:
        """Close the line, else clear the search, else the filter, else leave."""
        if self.query_one(PromptBar).asking:
            self._close_prompt()
        elif self._query.search:
            self._change(search="")
        elif self._query.conditions:
            self._filter_text = ""
            self._change(conditions=())
        else:
            self.workbench.action_go_back()

    # -- sorting -----------------------------------------------------------------------------------

    def action_sort(self) -> None:
        """Choose a column."""
        if self._source is not None:
            table = self.query_one(VirtualTable)
            self.app.push_screen(SortByScreen(self._source.columns, table.sort), self._sort_by)

    def action_reverse(self) -> None:
        """Turn the order round."""
        self._change(descending=not self._query.descending)

    @on(VirtualTable.SortRequested)
    def _header_clicked(self, event: table_messages.SortRequested) -> None:
        self._sort_by(event.column)

    def _sort_by(self, column: str | None) -> None:
        if column is None:
            return
        again = column == (self._query.sort or IMPORT_ORDER)
        self._change(sort=column or None, descending=again and not self._query.descending)

    # -- rows --------------------------------------------------------------------------------------

    @on(VirtualTable.RowSelected)
    def _open(self, event: table_messages.RowSelected) -> None:
        from workbench.tui.screens.item import ItemScreen

        ordered = self._source.ordered if self._source is not None else None
        neighbours = event.table.visible_ids if ordered is None else ordered
        self._opened = ItemScreen(event.row_id, neighbours, _verifiers(self._query.conditions))
        self.app.push_screen(self._opened)

    @on(VirtualTable.SelectionHidden)
    def _selection_hidden(self) -> None:
        self._hidden = True
        self._tell()

    @on(VirtualTable.Failed)
    def _failed(self, event: table_messages.Failed) -> None:
        self.trouble(event.error)

    def _tell(self) -> None:
        """Where the cursor is, and of what."""
        table, query = self.query_one(VirtualTable), self._query
        parts = [table.position]
        if query.conditions:
            parts.append(" ".join(map(_shown, query.conditions)))
        if query.search:
            parts.append(f"/{query.search}")
        if table.position.endswith("…"):
            parts.append("reading")
        elif self._hidden and table.cursor is None:
            parts.append("selection filtered out")
        self.query_one(TitleBar).say(printable("  ·  ".join(parts)))

    # -- details -----------------------------------------------------------------------------------

    def action_details(self) -> None:
        """Show or hide the details beside the table."""
        if not self.has_class("-wide"):
            self.notify("Details need 100 columns; enter opens the item.", markup=False)
            return
        self.toggle_class("details")
        self._read_details()

    @on(VirtualTable.RowHighlighted)
    def _highlighted(self) -> None:
        if self._rest is not None:
            self._rest.stop()
        if self.has_class("details"):
            self._rest = self.set_timer(_PAUSE_S, self._read_details)

    def _read_details(self) -> None:
        item = self.query_one(VirtualTable).selected_id
        if item is not None and self.has_class("details") and self.has_class("-wide"):
            width = self.query_one("#browse-details", Reader).wrap_width
            self.in_background(lambda: self._preview(item, width), self._show_details, group="browse-details")

    def _preview(self, item: int, width: int) -> RenderedText:
        from workbench.tui.widgets.item_preview import preview

        return preview(browsing.detail(self.project, item, self.workbench.names_worked_under), width)

    def _show_details(self, text: RenderedText) -> None:
        self.query_one("#browse-details", Reader).show(text)


def _verifiers(conditions: tuple[Condition, ...]) -> tuple[str, ...]:
    """The verifiers by whose verdicts the items were chosen."""
    fields = (condition.field.partition(":") for condition in conditions)
    return tuple(name for kind, _, name in fields if kind == "verdict")


def _shown(condition: Condition) -> str:
    """A condition as it is typed."""
    value = f'"{condition.value}"' if " " in condition.value else condition.value
    return f"{condition.field}{condition.operator}{value}"
