"""Home: what there is at a glance, and one key to every other screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import OptionList

from tests.helpers import add_items, make_project, numbered
from tests.tui.stage import HOSTILE, SIZES, add_run, notices, opened, press, settle, text_of, until
from workbench.app.tui.app import SCREENS
from workbench.core.database.people import add
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.interchange.importing import import_files, plan_import
from workbench.labelling import people
from workbench.labelling.annotating import AnnotationSession, Answer

ROOT = Path(__file__).resolve().parents[2]


def with_people(project: Project, *names: str) -> Project:
    people.assign(project, names, per_item=2)
    return project


@pytest.mark.parametrize("size", SIZES)
async def test_an_empty_project_says_what_to_do(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(make_project(tmp_path), size=size) as (app, _):
        assert "workbench import" in text_of(app, "#home-states Static")
        assert "annotators" in text_of(app, "#home-people Static")
        assert "workbench verify" in text_of(app, "#home-runs Static")


async def test_a_pool_of_questions_says_what_to_do(tmp_path: Path) -> None:
    pool = tmp_path / "pool.csv"
    pool.write_text("question,answer\nHow many?,12\n")
    project = make_project(tmp_path)
    import_files(project, plan_import([pool]))
    async with opened(project) as (app, _):
        assert "workbench curate" in text_of(app, "#home-states Static")
        assert "1 question" in text_of(app, "#home-datasets Static")


@pytest.mark.parametrize("size", SIZES)
async def test_counts_states_people_and_runs(tmp_path: Path, size: tuple[int, int]) -> None:
    project = with_people(make_project(tmp_path, numbered(10, dataset="sums")), "amira", "ben")
    add_run(project, "guess", dict.fromkeys(range(1, 5), Outcome.CORRECT), complete=False, items=10)
    async with opened(project, size=size) as (app, _):
        states = text_of(app, "#home-states Static")
        assert "10 items, 5 questions" in states
        assert "· unlabelled" in states
        assert "100.0 %" in states
        datasets = text_of(app, "#home-datasets Static")
        assert "sums" in datasets
        assert "10 items" in datasets
        assert "amira" in text_of(app, "#home-people Static")
        assert "‖ paused" in text_of(app, "#home-runs Static")
        assert "40 % 4/10" in text_of(app, "#home-runs Static")


async def test_rows_refused_at_import_are_counted(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    good = (ROOT / "sample_data" / "tuples.jsonl").read_text("utf-8").splitlines()[0]
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(f"{good}\nnot json\n{{}}\n", encoding="utf-8")
    import_files(project, plan_import([mixed]), dataset="mixed")
    async with opened(project) as (app, _):
        assert "3 items" in text_of(app, "#home-states Static")
        assert "! rows refused at import, in quarantine: 2" in text_of(app, "#home-states Static")


async def test_panels_that_do_not_fit_scroll_by_keyboard(tmp_path: Path) -> None:
    project = with_people(make_project(tmp_path, numbered(10)), *[f"person {number}" for number in range(30)])
    async with opened(project) as (app, pilot):
        await press(pilot, "tab", "end")
        assert app.screen.query_one("#home-panels").scroll_offset.y > 0


async def test_follows_what_others_write(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    async with opened(project) as (app, pilot):
        add_items(project.database, numbered(6, dataset="later"))
        await until(pilot, lambda: "later" in text_of(app, "#home-datasets Static"))
        assert "8 items" in text_of(app, "#home-states Static")


async def test_an_annotator_sees_only_their_own_work(tmp_path: Path) -> None:
    project = with_people(make_project(tmp_path, numbered(6)), "amira", "zoltan")
    add_run(project, "secret-judge", {1: Outcome.CORRECT})
    session = AnnotationSession(project, "amira")
    item = session.next()
    assert item is not None
    session.submit(item, Answer(verdict="correct"))
    session.close()
    async with opened(project, annotator="amira") as (app, _):
        own = text_of(app, "#home-own Static")
        assert "1 done" in own
        assert "5 left" in own
        shown = "\n".join(str(widget.render()) for widget in app.screen.query("Static"))
        assert "zoltan" not in shown
        assert "secret-judge" not in shown
        assert "unlabelled" not in shown
        menu = app.screen.query_one(OptionList)
        assert [option.id for option in menu.options] == ["annotate", "adjudicate", "conflicts", "history"]


@pytest.mark.parametrize("name", [name for name in SCREENS if name != "home"])
async def test_one_key_opens_each_screen(tmp_path: Path, name: str) -> None:
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        await press(pilot, SCREENS[name][1])
        assert type(app.screen).__name__ == SCREENS[name][0]
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "HomeScreen"


async def test_the_menu_opens_screens_with_enter_and_mouse(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        await press(pilot, "down", "down", "down", "enter")
        assert type(app.screen).__name__ == "FlagsScreen"
        await press(pilot, "escape", "down", "enter")
        assert type(app.screen).__name__ == "BrowseScreen"
        await press(pilot, "escape")
        await pilot.click("#home-menu", offset=(5, 6))
        await settle(pilot)
        assert type(app.screen).__name__ == "AccuracyScreen"


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_names_are_only_text(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path)
    for number, name in enumerate(HOSTILE):
        add_items(project.database, numbered(2, dataset=name))
        add_run(project, name, {2 * number + 1: Outcome.CORRECT})
        if name.isprintable():
            with project.database.write() as connection:
                add(connection, name)
    async with opened(project, size=size) as (app, pilot):
        for panel in ("datasets", "people", "runs"):
            assert "[bold]x[/]" in text_of(app, f"#home-{panel} Static")
        assert "␛[31m" in text_of(app, "#home-datasets Static")
        assert "\x1b" not in text_of(app, "#home-runs Static")
        for key in ("v", "y"):
            await press(pilot, key)
            assert type(app.screen).__name__ != "HomeScreen"
            await press(pilot, "escape")
        assert not notices(app)
