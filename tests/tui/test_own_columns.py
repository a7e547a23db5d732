"""A custom table: metrics by its columns, and values of its type column that are not types."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.tui.stage import notices, opened, press, screen_of, text_of, until
from workbench.app.tui.kit.matrix_table import Matrix
from workbench.app.tui.screens.accuracy import AccuracyScreen
from workbench.app.tui.screens.compare import CompareScreen
from workbench.app.tui.screens.home import HomeScreen
from workbench.core.project import Project, open_project
from workbench.core.selection import GROUPS, TOLD, Condition
from workbench.data.formats.verdict_words import parse_verdicts
from workbench.interchange.importing import import_files, plan_import
from workbench.measuring.accuracy import accuracy

LEVEL = "how hard, in words "
SAYS = ("regex says", "other says")
HERE = tuple(by for by in GROUPS if by not in TOLD)
"""The breakdowns of metrics if no row has a language or difficulty."""


def table(folder: Path) -> Path:
    file = folder / "own.csv"
    with file.open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["completion_id", "question", "answer", "response", "gold", LEVEL, *SAYS])
        for n in range(24):
            right = n % 3 > 0
            hard = "[red]hard[/]" if n % 2 else "easy"
            says = ["yes" if right is (n % 8 > 0) else "no", "yes" if right is (n % 5 > 0) else "no"]
            out.writerow([f"r{n}", f"{n}+1?", f"{n + 1}", f"It is {n + 1}.", right, hard, *says])
    return file


@pytest.fixture
def project(tmp_path: Path) -> Project:
    found = open_project(tmp_path / "p.db", create=True)
    graders = parse_verdicts(["regex=regex says", "other=other says"])
    import_files(found, plan_import([table(tmp_path)], graders=graders))
    return found


async def test_accuracy_is_broken_down_by_a_stored_column(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter", "b", *"hard", "enter")
        screen = screen_of(app, AccuracyScreen)
        assert screen.groups == (*HERE, f"column:{LEVEL}", "column:regex says", "column:other says")
        assert screen.asked.by == f"column:{LEVEL}"
        assert screen.report == accuracy(project, by=f"column:{LEVEL}")
        assert {row.group for row in screen.report.rows} == {None, "easy", "[red]hard[/]"}
        screen.query_one(Matrix).move_to("regex", "easy")
        await press(pilot, "a", "1")
        assert screen.asked.conditions == (Condition(f"column:{LEVEL}", "=", "easy"),)
        assert screen.asked.by == "type"
        await press(pilot, "i")
        assert not notices(app)


@pytest.mark.soak
async def test_group_is_split_by_a_stored_column(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter", "right", "a", *["down"] * (len(HERE) - 1), "enter")
        screen = screen_of(app, AccuracyScreen)
        assert (screen.asked.path[0].field, screen.asked.by) == ("type", f"column:{LEVEL}")


@pytest.mark.soak
async def test_wins_are_counted_by_a_stored_column(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":compare", "enter", "b", *["b"] * (len(HERE) - 1))
        screen = screen_of(app, CompareScreen)
        assert screen.asked is not None
        assert screen.asked.by == f"column:{LEVEL}"
        assert screen.report is not None
        assert {one.group for one in screen.report.groups} == {"easy", "[red]hard[/]"}


@pytest.mark.soak
async def test_invalid_types_are_reported_next_to_metrics(tmp_path: Path) -> None:
    project = open_project(tmp_path / "p.db", create=True)
    plans = plan_import([table(tmp_path)], columns={"subtype": LEVEL}, graders={"regex": "regex says"})
    import_files(project, plans)
    async with opened(project) as (app, pilot):
        await until(pilot, lambda: any(one.kind == "unknown-types" for one in screen_of(app, HomeScreen).matters))
        home = screen_of(app, HomeScreen)
        (number,) = [place for place, one in enumerate(home.matters, 1) if one.kind == "unknown-types"]
        sentence = home.matters[number - 1].sentence
        assert sentence.startswith(f"24 items have no answer type: {LEVEL} says easy, [red]hard[/].")
        await press(pilot, f"{number}")
        screen = screen_of(app, AccuracyScreen)
        assert {row.group for row in screen.report.rows} == {None, "easy", "[red]hard[/]"}  # type: ignore[union-attr]
        await press(pilot, "b", *"regex", "enter")
        assert screen.asked.by == "column:regex says"
        await press(pilot, "b", "1")
        assert screen.asked.by == "type"
        assert f"{LEVEL} says easy, [red]hard[/]" in text_of(app, "#accuracy-conclusion")
