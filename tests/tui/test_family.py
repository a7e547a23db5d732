"""Compare all: the tables match the command line, and a cell or a row opens its pair."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, ONE_SIZE, add_run, notices, opened, press, settle, text_of
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.screens.compare import CompareScreen, Pair
from workbench.app.tui.screens.family import FamilyQuery, FamilyScreen
from workbench.core.options import TableForm
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode
from workbench.measuring.comparing import comparable, joint_errors
from workbench.measuring.comparing_tables import comparison_as
from workbench.measuring.family import differences_table, family, members_table, pairs_table, ranking
from workbench.measuring.notes import add_selection_judges


def project_of_three(folder: Path) -> Project:
    """Create 80 items: "good" and "alike" are right on nearly all, "poor" on half of them."""
    draw = random.Random(4)
    rows = [
        {"question_id": f"q{number // 2}", "gold": number % 3 == 0, "subtype": "A1" if number < 40 else "B5"}
        for number in range(80)
    ]
    project = make_project(folder, rows)
    for name, ability in (("poor", 0.5), ("good", 0.95), ("alike", 0.9)):
        verdicts = {
            item: OutcomeCode(int(row["gold"] is (draw.random() < ability))).outcome for item, row in enumerate(rows, 1)
        }
        add_run(project, name, verdicts | {1: Outcome.ABSTAIN})
    return project


def screen_of(app: WorkbenchApp) -> FamilyScreen:
    assert isinstance(app.screen, FamilyScreen)
    return app.screen


async def show(app: WorkbenchApp, pilot: Pilot[None], query: FamilyQuery | None = None) -> None:
    await app.push_screen(FamilyScreen(query or FamilyQuery(), comparable(app.project)))
    await settle(pilot)


def detail(app: WorkbenchApp) -> str:
    return str(app.screen.query_one("#family-detail Static", Static).content)


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_tables_match_the_command_line(tmp_path: Path, size: tuple[int, int]) -> None:
    project = project_of_three(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":c", "enter", "vertical_line")
        screen, report = screen_of(app), family(project)
        assert screen.found == (report, joint_errors(project, comparable(project)))
        assert screen.shown == differences_table(report)
        head = text_of(app, "#family-head")
        assert "gold final · protocol strict" in head
        assert ranking(report) in head
        await press(pilot, "o")
        assert screen.shown == pairs_table(report)
        await press(pilot, "o", "o")
        assert "phi" in text_of(app, "#family-caption")
        await press(pilot, "O", "O", "O", "O")
        assert "Verifiers by accuracy" in text_of(app, "#family-caption")


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_cell_and_row_open_their_pair(tmp_path: Path, size: tuple[int, int]) -> None:
    project = project_of_three(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        await show(app, pilot, FamilyQuery(protocol="strict"))
        report = family(project, protocol="strict")
        a, b = report.members[2].verifier, report.members[0].verifier
        await press(pilot, "down", "down", "right", "right")
        assert detail(app).startswith(f"3 · {a} · 1 ")
        await press(pilot, "enter")
        assert isinstance(app.screen, CompareScreen)
        assert app.screen.asked == Pair(a=a, b=b, protocol="strict")
        await press(pilot, "escape", "home", "enter")
        assert screen_of(app)
        assert any("two different verifiers" in notice for notice in notices(app))
        await press(pilot, "o", "end", "enter")
        last = report.family[-1]
        assert isinstance(app.screen, CompareScreen)
        assert app.screen.asked == Pair(a=last.a, b=last.b, protocol="strict")


@pytest.mark.soak
async def test_all_can_be_compared_with_one(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        await show(app, pilot)
        await press(pilot, "down", "vertical_line")
        screen, reference = screen_of(app), family(project).members[1].verifier
        assert screen.asked.against == reference
        report = family(project, against=reference)
        assert screen.found is not None
        assert screen.found[0] == report
        assert screen.shown == pairs_table(report)
        assert text_of(app, "#family-head").endswith(ranking(report))
        await press(pilot, "vertical_line")
        assert screen.asked.against is None


@pytest.mark.soak
async def test_some_of_them_can_be_chosen(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        await show(app, pilot)
        await press(pilot, "v", "space", "enter")
        assert screen_of(app).asked.verifiers == ("good", "alike", "always-incorrect")
        assert "over 3 pairs" in text_of(app, "#family-caption")
        await press(pilot, "v", "asterisk", "asterisk", "enter")
        assert any("two or more" in notice for notice in notices(app))
        assert len(screen_of(app).asked.verifiers) == 3


@pytest.mark.soak
async def test_pair_keeps_items_protocol_and_gold(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":c", "enter", "b", "enter", "p", "vertical_line")
        screen = screen_of(app)
        assert screen.found is not None
        assert screen.found[0] == family(project, protocol="forced", selection=Selection((parse_condition("type=A"),)))
        assert "A - Numeric Values · 40 items" in text_of(app, "#family-head")
        await press(pilot, "g")
        assert any("No two of these verifiers" in notice for notice in notices(app))
        assert text_of(app, "#family-head") == text_of(app, "#family-caption") == detail(app) == ""
        await press(pilot, "enter", "o", "vertical_line", "e", "g", "p")
        assert screen.shown is not None
        assert len(screen.shown.rows) == 4
        assert "protocol decided" in text_of(app, "#family-head")


@pytest.mark.soak
async def test_shown_table_is_saved(tmp_path: Path) -> None:
    project = project_of_three(tmp_path)
    async with opened(project) as (app, pilot):
        await show(app, pilot)
        await press(pilot, "e", "1", "o", "o", "e", "2")
        found = screen_of(app).found
        assert found is not None
        saved = (tmp_path / "p-family-strict-final.csv").read_text(encoding="utf-8")
        assert saved == comparison_as(found[0], TableForm(format="csv"))
        saved = (tmp_path / "p-errors-strict-final.md").read_text(encoding="utf-8")
        assert saved == comparison_as(found[1], TableForm(format="markdown"))


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_hostile_and_long_names_are_shown_as_text(tmp_path: Path, size: tuple[int, int]) -> None:
    names = [*HOSTILE, "1", "long " * 40]
    project = make_project(tmp_path, [{"gold": place % 2 == 0} for place in range(8)])
    for place, name in enumerate(names):
        add_run(project, name, {item: OutcomeCode((item + place) % 2).outcome for item in range(1, 9)})
    async with opened(project, size=size) as (app, pilot):
        await show(app, pilot)
        await press(pilot, "o", "down")
        assert "\x1b" not in detail(app) + text_of(app, "#family-head")
        await press(pilot, "vertical_line")
        assert screen_of(app).asked.against in (*names, "always-incorrect")
        assert "\x1b" not in text_of(app, "#family-head")
        assert not notices(app)


def test_judge_that_selected_the_items_is_marked(tmp_path: Path) -> None:
    project, names = project_of_three(tmp_path), ("poor", "good", "alike")
    add_selection_judges(project, "sample", ("good",))
    report = family(project, names)
    assert {row.cells[1].text for row in members_table(report).rows} == {"poor", "good †", "alike"}
