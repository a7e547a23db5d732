"""The errors reviewers have marked: how many of each kind every verifier makes, overall and on each answer type."""

from __future__ import annotations

from array import array
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widgets import DataTable, Static

from workbench.app.tui.actions import Action
from workbench.app.tui.kit.cells import fit, printable
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.switches import following
from workbench.core.text.figures import counted
from workbench.measuring.records.review import ERROR_CATEGORIES, ErrorCategory
from workbench.measuring.reviewing.decided import Part
from workbench.measuring.reviewing.error_tables import ErrorLine, categories_of, error_lines, group_words, save_errors
from workbench.measuring.reviewing.reviewed import marked_items

_PARTS: tuple[Part | None, ...] = ("subtype", "type", None)
_NAME = 32
_NONE = """\
No error has been marked yet. On an item, e marks a verifier's error: a second key says of what kind it is.
"""


class ErrorCountsScreen(WorkbenchScreen):
    """A table with a cursor on one cell; enter opens the first of the cell's items, and n goes through them."""

    CSS_PATH = "error_counts.tcss"
    TITLE_TEXT = "Errors by kind"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("errors.open", "o,enter", "open_cell", "Open", "Open the items behind the figure, one by one."),
        Action("errors.by", "b", "next_part", "By", "Count by subtype, by type, or over all items only."),
        Action("errors.csv", "w", "save('csv')", "CSV", "Write the table as CSV beside the database."),
        Action("errors.markdown", "m", "save('markdown')", "Markdown", "Write it as Markdown beside the database."),
        Action("errors.again", "r", "again", "Read again", "Count anew.", footer=False),
    )

    def __init__(self) -> None:
        super().__init__()
        self.part: Part | None = _PARTS[0]
        self.lines: list[ErrorLine] = []

    def compose(self) -> ComposeResult:
        """The frame; the counts come later."""
        yield TitleBar(self.TITLE_TEXT, "reading …")
        yield DataTable[Text](id="errors-table", fixed_columns=1, cell_padding=0)
        yield Static(id="errors-cell", markup=False)
        yield Footer(show_command_palette=False)

    def on_screen_resume(self) -> None:
        """Count: at first, and again when an item was open."""
        self.action_again()

    def action_again(self) -> None:
        """Count anew."""
        self.in_background(partial(error_lines, self.project, self.part), self._show, group="errors", stops=True)

    def action_next_part(self) -> None:
        """Count by the next property."""
        self.part = following(self.part, _PARTS)
        self.action_again()

    @property
    def _columns(self) -> list[ErrorCategory | None]:
        """All kinds together, then the kinds that occur."""
        return [None, *categories_of(self.lines)]

    def _show(self, lines: list[ErrorLine]) -> None:
        table = self.query_one(DataTable)
        place = table.cursor_coordinate
        self.lines = lines
        table.clear(columns=True)
        table.add_column(Text(fit(" verifier", _NAME)), width=_NAME)
        for category in self._columns:
            title = category or "marked"
            table.add_column(Text(f"  {title}", justify="right"), width=cell_len(title) + 2)
        for line in lines:
            table.add_row(_name(line), *(_figure(line, category) for category in self._columns))
        table.move_cursor(row=place.row, column=max(1, place.column))
        table.focus()
        marked = sum(line.marked for line in lines if line.group is None)
        by = f"by {self.part}" if self.part else "over all items"
        self.say(f"{counted(marked, 'error')} marked · {by}")
        self._describe()

    @property
    def chosen(self) -> tuple[ErrorLine, ErrorCategory | None] | None:
        """The line and the kind under the cursor."""
        place = self.query_one(DataTable).cursor_coordinate
        if not 0 <= place.row < len(self.lines) or place.column > len(self._columns):
            return None
        return self.lines[place.row], self._columns[max(place.column - 1, 0)]

    @on(DataTable.CellHighlighted)
    def _describe(self) -> None:
        words = _NONE if self.chosen is None else _sentence(*self.chosen)
        self.query_one("#errors-cell", Static).update(words)

    @on(DataTable.CellSelected)
    def action_open_cell(self) -> None:
        """Open the items behind the figure."""
        if self.chosen is not None:
            line, category = self.chosen
            part = None if line.group is None else self.part
            read = partial(marked_items, self.project, line.verifier, category, part, line.group)
            self.in_background(read, partial(self._open, line.verifier), group="errors-items")

    def _open(self, verifier: str, found: array[int]) -> None:
        from workbench.app.tui.screens.item import ItemScreen

        if found:
            self.app.push_screen(ItemScreen(found[0], found, (verifier,)))
        else:
            self.notify("There is no such error.", markup=False)

    def action_save(self, as_: Literal["csv", "markdown"]) -> None:
        """Write the table beside the database."""
        self.in_background(partial(save_errors, self.project, self.part, as_), self._saved, group="errors-save")

    def _saved(self, path: Path) -> None:
        self.notify(str(path), title="Written", markup=False)


def _name(line: ErrorLine) -> Text:
    if line.group is None:
        return Text(fit(f" {line.verifier}", _NAME), style="bold")
    return Text(fit(f"   {group_words(line.group)}", _NAME))


def _figure(line: ErrorLine, category: ErrorCategory | None) -> Text:
    count = line.marked if category is None else line.counts.get(category, 0)
    return Text(f"{count:,}" if count else "·", style="bold" if line.group is None else "", justify="right")


def _sentence(line: ErrorLine, category: ErrorCategory | None) -> str:
    """The figure under the cursor in words."""
    count = line.marked if category is None else line.counts.get(category, 0)
    where = "all items" if line.group is None else group_words(line.group)
    said = f"{printable(line.verifier)} on {where}: {counted(count, 'marked error')}"
    if category is not None:
        return f"{said} of kind {category}: {ERROR_CATEGORIES[category]}"
    more = f" {line.outdated:,} more: gold has come to agree with the verifier." if line.outdated else ""
    return f"{said} of any kind.{more}"
