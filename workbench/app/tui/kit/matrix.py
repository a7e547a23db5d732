"""A table of figures with a cursor on one cell: names stay in sight, columns are whole, colours follow the theme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip

from workbench.app.tui.kit.cell_grid import CellGrid
from workbench.app.tui.kit.cells import fit, printable

_HEADER = 2  # lines: titles, and what stands below them
_GAP = 1  # before each column
_NAMES: Final = (14, 0.3)  # cells, and share of the width, that names may always take
_LONGEST: Final = 40  # cells of names: further away, figures would be hard to follow
_STRENGTH: Final = 0.5  # of the deepest tint
_GLYPH: Final = 0.45  # of a glyph, on the way from the ground to the text


class MatrixCell(NamedTuple):
    """One figure.

    Attributes:
        glyph: Stands before the text; it tells without colours what the tint tells.
        tint: From -1, the worst, to 1, the best; None for no colour.
    """

    text: str
    glyph: str = ""
    tint: float | None = None


class MatrixColumn(NamedTuple):
    """One column; the key is what the cursor holds on to."""

    key: str | None
    title: str
    below: str = ""


class MatrixRow(NamedTuple):
    """One row; the key is what the cursor holds on to.

    Attributes:
        mark: Symbols before the name.
        name: Data, cut where it is too long.
        after: Stands behind the name, however long that is.
    """

    key: str
    mark: str
    name: str
    after: str
    cells: tuple[MatrixCell, ...]


class Matrix(CellGrid):
    """Rows × columns of figures; the names at the left can hold the cursor too."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"matrix--{part}" for part in ("header", "name", "current", "cursor", "glyph", "good", "bad")
    }
    DEFAULT_CSS = """
    Matrix {
        background: $surface;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size: 1 1;
        & > .matrix--header { background: $panel; color: $foreground; text-style: bold; }
        & > .matrix--name { text-style: bold; }
        & > .matrix--current { background: $panel; color: $foreground; text-style: bold; }
        & > .matrix--cursor {
            background: $block-cursor-blurred-background;
            color: $block-cursor-blurred-foreground;
            text-style: bold;
        }
        &:focus > .matrix--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: bold;
        }
        & > .matrix--glyph { color: $text-muted; }
        & > .matrix--good { background: $success; }
        & > .matrix--bad { background: $error; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: Sequence[MatrixRow] = ()
        self.columns: Sequence[MatrixColumn] = ()
        self._corner = ""
        self._widths: list[int] = []
        self._styles_of: dict[str, Style] = {}
        self._tints: dict[float, tuple[Style, Style]] = {}

    # -- what screens call -------------------------------------------------------------------------

    def put(self, corner: str, columns: Sequence[MatrixColumn], rows: Sequence[MatrixRow]) -> None:
        """Show other figures; the cursor stays with its row's and its column's key, else near where it was."""
        row, column, on_names = self.row_key, self.column_key, self.column < 0
        self._corner, self.columns, self.rows = corner, columns, rows
        self._widths = [
            _GAP + max(map(cell_len, (head.title, head.below, *(_whole(row.cells[place]) for row in rows))))
            for place, head in enumerate(columns)
        ]
        self.replaced(row, column, on_names=on_names)

    @property
    def row_key(self) -> str | None:
        """The key of the row under the cursor; None without rows."""
        return self.rows[self.row].key if self.row < len(self.rows) else None

    @property
    def column_key(self) -> str | None:
        """The key of the column under the cursor; on the names that of the first one."""
        place = max(self.column, 0)
        return self.columns[place].key if place < len(self.columns) else None

    @property
    def row_keys(self) -> list[str]:
        """The rows' keys."""
        return [row.key for row in self.rows]

    @property
    def column_keys(self) -> list[str | None]:
        """The columns' keys."""
        return [column.key for column in self.columns]

    @property
    def header_height(self) -> int:
        """Titles, and what stands below them."""
        return _HEADER

    # -- drawing -----------------------------------------------------------------------------------

    @property
    def _name_width(self) -> int:
        """Cells of the names; they get what columns leave over."""
        width = self.scrollable_size.width
        wanted = max((cell_len(row.mark + printable(row.name) + row.after) for row in self.rows), default=0) + 1
        granted = max(_NAMES[0], int(width * _NAMES[1]), width - sum(self._widths) - 1)
        return max(0, min(max(wanted, cell_len(self._corner) + 1), granted, width, _LONGEST))

    def columns_in_sight(self) -> list[int]:
        """The columns that are shown: whole ones from the first on."""
        room = self.scrollable_size.width - self._name_width - 1
        shown: list[int] = []
        for place in range(self._first, len(self.columns)):
            room -= self._widths[place]
            if room < 0 and shown:
                break
            shown.append(place)
        return shown

    def column_at(self, x: int) -> int | None:
        """The column at a cell of a line, -1 for the names."""
        edge = self._name_width
        if x < edge:
            return -1
        for place in self.columns_in_sight():
            edge += self._widths[place]
            if x < edge:
                return place
        return None

    def notify_style_update(self) -> None:
        """Draw anew with the theme's colours."""
        super().notify_style_update()
        self._styles_of.clear()
        self._tints.clear()

    def _style(self, part: str) -> Style:
        if part not in self._styles_of:
            plain = not part
            self._styles_of[part] = self.rich_style if plain else self.get_component_rich_style(f"matrix--{part}")
        return self._styles_of[part]

    @property
    def _untinted(self) -> tuple[Style, Style]:
        """A cell's style without a tint, and its glyph's."""
        return self._style(""), self._style("glyph")

    def _tinted(self, tint: float) -> tuple[Style, Style]:
        """The background towards good or bad, with black or white on it, whichever is read better; and the glyph's.

        The sixteen colours of a terminal's own palette have nothing between them: there is no tint then.
        """
        if tint not in self._tints:
            towards = self.get_component_styles("matrix--good" if tint > 0 else "matrix--bad").background
            if towards.ansi is not None:
                return self._untinted
            ground: Color = self.background_colors[1].blend(towards, _STRENGTH * abs(tint))
            text = ground.get_contrast_text(1.0)
            self._tints[tint] = (
                Style.from_color(text.rich_color, ground.rich_color),
                Style.from_color(ground.blend(text, _GLYPH).rich_color, ground.rich_color),
            )
        return self._tints[tint]

    def render_line(self, y: int) -> Strip:
        """Draw a line of the visible part; the first two are the header."""
        width = self.scrollable_size.width
        row = y - _HEADER + self.scroll_offset.y
        if y < _HEADER:
            strip = self._header_line(below=y == 1)
        elif row < len(self.rows):
            strip = self._row_line(row)
        else:
            return Strip.blank(width, self._style(""))
        return strip.adjust_cell_length(width, self._style("header" if y < _HEADER else ""))

    def _header_line(self, *, below: bool) -> Strip:
        shown = self.columns_in_sight()
        before = "‹" if self._first and not below else ""
        text = fit("" if below else f" {self._corner}", self._name_width - len(before)) + before
        for place in shown:
            head = self.columns[place]
            text += fit(head.below if below else head.title, self._widths[place], "right")
        more = "›" if not below and shown and shown[-1] + 1 < len(self.columns) else ""
        return Strip([Segment(text + more, self._style("header"))])

    def _row_line(self, number: int) -> Strip:
        row = self.rows[number]
        here = number == self.row
        segments = [Segment(self._named(row), self._style(self._name_part(here)))]
        for place in self.columns_in_sight():
            cell, width = row.cells[place], self._widths[place] - _GAP
            if here and place == self.column:
                segments.append(Segment("›" + fit(_whole(cell), width, "right"), self._style("cursor")))
                continue
            room = " " * max(0, width - cell_len(_whole(cell)))
            ground, glyph = self._untinted if cell.tint is None else self._tinted(cell.tint)
            segments += (
                Segment(" " * _GAP, self._style("")),
                Segment(room, ground),
                Segment(cell.glyph, glyph),
                Segment(cell.text, ground),
            )
        return Strip(segments)

    def _name_part(self, here: bool) -> str:
        return "name" if not here else "cursor" if self.column < 0 else "current"

    def _named(self, row: MatrixRow) -> str:
        after = f" {row.after}" if row.after else ""
        width = self._name_width
        return fit(fit(row.mark + printable(row.name), width - cell_len(after)) + after, width)


def _whole(cell: MatrixCell) -> str:
    return cell.glyph + cell.text
