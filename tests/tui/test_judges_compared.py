"""What judges cost, a sweep and a duel, from Home by keys: figures on the screen, and the rows they leave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.background import runner_ends
from tests.helpers import make_project, numbered
from tests.servers.scripted import Received, ScriptedServer, scripted
from tests.tui.stage import SIZES, opened, press, screen_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.screens.verb import VerbOutputScreen, VerbScreen
from workbench.core.project import Project
from workbench.runs import verifying

ITEMS = 4


def says(received: Received) -> str:
    """A judge that finds all correct; who compares two finds the first better, whichever that is."""
    words = str(received.body["messages"])
    return "The first is better.\nBetter: 1" if "Better:" in words else "It is right.\nFinal Judgment: Yes"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(says) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with runner_ends(make_project(tmp_path, numbered(ITEMS))) as project:
        yield project


def judge(project: Project, server: ScriptedServer, name: str) -> None:
    number = verifying.start(project, "llm-judge", {"base_url": server.url, "model": name}, name).run
    assert verifying.wait(project, number).state == "complete"


async def form_by_keys(app: WorkbenchApp, pilot: Pilot[None], title: str) -> VerbScreen:
    """The form of a verb, from Home by the palette."""
    verb = next(one for one in app.get_system_commands(app.screen) if one.title.casefold() == f"{title} …".casefold())
    await pilot.press("ctrl+p")
    await until(pilot, lambda: app.screen.query("CommandInput"))
    await pilot.press(*(" " if letter == " " else letter for letter in verb.title.removesuffix(" …").casefold()))
    await until(pilot, lambda: app.screen.query("CommandList > .option-list--option") or _found(app, verb.title))
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, VerbScreen))
    return screen_of(app, VerbScreen)


def _found(app: WorkbenchApp, title: str) -> bool:
    listed = app.screen.query("CommandList")
    return bool(listed) and any(title in str(option.prompt) for option in listed.first().options)  # type: ignore[attr-defined]


async def said(app: WorkbenchApp, pilot: Pilot[None], **values: str) -> str:
    """What the verb on the screen says, once these are typed into its form."""
    for name, value in values.items():
        app.screen.query_one(f"#option-{name}", OptionField).value = value
    await press(pilot, "ctrl+r")
    await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
    shown = screen_of(app, VerbOutputScreen)
    assert shown.ran.code == 0, shown.text
    return shown.text


@pytest.mark.parametrize("size", SIZES)
async def test_what_judges_cost_is_seen_beside_how_good_they_are(
    project: Project, server: ScriptedServer, size: tuple[int, int]
) -> None:
    judge(project, server, "heron")
    async with opened(project, size=size) as (app, pilot):
        await form_by_keys(app, pilot, "Cost")
        text = await said(app, pilot)
        row = next(line for line in text.splitlines() if line.startswith("heron"))
        assert project.database.reader().execute("SELECT count(*) FROM verdicts").fetchone() == (ITEMS,)
        assert any(word.replace(".", "", 1).isdigit() for word in row.split()[1:])
        await press(pilot, "escape")
        screen_of(app, VerbScreen)


@pytest.mark.parametrize("size", SIZES)
async def test_a_sweep_is_begun_and_read_in_the_app(
    project: Project, server: ScriptedServer, size: tuple[int, int]
) -> None:
    async with opened(project, size=size) as (app, pilot):
        await form_by_keys(app, pilot, "Sweep")
        text = await said(
            app, pilot, judge="llm-judge", vary="temperature=0,0.5", option=f"base_url={server.url} model=m"
        )
        assert "temperature" in text
        names = [one.verifier for one in verifying.runs(project)]
        assert len(names) == 2
        assert all(one.state == "complete" for one in verifying.runs(project))
        stored = project.database.reader().execute("SELECT count(*) FROM verdicts").fetchone()[0]
        assert stored == 2 * ITEMS


@pytest.mark.parametrize("size", SIZES)
async def test_a_duel_of_two_judges_is_fought_in_the_app(
    project: Project, server: ScriptedServer, size: tuple[int, int]
) -> None:
    for name in ("heron", "wren"):
        judge(project, server, name)
    before = len(server.received)
    async with opened(project, size=size) as (app, pilot):
        await form_by_keys(app, pilot, "Duel")
        text = await said(app, pilot, a="heron", b="wren", option=f"base_url={server.url} model=d")
        assert "heron" in text
        assert "wren" in text
        assert len(server.received) > before
        duel = next(one for one in verifying.runs(project) if one.verifier.startswith("duel/"))
        assert duel.state == "complete"
