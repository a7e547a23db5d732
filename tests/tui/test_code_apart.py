"""Tests that users exclude on Problem, and solutions that are run again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui.solved import solved_project
from tests.tui.stage import notices, opened, press, screen_of, settle, text_of, until
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.pass_grid import PassGrid
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.code import CodeScreen
from workbench.app.tui.screens.code_problem import CodeProblemScreen
from workbench.app.tui.screens.code_tests import CodeTestsScreen
from workbench.app.tui.screens.start_run import SetUpRunScreen
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.runs import run_status, verifying


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    found = solved_project(tmp_path)
    yield found
    found.close()


def excluded_tests(project: Project) -> list[tuple[int, str]]:
    rows = project.database.reader().execute("SELECT position, reason FROM tests_apart ORDER BY position")
    return rows.fetchall()


async def test_x_excludes_a_test_with_a_reason_and_z_undoes_it(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "enter")
        screen = screen_of(app, CodeProblemScreen)
        assert "1 pass all tests" in text_of(app, "#code-problem-caption")
        await press(pilot, "end", "x")
        app.screen.query_one(Input).value = "the problem doesn't say [what]"
        await press(pilot, "enter")
        await settle(pilot)
        assert excluded_tests(project) == [(4, "the problem doesn't say [what]")]
        assert "2 pass all tests" in text_of(app, "#code-problem-caption")
        assert "(1 excluded)" in text_of(app, "#code-problem-caption")
        document = app.screen.query_one("#code-problem-test", Reader).document
        assert document is not None
        assert "excluded: the problem doesn't say [what] (" in document.text
        await press(pilot, "x")
        await settle(pilot)
        assert excluded_tests(project) == []
        await press(pilot, "z")
        await settle(pilot)
        assert excluded_tests(project) == [(4, "the problem doesn't say [what]")]
        await press(pilot, "z")
        await settle(pilot)
        assert excluded_tests(project) == []
        await press(pilot, "z")
        assert "No test was excluded here." in notices(app)
        assert screen.is_current


async def test_tests_of_all_problems_are_in_one_list(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "i")
        await settle(pilot)
        table = screen_of(app, CodeTestsScreen).query_one(VirtualTable)
        lines = [table.render_line(y).text.split() for y in range(1, 7)]
        assert [line[1] for line in lines] == ["1", "2", "3", "4", "5", "1"]
        assert [" ".join(line[2:5]) for line in lines][4:] == ["17 by some", "100 by all"]
        await press(pilot, "down", "down", "enter")
        await settle(pilot)
        assert screen_of(app, CodeProblemScreen).query_one(PassGrid).test == 2


async def test_form_that_starts_a_suite_selects_the_problem(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "enter", "a")
        await until(pilot, lambda: isinstance(app.screen, SetUpRunScreen))
        await settle(pilot)
        items = app.screen.query_one("#option-items", OptionField)
        assert items.value == "dataset=code question_id=own/clip"


@pytest.mark.soak
async def test_l_runs_one_solution_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, Selection, bool]] = []

    def start(project: Project, name: str, *, selection: Selection, ask_again: bool) -> object:
        started.append((name, selection, ask_again))
        return run_status.run_info(project, 1)

    monkeypatch.setattr(verifying, "start", start)
    async with opened(project) as (_, pilot):
        await press(pilot, *":o", "enter", "enter", "enter", "l")
        await settle(pilot)
        await press(pilot, "escape", "l")
        await settle(pilot)
    one, every = started
    assert (one[0], str(one[1]), one[2]) == ("execution", "dataset=code and completion_id=own/clip/0", True)
    assert str(every[1]) == "dataset=code and question_id=own/clip"


@pytest.mark.soak
async def test_problems_of_several_data_sets_are_distinguishable(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter")
        table = screen_of(app, CodeScreen).query_one(VirtualTable)
        assert "data set" not in table.render_line(0).text
        with project.database.write() as connection:
            connection.execute("INSERT INTO datasets (name, created_at) VALUES ('other', '2026')")
            connection.execute("UPDATE questions SET dataset_id = 2 WHERE id = 2")
        await press(pilot, "r")
        await until(pilot, lambda: "data set" in table.render_line(0).text)
        assert "other" in table.render_line(2).text
