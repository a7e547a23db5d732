"""Errors by kind: counts of reviewers' marks, the items behind them, and the table as a file."""

from __future__ import annotations

import csv
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.helpers import add_items, make_project, numbered
from tests.tui.stage import ONE_SIZE, add_run, notices, opened, press, settle, text_of
from workbench.app.tui.kit.columns import RowSource
from workbench.app.tui.screens.disagreements import ErrorCountsScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.measuring.reviewing import deciding

ALPHA, BETA = "alpha", "[bold]beta\x1b[0m" + "β" * 60


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """``alpha``: equivalence on 1, 2 (A1) and 3 (C4), units on 3; ``beta``: other on 4 (no type)."""
    made = make_project(tmp_path, numbered(2, subtype="A1"))
    add_items(made.database, numbered(1, subtype="C4", dataset="more"))
    add_items(made.database, numbered(1, dataset="untyped"))
    wrong = {1: Outcome.INCORRECT, 2: Outcome.CORRECT, 3: Outcome.INCORRECT, 4: Outcome.INCORRECT}
    alpha, beta = add_run(made, ALPHA, wrong), add_run(made, BETA, wrong)
    for item in (1, 2):
        deciding.mark_error(made, item, alpha, "equivalence", by="dora")
    deciding.mark_error(made, 3, alpha, "units", by="dora")
    deciding.mark_error(made, 4, beta, "other", by="dora", note="odd")
    return made


@asynccontextmanager
async def counting(
    project: Project, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[ErrorCountsScreen, Pilot[None]]]:
    async with opened(project, size=size) as (app, pilot):
        screen = ErrorCountsScreen()
        app.push_screen(screen)
        await settle(pilot)
        yield screen, pilot


def source_of(screen: ErrorCountsScreen) -> RowSource:
    source = screen.table.source
    assert source is not None
    return source


def cells(screen: ErrorCountsScreen) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in source_of(screen).first_page(20)]


def heads(screen: ErrorCountsScreen) -> list[str]:
    return [column.title for column in source_of(screen).columns]


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_counts_are_by_verifier_group_and_kind(project: Project, size: tuple[int, int]) -> None:
    async with counting(project, size) as (screen, pilot):
        assert heads(screen) == ["verifier", "group", "marked", "equivalence", "units", "other"]
        beta, *rest = cells(screen)
        assert beta == [BETA, "all", "1", "0", "0", "1"]
        assert "[bold]beta␛[0m" in screen.table.render_line(1).text
        assert rest == [
            [BETA, "untyped", "1", "0", "0", "1"],
            [ALPHA, "all", "3", "2", "1", "0"],
            [ALPHA, "A1 - Integer", "2", "2", "0", "0"],
            [ALPHA, rest[3][1], "1", "0", "1", "0"],
        ]
        assert rest[3][1].startswith("C4 - ")
        await press(pilot, "b")
        assert [row[1] for row in cells(screen)][2:4] == ["all", "A - Numeric Values"]
        await press(pilot, "b")
        assert [row[2] for row in cells(screen)] == ["1", "3"]


async def test_cell_opens_its_items(project: Project) -> None:
    async with counting(project) as (screen, pilot):
        await press(pilot, "down", "down", "right", "right", "right")
        assert "alpha on all items: 2 marked errors of kind equivalence" in text_of(screen.app, "#errors-detail Static")
        await press(pilot, "enter")
        item = screen.app.screen
        assert isinstance(item, ItemScreen)
        assert item.completion == 1
        await press(pilot, "right_square_bracket")
        assert item.completion == 2
        await press(pilot, "right_square_bracket")
        assert [notice for notice in notices(screen.app) if "This is the last item" in notice]
        assert item.chosen is not None
        assert item.chosen.verifier == ALPHA


@pytest.mark.soak
async def test_group_opens_only_its_items_and_an_empty_cell_none(project: Project) -> None:
    async with counting(project) as (screen, pilot):
        await press(pilot, "end", "right", "right", "enter")
        assert isinstance(screen.app.screen, ItemScreen)
        assert screen.app.screen.completion == 3
        await press(pilot, "escape")
        assert (screen.table.cursor, screen.table.column) == (4, 2)
        await press(pilot, "home", "right", "enter")
        assert [notice for notice in notices(screen.app) if "no such error" in notice]


@pytest.mark.soak
async def test_undone_mark_is_not_counted(project: Project) -> None:
    async with counting(project) as (screen, pilot):
        made = deciding.mark_error(project, 3, 1, "format", by="dora")
        await press(pilot, "r")
        assert heads(screen) == ["verifier", "group", "marked", "equivalence", "format", "other"]
        deciding.take_back(project, made.uuid, by="dora")
        await press(pilot, "r")
        assert heads(screen) == ["verifier", "group", "marked", "equivalence", "units", "other"]


@pytest.mark.soak
async def test_table_is_written_next_to_the_database(project: Project) -> None:
    async with counting(project) as (screen, pilot):
        await press(pilot, "e", "1", "e", "2", "e", "1")
        folder = project.path.parent
        with (folder / "p-errors-subtype.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [(row["group"], row["marked"], row["equivalence"]) for row in rows][2:4] == [
            ("all", "3", "2"),
            ("A1 - Integer", "2", "2"),
        ]
        assert "alpha" in (folder / "p-errors-subtype.md").read_text("utf-8")
        assert (folder / "p-errors-subtype-2.csv").exists(), "nothing is overwritten"
        assert len([notice for notice in notices(screen.app) if "Written" in notice]) == 3


async def test_screen_without_marks_says_how_to_make_them(tmp_path: Path) -> None:
    async with counting(make_project(tmp_path, numbered(1))) as (screen, pilot):
        assert "No error has been marked yet" in text_of(screen.app, "#errors-head")
        await press(pilot, "enter", "b")
        assert screen.app.screen is screen
