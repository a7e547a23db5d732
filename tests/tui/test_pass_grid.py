"""The pass matrix as a widget: many tests on a narrow terminal, names that stay, the mouse, data that is text."""

from __future__ import annotations

from textual import on
from textual.app import App, ComposeResult

from tests.tui.stage import HOSTILE
from workbench.app.tui.kit.pass_grid import GridRow, PassGrid, PassHead, PassTest
from workbench.tables.document import Cell

HEADS = [PassHead("solution"), PassHead("pass", "right"), PassHead("G")]


class Stage(App[None]):
    """One grid, and how often a cell was opened."""

    opened = 0

    def compose(self) -> ComposeResult:
        yield PassGrid()

    @on(PassGrid.CellOpened)
    def _opened(self) -> None:
        self.opened += 1


def put(grid: PassGrid, solutions: int, tests: int) -> None:
    columns = [PassTest(place, place / tests, forgeable=place == 3) for place in range(tests)]
    rows = [
        GridRow(key, (Cell(HOSTILE[key % len(HOSTILE)]), Cell(f"{key}/60"), Cell("✓")), "pf" * (tests // 2))
        for key in range(solutions)
    ]
    grid.put(HEADS, columns, rows)
    grid.focus()


def lines(grid: PassGrid) -> list[str]:
    return [grid.render_line(y).text for y in range(grid.size.height)]


async def test_sixty_tests_stand_in_eighty_columns() -> None:
    async with Stage().run_test(size=(80, 24)) as pilot:
        grid = pilot.app.query_one(PassGrid)
        put(grid, 64, 60)
        await pilot.pause()
        drawn = lines(grid)
        assert all(len(line) == grid.scrollable_size.width for line in drawn)
        assert len(grid.columns_in_sight()) == 60
        assert drawn[1].split()[-1] == "1234567890" * 6
        assert drawn[0].rstrip().endswith("5555555555" + "6")
        assert drawn[2].split() == ["forgeable", "~"]
        assert drawn[4].split()[-1] == "pf" * 30
        assert "[bold]x" in drawn[4]
        await pilot.press("ctrl+end", "end")
        assert (grid.row_key, grid.column_key) == (63, 59)
        assert lines(grid)[-1].startswith("›")


async def test_more_tests_scroll_sideways_and_the_names_stay() -> None:
    async with Stage().run_test(size=(80, 12)) as pilot:
        grid = pilot.app.query_one(PassGrid)
        put(grid, 3, 200)
        await pilot.pause()
        assert lines(grid)[0].rstrip().endswith("›")
        await pilot.press("end")
        drawn = lines(grid)
        assert drawn[0].split("‹")[1].rstrip().endswith("2")
        assert drawn[5].startswith("›[bold]x[")
        await pilot.press("home")
        assert grid.column == -1
        assert grid.columns_in_sight()[0] == 0


async def test_few_tests_have_room_and_a_click_moves_then_opens() -> None:
    app = Stage()
    async with app.run_test(size=(80, 12)) as pilot:
        grid = pilot.app.query_one(PassGrid)
        put(grid, 3, 10)
        await pilot.pause()
        line = lines(grid)[5]
        assert line.rstrip().endswith("p f p f p f p f p f")
        place = (len(line.rstrip()) - 1, 5)
        await pilot.click(PassGrid, offset=place)
        assert (grid.row, grid.column, app.opened) == (1, 9, 0)
        await pilot.click(PassGrid, offset=place)
        assert app.opened == 1
        grid.put(HEADS, [], [])
        assert (grid.row_key, grid.column_key) == (None, None)
