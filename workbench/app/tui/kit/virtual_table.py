"""A table of more rows than fit in memory: it draws the rows that are in memory and fetches the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from textual import events, on
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scrollbar import ScrollBar
from textual.strip import Strip

from workbench.app.tui.keymap import Action, bindings, key_of
from workbench.app.tui.kit import table_messages as messages
from workbench.app.tui.kit.arranged_view import ArrangedView
from workbench.app.tui.kit.arranging import CHIP, chips_line
from workbench.app.tui.kit.cells import highlight_matches
from workbench.app.tui.kit.columns import RowPainter
from workbench.app.tui.kit.sources import PAGE, FixedSource
from workbench.core.text.excerpt import search_pattern


class VirtualTable(ArrangedView, can_focus=True, inherit_bindings=False):
    """Rows of a `RowSource` with a cursor, sort marks and a position.

    The selection is the id of a row: it survives sorting, filtering and new rows. Rows are read in
    threads; rows that have not been read yet are drawn dim.

    Attributes:
        position: The cursor's row number and the number of rows, as text: ``123,456 of 1,450,000``.
        narrowed: Whether the screen leaves out rows that escape brings back.
    """

    ALLOW_SELECT = False
    CELL_CURSOR: ClassVar[bool] = False
    """Whether the cursor marks only a cell instead of the whole row."""
    GAP: ClassVar[int] = 1
    """Cells between columns."""
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"virtual-table--{part}"
        for part in ("header", "cursor", "success", "error", "warning", "accent", "dim", "bold", "hit")
    }
    DEFAULT_CSS = """
    VirtualTable {
        height: 1fr;
        background: $surface;
        color: $foreground;
        overflow-x: auto;
        overflow-y: scroll;
        scrollbar-size: 1 1;
        & > .virtual-table--header {
            background: $panel; color: $foreground; text-style: bold;
        }
        & > .virtual-table--cursor {
            background: $block-cursor-blurred-background;
            color: $block-cursor-blurred-foreground;
            text-style: bold;
        }
        &:focus > .virtual-table--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: bold;
        }
        & > .virtual-table--success { color: $text-success; }
        & > .virtual-table--error { color: $text-error; text-style: bold; }
        & > .virtual-table--warning { color: $text-warning; }
        & > .virtual-table--accent { color: $text-accent; }
        & > .virtual-table--dim { color: $text-muted; }
        & > .virtual-table--bold { text-style: bold; }
        & > .virtual-table--hit { background: $warning-muted; color: $text-warning; text-style: bold underline; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="table.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="table.down"),
        Binding("pageup,ctrl+u", "move_page(-1)", "Page up", show=False, id="table.page-up"),
        Binding("pagedown,ctrl+d", "move_page(1)", "Page down", show=False, id="table.page-down"),
        Binding("home", "first", "First row", show=False, id="table.first"),
        Binding("end", "last", "Last row", show=False, id="table.last"),
        Binding("left", "sideways(-1)", "Column at the left", show=False, id="table.left"),
        Binding("right", "sideways(1)", "Column at the right", show=False, id="table.right"),
        *bindings((Action("table.open", "enter", "open", "Open", "Open the row under the cursor.", False),)),
        *bindings(ArrangedView.ACTIONS),
    ]

    position: reactive[str] = reactive("", repaint=False)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._strips: LRUCache[tuple[int, int | None, int], Strip] = LRUCache(1024)
        self._part_styles: dict[str, Style] = {}
        self._announced: int | None = None
        self.narrowed = False
        self._sought: re.Pattern[str] | None = None
        self._line = 0  # the cursor's line below the header when it was last visible

    # -- what screens call -------------------------------------------------------------------------

    @property
    def visible_ids(self) -> list[int]:
        cache = self._cache
        if cache is None:
            return []
        top = self.scroll_offset.y
        ids = (cache.id_at(index) for index in range(top, min(top + self._page_height, cache.count)))
        return [row_id for row_id in ids if row_id is not None]

    @property
    def order(self) -> Sequence[int]:
        """Return the ids of all rows in order; while that is unknown, those of the visible rows."""
        if isinstance(self._arranged, FixedSource):
            return self._arranged.order
        return self.visible_ids if self._cache is None or self._cache.ids is None else self._cache.ids

    def reload(self) -> None:
        """Ask the source for its ids again (rows were added or removed); visible rows stay."""
        self._chosen = self._chosen or self.selected_id is not None
        self._load(natural=not self.ready)

    def refresh_rows(self) -> None:
        """Read rows again as they are shown (their cells changed, not their order)."""
        if self._cache is not None:
            self._cache.mark_stale()
            self._repaint()

    def mark(self, text: str) -> None:
        self._sought = search_pattern(text) if text else None
        self._repaint()

    def jump_to_row(self, number: int) -> None:
        """Move the cursor to the row with this number, counted from 1 as in `position`."""
        self._move_to(number - 1)

    def jump_to_id(self, row_id: int) -> bool:
        """Select the row with this id.

        Returns:
            False if the table is known not to have this row (`SelectionHidden` is posted too).
        """
        index = None if self._cache is None else self._cache.index_of(row_id)
        if index is not None:
            self._move_to(index)
            return True
        self.selected_id, self._chosen = row_id, True
        self._place_cursor(None)
        if self.ready:
            self.post_message(messages.SelectionHidden(self))
        return not self.ready

    # -- new rows ----------------------------------------------------------------------------------

    @on(messages.ViewReady)
    def _view_ready(self, event: messages.ViewReady) -> None:
        if event.worker.is_cancelled:
            return
        cache = event.cache
        if self.cursor is not None:
            self._line = self.cursor - self.scroll_offset.y
        index = self._cursor_index_in(event)
        self._cache, self.ready = cache, cache.ids is not None
        if self._painter is None or self._painter.columns != tuple(cache.source.columns):
            self._painter = RowPainter(
                cache.source.columns, self._style_of, self.layout_of_columns, cells=self.CELL_CURSOR, gap=self.GAP
            )
            self._painter.resize(self.scrollable_size.width)
            self._place_column(min(self.column, len(self._painter.shown) - 1))
        self._painter.sample([row for page in cache.pages for row in page])
        self._measure()
        if index is not None:
            self.scroll_to(y=index - self._line, animate=False, force=True)
        self._place_cursor(index)
        if index is None and self.ready and self._chosen and self.selected_id is not None:
            self.post_message(messages.SelectionHidden(self))

    def _cursor_index_in(self, event: messages.ViewReady) -> int | None:
        cache = event.cache
        if not cache.count:
            return None
        if not self._chosen:
            return 0
        if self.selected_id is None:
            return min(self.cursor or 0, cache.count - 1)
        known = cache.ids is not None and event.sought == self.selected_id
        return event.index if known else cache.index_of(self.selected_id)

    def _rows_changed(self) -> None:
        self._measure()
        self._announce_row()

    def _page_arrived(self, first: int) -> None:
        self._strips.clear()
        if self.virtual_size.height != self.row_count + self._header_height:
            self._measure()
        elif first - self._page_height < self.scroll_offset.y < first + PAGE:
            self.refresh()
        self._announce_row()

    # -- the cursor --------------------------------------------------------------------------------

    @property
    def _header_height(self) -> int:
        return 1 + bool(self.chips) + (0 if self._painter is None else self._painter.lines_below)

    @property
    def _page_height(self) -> int:
        return max(1, self.scrollable_size.height - self._header_height)

    def _move_to(self, index: int) -> None:
        if self._cache is not None and self._cache.count:
            self._chosen = True
            self._place_cursor(max(0, min(index, self._cache.count - 1)))

    def _place_cursor(self, index: int | None) -> None:
        for changed in {self.cursor, index} - {None}:
            self.refresh_line((changed or 0) + self._header_height)
        self.cursor = index
        if index is not None and self._cache is not None:
            self._scroll_to_row(index)
            self._cache.prefetch(index)
        self._announce_row()

    def _scroll_to_row(self, index: int) -> None:
        top, height = self.scroll_offset.y, self._page_height
        if top <= index < top + height:
            return
        y = index if index < top else index - height + 1
        if abs(y - top) > height:
            y = index - height // 2
        self.scroll_to(y=y, animate=False, force=True)

    def _announce_row(self) -> None:
        if self.cursor is not None and self._cache is not None:
            row_id = self._cache.id_at(self.cursor)
            if self._chosen or self.ready or self.sort is None:
                self.selected_id = row_id
                if row_id is not None and row_id != self._announced:
                    self._announced = row_id
                    self.post_message(messages.RowHighlighted(self, row_id))
        where = "–" if self.cursor is None else f"{self.cursor + 1:,}"
        self.position = f"{where} of {self.row_count:,}" if self.ready else f"{where} of …"

    def action_move(self, rows: int) -> None:
        self._move_to(self.scroll_offset.y if self.cursor is None else self.cursor + rows)

    def action_move_page(self, pages: int) -> None:
        rows = pages * self._page_height
        cursor = self.scroll_offset.y if self.cursor is None else self.cursor
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, force=True)
        self._move_to(cursor + rows)

    def action_first(self) -> None:
        self._move_to(0)

    def action_last(self) -> None:
        self._move_to(self.row_count - 1)

    def action_open(self) -> None:
        if self.cursor is None:
            self.action_move(0)
            return
        row_id = None if self._cache is None else self._cache.id_at(self.cursor)
        if row_id is not None:
            self.post_message(messages.RowSelected(self, row_id))

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if place is None or self._painter is None:
            return
        column = self._painter.column_at(place.x, self.scroll_offset.x)
        if place.y < bool(self.chips):
            if (chip := event.style.meta.get(CHIP)) is not None:
                self.remove_condition(chip)
        elif place.y < self._header_height:
            if column is not None:
                self._place_column(column)
                self.action_sort()
        else:
            self._click_row(place.y - self._header_height + self.scroll_offset.y, column)

    def _click_row(self, index: int, column: int | None) -> None:
        if index == self.cursor:
            self.action_open()
        elif index < self.row_count:
            self._move_to(index)

    # -- drawing -----------------------------------------------------------------------------------

    def on_resize(self) -> None:
        if self._painter is not None:
            self._painter.resize(self.scrollable_size.width)
            self._measure()
            if self.cursor is not None:
                self._scroll_to_row(self.cursor)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._part_styles.clear()
        self._strips.clear()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Redraw the scroll bar only if its thumb moves: it is as expensive to draw as the rows."""
        bar = self.vertical_scrollbar
        position = bar.validate_position(new_value)
        if _thumb_offset(bar, bar.position) == _thumb_offset(bar, position):
            bar.set_reactive(ScrollBar.position, position)
        super().watch_scroll_y(old_value, new_value)

    def _style_of(self, part: str) -> Style:
        style = self._part_styles.get(part)
        if style is None:
            style = self.rich_style
            if part != "row":
                style = self.get_component_rich_style(f"virtual-table--{part}", default=Style.null())
            self._part_styles[part] = style
        return style

    def _repaint(self) -> None:
        self._strips.clear()
        self.refresh()

    def _measure(self) -> None:
        width = 0 if self._painter is None else self._painter.total_width
        # Without rows there is a line that says so.
        self.virtual_size = Size(width, max(self.row_count, 1) + self._header_height)
        self._repaint()

    def _chips_line(self) -> Strip:
        whole = f"{key_of('table.unfilter')} removes the last"
        if self.source is not None and not self.source.queried and self.ready:
            whole = f"{self.row_count:,} of {len(self.source.ids()):,}  {whole}"
        return chips_line(
            self.chips, whole, self.scrollable_size.width, self._style_of("dim"), self._style_of("header")
        )

    @property
    def _empty_message(self) -> str:
        if self.narrowed or self._sought is not None:
            return "No row matches; Back clears the search."
        return f"No row matches; {key_of('table.unfilter')} removes the last condition." if self.chips else "No rows"

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw rows in memory first, and then fetch missing ones: the two would slow each other down."""
        drawn = super().render_lines(crop)
        self.call_next(self._fetch_wishes)
        return drawn

    def render_line(self, y: int) -> Strip:
        cache, painter, offset = self._cache, self._painter, self.scroll_offset
        blank = Strip.blank(self.scrollable_size.width, self._style_of("row"))
        if y < bool(self.chips):
            return self._chips_line()
        if cache is None or painter is None:
            return blank
        if y < self._header_height:
            below, here = y - bool(self.chips) - 1, self.column if self.has_focus else None
            if below >= 0:
                return painter.below(below, offset.x, here if self.CELL_CURSOR else None)
            return painter.header(self.sort, not self.ready, offset.x, here)
        index = y - self._header_height + offset.y
        if index >= cache.count:
            return painter.note(self._empty_message) if y == self._header_height and self.ready else blank
        here = self.column if index == self.cursor else None
        key = (index, here, offset.x)
        strip = self._strips.get(key)
        if strip is None:
            row = cache.row(index)
            if row is None:
                return painter.note("can't be read" if cache.failed(index) else "…", cursor=here is not None)
            strip = painter.row(row, cursor=here is not None, scroll_x=offset.x, here=here)
            if self._sought is not None:
                strip = highlight_matches(strip, self._sought, self._style_of("hit"))
            self._strips[key] = strip
        return strip


def _thumb_offset(bar: ScrollBar, position: float) -> int:
    height, whole, window = bar.size.height, bar.window_virtual_size, bar.window_size
    if not height or whole <= window:
        return 0
    length = max(1, window / (whole / height))
    return int((height - length) * (position / (whole - window)) * 8)
