"""Compare: figures are the service's, and each list holds the items it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, SIZES, add_run, notices, opened, press, text_of
from workbench.model.selection import Selection, parse_condition
from workbench.model.verdict import Outcome
from workbench.services.measuring.comparing import compared
from workbench.services.measuring.comparing_text import verdict
from workbench.services.project import Project
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.compare import CompareScreen, Pair
from workbench.tui.screens.item import ItemScreen
from workbench.tui.widgets.virtual_table import VirtualTable


def project_of_two(folder: Path) -> Project:
    """12 items, two a question: "careful" misses the correct ones of B, "lax" accepts everything."""
    rows = [
        {
            "question_id": f"q{number // 2}",
            "completion_id": f"c{number}",
            "gold": number % 2 == 0,
            "subtype": "A1" if number < 6 else "B5",
        }
        for number in range(12)
    ]
    project = make_project(folder, rows)
    careful = {number + 1: Outcome.CORRECT if number in (0, 2, 4) else Outcome.INCORRECT for number in range(12)}
    add_run(project, "careful", careful)
    add_run(project, "lax", dict.fromkeys(range(1, 12), Outcome.CORRECT) | {12: Outcome.ABSTAIN})
    return project


def screen_of(app: WorkbenchApp) -> CompareScreen:
    assert isinstance(app.screen, CompareScreen)
    return app.screen


def listed(app: WorkbenchApp) -> list[int]:
    return list(app.screen.query_one(VirtualTable).visible_ids)


@pytest.mark.parametrize("size", SIZES)
async def test_figures_are_those_of_the_service(tmp_path: Path, size: tuple[int, int]) -> None:
    project = project_of_two(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, "y", "c")
        report = compared(project, "careful", "lax").report
        found = screen_of(app).found
        assert found is not None
        assert found.report == report
        assert (report.both_right, report.only_a, report.only_b, report.both_wrong) == (4, 5, 3, 0)
        assert "A careful   B lax" in text_of(app, "#compare-head")
        assert "all · 12 items in 6 questions" in text_of(app, "#compare-head")
        assert [line.split()[-3:] for line in text_of(app, "#compare-table").splitlines()[1:]] == [
            ["4", "5", "9"],
            ["3", "0", "3"],
            ["7", "5", "12"],
        ]
        assert "+16.7" in text_of(app, "#compare-tests")
        assert text_of(app, "#compare-verdict") == verdict(report)


@pytest.mark.parametrize("size", SIZES)
async def test_each_kind_is_listed_and_opens(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(project_of_two(tmp_path), size=size) as (app, pilot):
        await press(pilot, "y", "c")
        assert "only A right: 5 items" in text_of(app, "#compare-kind")
        assert listed(app) == [2, 4, 6, 8, 10]
        await press(pilot, "w")
        assert "only B right: 3 items" in text_of(app, "#compare-kind")
        assert listed(app) == [7, 9, 11]
        await press(pilot, "down", "enter")
        assert type(app.screen).__name__ == "ItemScreen"
        assert app.screen.completion == 9  # type: ignore[attr-defined]
        await press(pilot, "escape", "s")
        assert "A lax   B careful" in text_of(app, "#compare-head")
        assert listed(app) == [7, 9, 11]
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "AccuracyScreen"


async def test_home_leads_to_the_first_two_verifiers(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, "c")
        found = screen_of(app).found
        assert found is not None
        assert found.report == compared(project, "careful", "lax").report
        await press(pilot, "N")
        assert screen_of(app).pair == Pair(a="careful", b="always-incorrect")
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "HomeScreen"


async def test_without_a_complete_run_it_says_where_to_start_one(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, [{"gold": True}])) as (app, pilot):
        await press(pilot, "c")
        assert "Start one in Verifiers & runs" in text_of(app, "#compare-head")
        await press(pilot, "n", "N", "s", "p", "g", "w", "enter")
        assert screen_of(app).pair is None
        assert not notices(app)


async def test_an_item_opens_with_both_verdicts_first(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    add_run(project, "third", dict.fromkeys(range(1, 13), Outcome.CORRECT))
    async with opened(project) as (app, pilot):
        await press(pilot, "c", "n", "w", "enter")
        assert isinstance(app.screen, ItemScreen)
        assert app.screen.chosen is not None
        assert app.screen.chosen.verifier == "third"
        await press(pilot, "e")
        assert app.screen.chosen.verifier == "careful"


@pytest.mark.parametrize("size", SIZES)
async def test_gold_and_protocol_are_never_cut_off(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(project_of_two(tmp_path), size=size) as (app, pilot):
        await press(pilot, "c", "p")
        last = text_of(app, "#compare-head").splitlines()[-1]
        assert last == "gold final · protocol strict: undecided counts as wrong"
        await press(pilot, "p", "p")
        last = text_of(app, "#compare-head").splitlines()[-1]
        assert len(last) <= app.screen.query_one("#compare-head").content_size.width


async def test_switches_go_round(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, "y", "c", "n")
        assert screen_of(app).pair == Pair(a="careful", b="always-incorrect")
        await press(pilot, "n")
        assert screen_of(app).pair == Pair(a="careful", b="lax")
        await press(pilot, "p", "p")
        found = screen_of(app).found
        assert found is not None
        assert found.report == compared(project, "careful", "lax", protocol="decided").report
        assert "protocol decided" in text_of(app, "#compare-head")


async def test_a_cell_is_compared_on_its_own_items(tmp_path: Path) -> None:
    project = project_of_two(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, "y", "home", "right", "right", "c")
        found = screen_of(app).found
        assert found is not None
        selection = Selection((parse_condition("type=A"),))
        assert found.report == compared(project, "careful", "lax", selection=selection).report
        assert "A - Numeric Values · 6 items" in text_of(app, "#compare-head")


async def test_what_can_not_be_compared_leaves_no_figures(tmp_path: Path) -> None:
    async with opened(project_of_two(tmp_path)) as (app, pilot):
        await press(pilot, "y", "c", "g")
        assert any("no item in common" in notice for notice in notices(app))
        assert text_of(app, "#compare-tests") == text_of(app, "#compare-verdict") == ""
        assert listed(app) == []
        await press(pilot, "w", "enter", "g", "g")
        assert "only B right: 3 items" in text_of(app, "#compare-kind")


async def test_with_the_baseline_alone_there_is_nothing_to_compare(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, [{"gold": True}])) as (app, pilot):
        await press(pilot, "y", "c")
        assert type(app.screen).__name__ == "AccuracyScreen"


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_names_are_only_text(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path, [{"gold": True, "completion_id": name, "model": name} for name in HOSTILE])
    for name in HOSTILE:
        add_run(project, name, dict.fromkeys(range(1, len(HOSTILE) + 1), Outcome.CORRECT), reasons=HOSTILE)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, "y", *["b"] * 6, "c", *["n"] * 4, "w", "w")
        assert "[bold]x[/]" in text_of(app, "#compare-head")
        assert listed(app) == [1, 2, 3, 4, 5]
        assert not notices(app)
