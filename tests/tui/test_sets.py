"""Sets: progress and shortages in the list; building freezes the same as the command line; publishing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from tests import pools
from tests.commands import in_process
from tests.helpers import make_project, numbered
from tests.publishing import freeze, with_gold
from tests.tui.stage import HOSTILE, ONE_SIZE, notices, opened, press, screen_of, settle, until
from tests.unit.measuring.reviewing.desk import add_run
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screens.accuracy import AccuracyScreen
from workbench.app.tui.screens.browse import BrowseScreen
from workbench.app.tui.screens.sets import SetsScreen
from workbench.app.tui.screens.verb import VerbOutputScreen, VerbScreen
from workbench.benchmarks.building.balanced import build_balanced
from workbench.benchmarks.building.comparing import every_set
from workbench.benchmarks.building.hard import build_hard
from workbench.benchmarks.building.picks import build_picks
from workbench.benchmarks.options import BalancedOptions, HardOptions, PicksOptions
from workbench.core.label import LabelLine
from workbench.core.project import Project, open_project
from workbench.core.selection import Condition
from workbench.labelling.labels import put_lines
from workbench.labelling.people import add_annotators

JUDGES = {"a": "++--", "b": "+--+", "c": "-+--"}


def pool(folder: Path) -> Project:
    """Create four questions of type A and two of type B, labelled and judged by three; one item is in conflict."""
    questions = [pools.PoolQuestion(f"q{number}", "A1" if number < 4 else "B4", "++--") for number in range(5)]
    project = pools.make_pool(folder, [*questions, pools.PoolQuestion("q5", "B4", "+x-.")])
    for name, signs in JUDGES.items():
        add_run(project, name, signs * 6)
    return project


def rows(app: App[None]) -> dict[str, list[str]]:
    """Return the lines of the table: first cell -> the others."""
    assert isinstance(app.screen, SetsScreen)
    source = app.screen.table.source
    assert source is not None
    return {row.cells[0].text: [cell.text for cell in row.cells[1:]] for row in source.first_page(99)}


def detail(app: App[None]) -> str:
    return str(app.screen.query_one("#sets-detail Static", Static).content)


def remark(screen: BrowseScreen) -> str:
    return screen.query_one(TitleBar).remark


async def begin(app: WorkbenchApp, pilot: Pilot[None]) -> SetsScreen:
    """Go to Sets from Home, with the set under the cursor shown in full."""
    await press(pilot, *":s", "enter")
    screen = screen_of(app, SetsScreen)
    await until(pilot, lambda: not screen.sets or screen.detail is not None)
    return screen


async def fill(form: Screen[Any], pilot: Pilot[None], **values: str) -> None:
    """Type into fields of a form."""
    for name, value in values.items():
        field = form.query_one(f"#option-{name.replace('_', '-')}", OptionField)
        field.value = value
    await pilot.pause()


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_list_shows_progress_and_shortages(tmp_path: Path, size: tuple[int, int]) -> None:
    project = pool(tmp_path)
    build_picks(project, PicksOptions(judge="a", each=2))
    build_balanced(project, BalancedOptions(per_type=3))
    line = LabelLine(completion_id="q0-1", annotator="amira", verdict="incorrect", role="adjudicator")
    assert put_lines(project, [line]).refused == 0
    async with opened(project, size=size) as (app, pilot):
        await begin(app, pilot)
        found = rows(app)
        assert list(found) == ["balanced@1", "picks@1"]
        assert found["picks@1"][:8] == ["picks", "6", "24", "22", "1", "1", "0", "0"]
        assert found["balanced@1"][:8] == ["balanced", "5", "10", "10", "0", "0", "3", "1"]
        short = [line for line in detail(app).splitlines()[2:5] if line.startswith("! short")]
        assert [line.partition(",")[0] for line in short] == [
            f"! short  {one} of 3 questions" for one in ("B: 2", "C: 0", "D: 0")
        ]
        assert "Another gold now: 1 item." in detail(app)
        await press(pilot, "down")
        await until(pilot, lambda: detail(app).startswith("picks@1"))
        assert "a (run 1): no later run" in detail(app)


async def test_building_previews_and_freezes_the_same_as_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    project = pool(tmp_path)
    build_picks(project, PicksOptions(judge="a", each=1))
    project.close()
    other = shutil.copy(project.path, tmp_path / "other.db")
    call = in_process(monkeypatch, capfd)
    code, out, error = call("build", other, "balanced", "--where", "set=picks", "--per-type", 2, "--seed", 3, "--json")
    assert code == 0, error

    project = open_project(project.path)
    async with opened(project) as (app, pilot):
        await begin(app, pilot)
        await press(pilot, "a", "2")
        await fill(app.screen, pilot, per_type="7")
        await press(pilot, "escape", "a", "1")
        form = screen_of(app, VerbScreen)
        assert form.verb.name == "build picks"
        assert form.values()["judge"] == "a", "a verifier that has run"
        assert "7" not in form.values().values(), "another kind"
        await press(pilot, "escape", "a", "2")
        form = screen_of(app, VerbScreen)
        assert (form.values()["where"], form.values()["per-type"]) == ("set=picks@1", "7")
        await fill(app.screen, pilot, per_type="2", seed="3")
        await press(pilot, "f3")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        assert [one.name for one in every_set(project)] == ["picks"]
        await press(pilot, "f4")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen) and len(every_set(project)) == 2)
        made = every_set(project)[-1]
        assert (made.name, made.digest, made.seed) == ("balanced", json.loads(out)["digest"], 3)
        await press(pilot, "escape", "escape")
        screen = screen_of(app, SetsScreen)
        await until(pilot, lambda: made in screen.sets)


@pytest.mark.soak
async def test_hard_set_starts_with_a_queue_of_the_chosen_judges(tmp_path: Path) -> None:
    project = pool(tmp_path)
    async with opened(project) as (app, pilot):
        await begin(app, pilot)
        await press(pilot, "a", "3")
        screen_of(app, VerbScreen).query_one("#option-judge", OptionField).line.focus()
        await press(pilot, "enter", "asterisk", "enter")
        assert screen_of(app, VerbScreen).values()["judge"] == "a b c"
        build_hard(project, HardOptions(judges=tuple(JUDGES), minority=1, annotate=4))
        await press(pilot, "escape")
        await until(pilot, lambda: detail(app).startswith("hard-queue@1 (queue, frozen): 4 tuples"))
        await press(pilot, "a", "3")
        going_on = screen_of(app, VerbScreen).values()
        assert (going_on["name"], going_on["judge"], going_on["where"]) == ("hard", "", "")


async def test_versions_are_compared(tmp_path: Path) -> None:
    project = pool(tmp_path)
    for final in (2, 2, 1):
        build_hard(
            project,
            HardOptions(
                judges=tuple(JUDGES), minority=1, annotate=4, final=final, partial=True, new_version=final == 1
            ),
        )
    async with opened(project) as (app, pilot):
        await begin(app, pilot)
        assert list(rows(app)) == ["hard@2", "hard@1", "hard-queue@1"]
        await press(pilot, "vertical_line")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        shown = screen_of(app, VerbOutputScreen).ran.out
        assert shown.startswith("hard@1 → hard@2: 1 equal\nfinal: 2 → 1\nonly in hard@1: 1\n")


@pytest.mark.soak
async def test_publish_form_suggests_the_set_and_a_folder(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(8, subtype="A1", source="math/x"))
    freeze(project, "small")
    freeze(project, "queue", kind="queue")
    async with opened(project) as (app, pilot):
        await begin(app, pilot)
        await press(pilot, "e")
        assert any("Only finished sets can be published" in notice for notice in notices(app))
        await press(pilot, "down", "e")
        screen = screen_of(app, VerbScreen)
        assert (screen.values()["sets"], screen.values()["folder"]) == ("small@1", str(tmp_path / "small"))
        await press(pilot, "f4")
        await until(pilot, lambda: (tmp_path / "small" / "README.md").is_file())


async def test_set_leads_to_its_items_its_accuracy_and_the_pool(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(8, subtype="A1", source=HOSTILE[0]))
    freeze(project, "small", members=with_gold(project)[:4])
    async with opened(project) as (app, pilot):
        await begin(app, pilot)
        await press(pilot, "enter")
        browse = screen_of(app, BrowseScreen)
        assert remark(browse) == "1 of 4"
        assert browse.table.chips == (Condition("set", "=", "small@1"),)
        app.pop_screen()
        await press(pilot, "v")
        accuracy = screen_of(app, AccuracyScreen)
        assert accuracy.report is not None
        assert {row.n for row in accuracy.report.rows if row.group is None} == {4}
        assert "set=small@1 by type" in accuracy.query_one(TitleBar).remark
        await press(pilot, "escape", "o")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        assert HOSTILE[0] in screen_of(app, VerbOutputScreen).ran.out


async def test_annotator_cannot_open_the_screen(tmp_path: Path) -> None:
    project = pool(tmp_path)
    add_annotators(project, ["amira"])
    async with opened(project, annotator="amira") as (app, pilot):
        home = app.screen
        await press(pilot, *":s", "enter", "escape")
        assert app.screen is home
        app.open_screen("sets")
        await settle(pilot)
        assert app.screen is home
        assert not any(command.title == "Open Sets" for command in app.get_system_commands(app.screen))
