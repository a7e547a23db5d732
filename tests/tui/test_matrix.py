"""The matrix widget: a cursor that keeps its keys, whole columns next to fixed names, and data shown as text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tests.tui.stage import HOSTILE, settle
from workbench.app.tui.kit.cells import fit, fit_cell, printable
from workbench.app.tui.kit.columns import Sort, TableColumn
from workbench.app.tui.kit.matrix_table import Matrix, MatrixRow, tint_tone
from workbench.app.tui.kit.table_messages import RowSelected
from workbench.tables.document import Cell

LONG = "a-very-long-verifier-name-" * 3


class Stage(App[None]):
    """One matrix, and its messages."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def compose(self) -> ComposeResult:
        yield Matrix()

    @on(RowSelected)
    def _opened(self) -> None:
        self.messages.append("opened")


def table(names: list[str], groups: int) -> tuple[list[TableColumn], list[MatrixRow]]:
    """Return numbers that encode their position."""
    columns = [TableColumn(f"g{place}", f"G{place}", 0, 0, "right", "low", ("n 9",)) for place in range(groups)]
    rows = [
        MatrixRow(
            name,
            (
                Cell(f"  {printable(name)}", "bold", value=name, whole=name),
                *(Cell(f"▄{y}.{x}", tint_tone(x / groups * 2 - 1), whole=f"{y}.{x}") for x in range(groups)),
            ),
        )
        for y, name in enumerate(names)
    ]
    return columns, rows


def put(matrix: Matrix, columns: list[TableColumn], rows: list[MatrixRow]) -> None:
    matrix.put([matrix.name_column("verifier"), *columns], rows)


def lines(matrix: Matrix) -> list[str]:
    return [matrix.render_line(y).text for y in range(matrix.size.height)]


async def shown(pilot: Pilot[None], names: list[str], groups: int) -> Matrix:
    matrix = pilot.app.query_one(Matrix)
    put(matrix, *table(names, groups))
    matrix.focus()
    await settle(pilot)
    return matrix


async def test_cursor_keeps_its_keys() -> None:
    async with Stage().run_test(size=(80, 12)) as pilot:
        matrix = await shown(pilot, ["a", "b", "c"], 4)
        await pilot.press("down", "right", "right")
        assert (matrix.row_key, matrix.column_key) == ("b", "g2")
        columns, rows = table(["c", "x", "y", "b", "a"], 6)
        put(matrix, columns[::-1], rows)
        await settle(pilot)
        assert (matrix.cursor, matrix.row_key, matrix.column_key) == (3, "b", "g2")
        put(matrix, *table(["c", "x"], 2))
        await settle(pilot)
        assert (matrix.row_key, matrix.column_key) == ("x", "g1")
        await pilot.press("home")
        assert (matrix.column, matrix.column_key) == (0, "g0")
        put(matrix, columns, rows)
        await settle(pilot)
        assert matrix.column == 0
        put(matrix, [], [])
        await settle(pilot)
        assert (matrix.row_key, matrix.column_key) == (None, None)


@pytest.mark.parametrize("width", [40, 80])
async def test_columns_are_never_cut_and_names_stay_visible(width: int) -> None:
    async with Stage().run_test(size=(width, 12)) as pilot:
        matrix = await shown(pilot, ["short", LONG], 18)
        seen = set()
        for _ in range(18):
            text = lines(matrix)
            assert text[2].lstrip("› ").startswith("short")
            assert "a-very-long" in text[3]
            assert "…" in text[3]
            assert all(len(line) == width for line in text)
            whole = re.findall(r"\d+\.\d+", text[2])
            seen.update(whole)
            assert text[0].count("G") == len(whole)
            await pilot.press("right")
        assert seen == {f"0.{place}" for place in range(18)}


async def test_rows_scroll_under_the_header() -> None:
    async with Stage().run_test(size=(60, 8)) as pilot:
        matrix = await shown(pilot, [f"v{number}" for number in range(50)], 3)
        matrix.styles.height = 8
        await pilot.press("ctrl+end")
        await pilot.pause()
        assert matrix.row_key == "v49"
        assert any("v49" in line for line in lines(matrix))
        assert "G0" in lines(matrix)[0]
        await pilot.press("pageup")
        assert matrix.cursor == 49 - 6


async def test_clicks_move_the_cursor_open_cells_and_select_titles() -> None:
    app = Stage()
    async with app.run_test(size=(60, 12)) as pilot:
        matrix = await shown(pilot, ["a", "b"], 2)
        place: Any = (lines(matrix)[3].index("1.1"), 3)
        await pilot.click(Matrix, offset=place)
        assert (matrix.row_key, matrix.column_key) == ("b", "g1")
        await pilot.click(Matrix, offset=place)
        assert app.messages == ["opened"]
        await pilot.click(Matrix, offset=(lines(matrix)[0].index("G0"), 0))
        await settle(pilot)
        assert matrix.column_key == "g0"
        assert matrix.sort == Sort("g0")


async def test_names_are_shown_as_text() -> None:
    async with Stage().run_test(size=(80, 20)) as pilot:
        matrix = await shown(pilot, [*HOSTILE, "判断者" * 20, "two\nlines"], 2)
        text = lines(matrix)
        assert "[bold]x[/]" in text[2]
        assert not any("\x1b" in line or "\n" in line for line in text)
        assert "判断者" in text[2 + len(HOSTILE)]
        assert "…" in text[2 + len(HOSTILE)]
        assert {matrix.render_line(y).cell_length for y in range(len(text))} == {80}


async def test_tints_follow_the_theme_and_glyphs_need_none() -> None:
    async with Stage().run_test(size=(60, 12)) as pilot:
        matrix = await shown(pilot, ["a", "b"], 2)
        grounds = set()
        for theme in ("textual-dark", "textual-light", "solarized-dark"):
            pilot.app.theme = theme
            await pilot.pause()
            (cell,) = [segment for segment in matrix.render_line(3) if segment.text.strip() == "▄1.0"]
            assert cell.style is not None
            grounds.add(cell.style.bgcolor)
        assert len(grounds) == 3
        pilot.app.theme = "ansi-dark"
        await pilot.pause()
        assert all("▄" in line for line in lines(matrix)[2:4])


def test_truncated_paths_keep_their_distinguishing_ends() -> None:
    one, other = (fit_cell(f"math_reasoning/set_{end}", 16) for end in "ab")
    assert one != other
    assert {len(one), len(other)} == {16}
    assert one.startswith("math_")
    assert one.endswith("set_a")
    # Other texts and names are truncated at the end, and short ones are complete.
    assert fit_cell("either a/b or b/a it is", 10) == fit("either a/b or b/a it is", 10)
    assert fit_cell("always-incorrect", 10) == fit("always-incorrect", 10)
    assert fit_cell("a/b", 10) == fit("a/b", 10)
    assert len(fit_cell("\u65b0/" * 9, 7)) <= 7
    assert fit_cell("\x1b[31m/" * 9, 7) == fit("\x1b[31m/" * 9, 7)
