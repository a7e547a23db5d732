"""Generating, selecting and evolving start in the app, which shows the calls and results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.evolving import own_project
from tests.evolving_served import answering, need_a_sandbox, own_tests
from tests.helpers import make_project, numbered
from tests.servers.scripted import ScriptedServer, scripted
from tests.tui.stage import ONE_SIZE, add_run, notices, opened, press, screen_of, settle, text_of, until
from tests.tui.test_verbs import fill
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.runs import RunsScreen
from workbench.app.tui.screens.transcript import WrittenScreen
from workbench.app.tui.screens.verb import VerbOutputScreen, VerbScreen
from workbench.core.project import Project
from workbench.core.verdict import Outcome

FORMS = {
    "code write-tests": {"suite": "utg"},
    "code write-solutions": {"name": "more", "rounds": "1"},
    "code evolve": {"name": "grown", "rounds": "1"},
}
"""The values next to the model and its server."""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = own_project(tmp_path, 1)
    yield made
    made.close()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    evolves = answering(own_tests(1))

    def reply(received: object) -> str:
        return f"{evolves(received)}\n<assertion>assert clip10([red]) == 1</assertion>"  # type: ignore[arg-type]

    with scripted(reply) as made:
        yield made


async def run_form(app: WorkbenchApp, pilot: Pilot[None], verb: str, **values: str) -> str:
    """Fill in and run a form; return its output."""
    app.open_verb(verb)
    await settle(pilot)
    await fill(app, **values)
    form = screen_of(app, VerbScreen)
    await press(pilot, "ctrl+r")
    await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen) or not form.is_at_work)
    output = screen_of(app, VerbOutputScreen).text
    await press(pilot, "escape", "escape")
    return output


def call_shown(app: WorkbenchApp) -> str:
    document = app.screen.query_one(Reader).document
    return "" if document is None else document.text


@pytest.mark.few(3)
@pytest.mark.parametrize("verb", FORMS)
async def test_generating_commands_are_started_and_read_in_the_app(
    project: Project, server: ScriptedServer, verb: str
) -> None:
    need_a_sandbox()
    async with opened(project) as (app, pilot):
        values = {"model": "m", "option": f"base_url={server.url}", **FORMS[verb]}
        output = await run_form(app, pilot, verb, **values)
        assert server.received, output
        await press(pilot, ":", "v", "enter")
        await until(pilot, lambda: screen_of(app, RunsScreen).runs)
        await press(pilot, "T")
        await until(pilot, lambda: isinstance(app.screen, WrittenScreen) and "Reply" in call_shown(app))
        assert len(screen_of(app, WrittenScreen)._places) == len(server.received)
        assert "[red]" in call_shown(app)
        assert text_of(app, "#transcript-facts").startswith(f"{len(server.received)} call")


async def test_solutions_are_selected_in_the_app(project: Project, server: ScriptedServer) -> None:
    need_a_sandbox()
    async with opened(project) as (app, pilot):
        await run_form(app, pilot, "verify", verifier="execution")
        output = await run_form(app, pilot, "code select")
        assert "1 problem" in output


@pytest.mark.soak
@pytest.mark.parametrize("size", ONE_SIZE)
async def test_every_call_can_be_browsed(project: Project, server: ScriptedServer, size: tuple[int, int]) -> None:
    async with opened(project, size=size) as (app, pilot):
        await run_form(app, pilot, "code pool", model="m", option=f"base_url={server.url}", samples="3")
        await press(pilot, ":", "v", "enter")
        await until(pilot, lambda: screen_of(app, RunsScreen).runs)
        await press(pilot, "T")
        await until(pilot, lambda: "Reply" in call_shown(app))
        assert app.screen.query_one(Reader).border_title == "1 of 3 · scripted-model"
        await press(pilot, "right_square_bracket", "right_square_bracket")
        await until(pilot, lambda: app.screen.query_one(Reader).border_title == "3 of 3 · scripted-model")
        await press(pilot, "o")
        await until(pilot, lambda: '"messages":' in call_shown(app))
        assert app.screen.query_one(VirtualTable).row_count == 3


async def test_run_with_verdicts_says_where_its_calls_are(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    add_run(project, "judge", dict.fromkeys((1, 2), Outcome.CORRECT))
    async with opened(project) as (app, pilot):
        await press(pilot, ":", "v", "enter")
        await until(pilot, lambda: screen_of(app, RunsScreen).runs)
        await press(pilot, "T")
        assert isinstance(app.screen, RunsScreen)
        assert any("T shows a verdict's calls" in output for output in notices(app))
