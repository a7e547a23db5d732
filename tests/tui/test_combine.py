"""Combine: tables match the services, one question at a time, and a missing metric has a reason."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from threading import Event

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from tests.background import PATIENCE_S
from tests.helpers import make_project
from tests.tui.stage import HOSTILE, ONE_SIZE, add_run, notices, opened, press, settle, text_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.prompt_line import PromptLine
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens import combine
from workbench.app.tui.screens.combine import CombineScreen, read
from workbench.core.options import TableForm
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import OutcomeCode
from workbench.measuring.combined import combined_as
from workbench.measuring.downstream import downstream
from workbench.measuring.estimating import estimate
from workbench.measuring.judged import everybody
from workbench.measuring.selecting import best_of

NAMES = ("good", "fair", "poor")


def project_of_three(folder: Path, names: tuple[str, ...] = NAMES) -> Project:
    """Create 80 items, two per question, a quarter without gold: later verifiers err more often."""
    draw = random.Random(5)
    rows = [
        {
            "question_id": f"q{number // 2}",
            "gold": None if number % 8 > 5 else number % 2 == 0,
            "subtype": "A1" if number < 40 else "B5",
        }
        for number in range(80)
    ]
    project = make_project(folder, rows)
    for place, name in enumerate(names, 1):
        wrong = {number for number in range(80) if draw.random() < 0.12 * place}
        add_run(
            project, name, {item + 1: OutcomeCode(int((item % 2 == 0) ^ (item in wrong))).outcome for item in range(80)}
        )
    return project


def screen_of(app: App[None]) -> CombineScreen:
    assert isinstance(app.screen, CombineScreen)
    return app.screen


def words(app: App[None]) -> str:
    return str(app.screen.query_one("#combine-detail Static", Static).content)


async def press_all(app: WorkbenchApp, pilot: Pilot[None], *keys: str) -> CombineScreen:
    """Press keys without waiting in between, then wait for the metrics."""
    await pilot.press(*keys)
    await settle(pilot)
    assert screen_of(app).found is not None
    return screen_of(app)


async def typed(pilot: Pilot[None], text: str) -> None:
    pilot.app.screen.query_one(Input).value = text
    await press(pilot, "enter")


async def shown(app: WorkbenchApp, pilot: Pilot[None]) -> list[str]:
    """Return the first cells of the visible lines."""
    table, sheet = app.screen.query_one(VirtualTable), screen_of(app).sheet
    assert sheet is not None
    await until(pilot, lambda: table.row_count == len(sheet.table.rows) and table.visible_ids)
    return [sheet.table.rows[place].cells[0].text for place in table.visible_ids]


@pytest.mark.soak
@pytest.mark.parametrize("size", ONE_SIZE)
async def test_picks_are_the_first_question(tmp_path: Path, size: tuple[int, int]) -> None:
    project = project_of_three(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        screen = await press_all(app, pilot, *":m", "enter")
        assert screen.found is not None
        report = best_of(project)
        assert screen.found.report == report
        lines = await shown(app, pilot)
        assert set(lines) <= {row.verifier for row in report.rows}
        table = screen.query_one(VirtualTable)
        assert report.rows[table.selected_id or 0].n == 2
        assert table.selected_id in table.visible_ids
        assert "[1 Best of n]" in text_of(app, "#combine-tabs")
        assert "protocol strict, gold final" in text_of(app, "#combine-head")


async def test_screen_opens_with_its_summary(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        await press_all(app, pilot, *":m", "enter")
        first = text_of(app, "#combine-head").splitlines()[0]
        assert re.fullmatch(r"Of \d+ against a random pick: \d+ better, \d+ worse, \d+ not distinguishable\.", first)


async def test_space_excludes_verifiers(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":m", "enter", "v")
        await press_all(app, pilot, "space", "enter")
        found = screen_of(app).found
        assert found is not None
        assert found.report == best_of(project, tuple(everybody(project)[1:]))
        await press(pilot, "v")
        await press_all(app, pilot, "asterisk", "enter")
        assert screen_of(app).found is not None
        assert not notices(app)


async def test_switches_recompute_the_tables(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        screen = await press_all(app, pilot, *":m", "enter", "2", "p", "b")
        assert screen.found is not None
        assert screen.found.report == estimate(project, "good", protocol="forced", by="type")
        assert "by type" in screen.query_one(TitleBar).remark
        await press(pilot, "g")
        assert "has gold" in words(app)
        assert screen_of(app).found is None
        await press(pilot, "g", "f")
        await typed(pilot, "colour=red")
        assert isinstance(app.screen, PromptLine)
        await typed(pilot, "type=A")
        selection = Selection((parse_condition("type=A"),))
        assert screen.found.report == estimate(
            project, "good", protocol="forced", gold="imported", by="type", selection=selection
        )
        await press(pilot, "escape")
        assert screen.asked.conditions == ()
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "HomeScreen"


async def test_cursor_stays_with_its_row(tmp_path: Path) -> None:
    async with opened(project_of_three(tmp_path)) as (app, pilot):
        await press_all(app, pilot, *":m", "enter")
        await pilot.press("home", "down", "down", "down")
        await settle(pilot)
        before = words(app).split(" ·")[0]
        await press(pilot, "p")
        assert words(app).split(" ·")[0] == before != "good"
        await press(pilot, "v", "space", "enter")
        assert "n 2" in words(app)


@pytest.mark.soak
async def test_rows_stay_sorted_after_recomputing(tmp_path: Path) -> None:
    async with opened(project_of_three(tmp_path)) as (app, pilot):
        await press_all(app, pilot, *":m", "enter")
        await pilot.click(VirtualTable, offset=(2, 0))
        for keys in ("p", "r"):
            await press(pilot, keys)
            lines = await shown(app, pilot)
            assert lines == sorted(lines)
        await press(pilot, "2", "w", "b")
        assert screen_of(app).table.sort is None


@pytest.mark.soak
async def test_best_of_n(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        screen = await press_all(app, pilot, *":m", "enter")
        assert screen.found is not None
        assert screen.found.report == best_of(project)
        assert words(app).startswith("good · verdict · n 2")
        assert "compared with a random pick" in words(app)
        await press(pilot, "at")
        await typed(pilot, "two")
        assert "whole numbers" in text_of(screen.app, "PromptLine .trouble")
        await typed(pilot, "2,9")
        assert screen.found.report == best_of(project, sizes=(2, 9))
        await pilot.press("home", "down")
        await settle(pilot)
        assert "No question has 9 completions" in words(app)


@pytest.mark.soak
async def test_estimate_for_the_chosen_verifier(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        screen = await press_all(app, pilot, *":m", "enter", "2")
        assert screen.found is not None
        assert screen.found.report == estimate(project, "good")
        assert "good is right on" in words(app)
        await press(pilot, "V", "2", "v")
        assert [str(option.prompt).split()[-1] for option in app.screen.query_one(OptionList).options] == [
            "good",
            "poor",
        ]
        await press_all(app, pilot, "2", "enter")
        assert screen.found.report == estimate(project, "fair", ("good",))
        await press(pilot, "w")
        assert await shown(app, pilot) == ["A - Numeric Values", "B - Expressions"]
        await press(pilot, "V", "1")
        assert screen.found.report == estimate(project, "good")


@pytest.mark.soak
async def test_downstream_asks_for_a_file(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    path = tmp_path / "scores.jsonl"
    lines = [{"verifier": name, "benchmark": "sums", "score": number} for number, name in enumerate(NAMES)]
    path.write_text("\n".join(map(json.dumps, [*lines, {}])), encoding="utf-8")
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    async with opened(project) as (app, pilot):
        await press(pilot, *":m", "enter", "3")
        screen = screen_of(app)
        assert "needs a file" in words(app)
        await press(pilot, "a")
        await typed(pilot, str(tmp_path / "none"))
        assert "There is no file" in text_of(screen.app, "PromptLine .trouble")
        await typed(pilot, str(tmp_path / "empty.jsonl"))
        assert "the file has no lines" in words(app)
        await press(pilot, "a")
        await typed(pilot, str(path))
        assert screen.found is not None
        assert screen.found.report == downstream(project, path)
        assert "1 line rejected" in text_of(app, "#combine-head")
        assert "line 4" in words(app)
        await press(pilot, "w")
        assert "a bootstrap needs 10 verifiers" in words(app)


@pytest.mark.soak
async def test_visible_table_is_saved(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (_, pilot):
        await press(pilot, *":m", "enter", "2")
        await pilot.press("w", "e", "1")
        saved = tmp_path / "p-mix-strict-final.csv"
        await until(pilot, saved.exists)
        assert saved.read_text(encoding="utf-8") == combined_as(estimate(project, "good"), 1, TableForm(format="csv"))


@pytest.mark.soak
async def test_no_old_metrics_are_visible_while_recomputing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, go_on = project_of_three(tmp_path), Event()
    async with opened(project) as (app, pilot):
        screen = await press_all(app, pilot, *":m", "enter")
        monkeypatch.setattr(combine, "read", lambda *what: (go_on.wait(PATIENCE_S), read(*what))[1])
        await pilot.press("2")
        await until(pilot, lambda: "reading …" in screen.query_one(TitleBar).remark)
        assert screen.found is None
        assert text_of(app, "#combine-head") == ""
        await pilot.press("e")
        await pilot.press("escape")
        await until(pilot, lambda: type(app.screen).__name__ == "HomeScreen")
        go_on.set()
        await settle(pilot)
        assert not notices(app)


async def test_every_question_says_that_there_is_no_run(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, [{"gold": True}])) as (app, pilot):
        await press(pilot, *":m", "enter")
        for key in ("r", "2"):
            await press(pilot, key)
            assert "No verifier has a complete run" in words(app)
            await press(pilot, "v")
            assert screen_of(app).found is None
        assert set(notices(app)) == {"No verifier has a complete run yet."}


async def test_hostile_names_are_shown_as_text(tmp_path: Path) -> None:
    project = project_of_three(tmp_path, tuple(HOSTILE))
    async with opened(project) as (app, pilot):
        await press(pilot, *":m", "enter", "home")
        assert words(app).startswith("[bold]x[/]")
        assert "\x1b" not in text_of(app, "#combine-head")
        await press(pilot, "w", "v", "escape", "2", "V", "escape", "f")
        await typed(pilot, "verdict:[/]=\x1b")
        assert "\x1b" not in text_of(app, "PromptLine .trouble")
        assert not notices(app)
