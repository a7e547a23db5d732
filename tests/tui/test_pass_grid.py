"""The pass matrix widget: many tests on a narrow terminal, fixed names, the mouse, data shown as text."""

from __future__ import annotations

from textual import on
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tests.tui.stage import HOSTILE
from workbench.app.tui.kit.pass_grid import PassGrid, PassTest, grid_row
from workbench.app.tui.kit.table_messages import RowSelected
from workbench.tables.document import Cell

HEADS = ["solution", "pass", "G"]


class Stage(App[None]):
    """One grid, and the number of opened cells."""

    opened = 0

    def compose(self) -> ComposeResult:
        yield PassGrid()

    @on(RowSelected)
    def _opened(self) -> None:
        self.opened += 1


async def put(pilot: Pilot[None], solutions: int, tests: int) -> PassGrid:
    grid = pilot.app.query_one(PassGrid)
    columns = [PassTest(place, place / tests, forgeable=place == 3) for place in range(tests)]
    rows = [
        grid_row(key, (Cell(HOSTILE[key % len(HOSTILE)]), Cell(f"{key}/60"), Cell("✓")), "pf" * (tests // 2))
        for key in range(solutions)
    ]
    grid.put_tests(HEADS, columns, rows)
    grid.focus()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    return grid


def lines(grid: PassGrid) -> list[str]:
    return [grid.render_line(y).text for y in range(grid.size.height)]


async def test_sixty_tests_fit_into_eighty_columns() -> None:
    async with Stage().run_test(size=(80, 24)) as pilot:
        grid = await put(pilot, 64, 60)
        drawn = lines(grid)
        assert all(len(line) == grid.scrollable_size.width for line in drawn)
        assert drawn[1].rstrip().endswith("1234567890" * 6)
        assert drawn[0].rstrip().endswith("5555555555" + "6")
        assert drawn[2].split() == ["forgeable", "~"]
        assert drawn[4].rstrip().endswith("pf" * 30)
        assert "[bol…x[/]" in drawn[4]
        await pilot.press("ctrl+end", "end")
        assert (grid.solution, grid.test) == (63, 59)
        assert lines(grid)[-1].startswith("›")


async def test_more_tests_scroll_sideways_and_names_stay_visible() -> None:
    async with Stage().run_test(size=(80, 12)) as pilot:
        grid = await put(pilot, 3, 200)
        assert grid.test == 0
        await pilot.press("end")
        assert grid.test == 199
        assert grid.scroll_offset.x
        drawn = lines(grid)
        assert drawn[0].rstrip().endswith("2")
        assert drawn[5].startswith("›[bo…x[/]")
        await pilot.press("home")
        assert grid.column == 0


async def test_few_tests_are_wide_and_a_click_moves_then_opens() -> None:
    app = Stage()
    async with app.run_test(size=(80, 12)) as pilot:
        grid = await put(pilot, 3, 10)
        line = lines(grid)[5]
        assert line.rstrip().endswith("p f p f p f p f p f")
        place = (len(line.rstrip()) - 1, 5)
        await pilot.click(PassGrid, offset=place)
        assert (grid.solution, grid.test, app.opened) == (1, 9, 0)
        await pilot.click(PassGrid, offset=place)
        assert app.opened == 1
        grid.put_tests(HEADS, [], [])
        assert (grid.solution, grid.test) == (None, None)
