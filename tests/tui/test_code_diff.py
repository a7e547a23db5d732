"""Diff: two solutions side by side, and the tests that distinguish them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.solved import solved_project
from tests.tui.stage import notices, opened, press, screen_of, settle, text_of
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.pass_grid import PassGrid
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.code_diff import CodeDiffScreen
from workbench.app.tui.screens.code_problem import CodeProblemScreen
from workbench.coding.matrix import read_matrix
from workbench.core.project import Project, open_project


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = solved_project(tmp_path_factory.mktemp("solved"))
    project.close()
    return project.path


@pytest.fixture
def project(solved: Path) -> Iterator[Project]:
    found = open_project(solved)
    yield found
    found.close()


def lines(app: WorkbenchApp) -> list[str]:
    document = app.screen.query_one(Reader).document
    return [] if document is None else [line.rstrip() for line in document.text.split("\n")]


def listed_tests(app: WorkbenchApp) -> list[list[str]]:
    widget = app.screen.query_one(VirtualTable)
    drawn = (widget.render_line(y).text.split() for y in range(1, widget.size.height))
    return [line[:4] for line in drawn if line]


async def go(pilot: Pilot[None], *keys: str) -> None:
    """Press keys quickly, and wait for the result."""
    await pilot.press(*keys)
    await settle(pilot)


async def test_marked_solution_is_compared_with_a_second_one(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "enter", "vertical_line")
        assert app.screen.query_one(PassGrid).rows[0].cells[0].text == " 0◆"
        await pilot.press("down", "down")
        await press(pilot, "enter", "vertical_line")  # the second one from its own screen
        diff = screen_of(app, CodeDiffScreen)
        assert (diff.left, diff.right) == (1, 2)
        assert text_of(app, "#code-diff-sides").splitlines() == [
            "- 0 · 5 of 5 passed (1.000) · gold ✓ correct · m/1",
            "+ 1 · 3 of 5 passed (0.600) · gold ✗ incorrect · m/2",
        ]
        assert text_of(app, "#code-diff-telling") == "2 tests of suite base tell them apart"
        assert listed_tests(app) == [["›3", "p", "passed", "f"], ["5", "p", "passed", "f"]]
        assert lines(app) == [
            "1   def clip(x):",
            "2 -     return max(0, min(9, x))",
            "2 +     return x",
            "3",
        ]
        await go(pilot, "S", "w", "escape", "escape", "vertical_line", "vertical_line")
        assert notices(app)[-2:] == [
            "Marked. Press the same key on another solution to compare the two.",
            "No longer marked.",
        ]
        assert screen_of(app, CodeProblemScreen).query_one(PassGrid).rows[0].cells[0].text == " 0"


async def test_solutions_are_side_by_side_on_wide_terminals(project: Project) -> None:
    matrix = read_matrix(project, 1)
    async with opened(project, size=(120, 40)) as (app, pilot):
        app.push_screen(CodeDiffScreen(matrix, 2, 3))
        await settle(pilot)
        side_by_side = [[part.split() for part in line.split("│")] for line in lines(app)]
        assert side_by_side == [
            [["1", "def", "clip(x):"], ["1", "def", "clip(x):"]],
            [[], ["2", "+", "y", "=", "x"]],
            [["2", "-", "return", "x"], ["3", "+", "return", "y"]],
            [["3"], ["4"]],
        ]
        assert text_of(app, "#code-diff-telling") == "No test of suite base distinguishes them"
        await press(pilot, "o", "n")
        assert [line[:3] for line in lines(app)] == ["1  ", "2 -", "2 +", "3 +", "4"]
