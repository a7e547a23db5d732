"""Tests that people set apart on Problem, and solutions that are run again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui.solved import solved_project
from tests.tui.stage import notices, opened, press, screen_of, settle, text_of
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.screens.code_problem import CodeProblemScreen
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.runs import verifying


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    found = solved_project(tmp_path)
    yield found
    found.close()


def apart(project: Project) -> list[tuple[int, str]]:
    rows = project.database.reader().execute("SELECT position, reason FROM tests_apart ORDER BY position")
    return rows.fetchall()


async def test_x_sets_a_test_apart_with_a_reason_and_z_takes_it_back(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "enter")
        screen = screen_of(app, CodeProblemScreen)
        assert "1 pass all tests" in text_of(app, "#code-problem-caption")
        await press(pilot, "end", "x")
        app.screen.query_one(Input).value = "the problem doesn't say [what]"
        await press(pilot, "enter")
        await settle(pilot)
        assert apart(project) == [(4, "the problem doesn't say [what]")]
        assert "2 pass all tests" in text_of(app, "#code-problem-caption")
        assert "(1 set apart)" in text_of(app, "#code-problem-caption")
        document = app.screen.query_one("#code-problem-test", Reader).document
        assert document is not None
        assert "set apart: the problem doesn't say [what] (" in document.text
        await press(pilot, "x")
        await settle(pilot)
        assert apart(project) == []
        await press(pilot, "z")
        await settle(pilot)
        assert apart(project) == [(4, "the problem doesn't say [what]")]
        await press(pilot, "z")
        await settle(pilot)
        assert apart(project) == []
        await press(pilot, "z")
        assert "No test was set apart here." in notices(app)
        assert screen.is_current


async def test_l_runs_one_solution_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Selection, bool]] = []

    def start(project: Project, name: str, *, selection: Selection, ask_again: bool) -> object:
        asked.append((name, selection, ask_again))
        return verifying.run_info(project, 1)

    monkeypatch.setattr(verifying, "start", start)
    async with opened(project) as (_, pilot):
        await press(pilot, *":o", "enter", "enter", "enter", "l")
        await settle(pilot)
        await press(pilot, "escape", "l")
        await settle(pilot)
    one, every = asked
    assert (one[0], str(one[1]), one[2]) == ("execution", "dataset=code and completion_id=own/clip/0", True)
    assert str(every[1]) == "dataset=code and question_id=own/clip"
