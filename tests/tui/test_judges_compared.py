"""The costs of judges and a sweep, from Home by keys: metrics on the screen, and the stored rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, takewhile
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.background import runner_ends
from tests.helpers import make_project, numbered
from tests.servers.scripted import Received, Scripted, ScriptedServer, chat_reply, scripted
from tests.tui.stage import ONE_SIZE, opened, press, screen_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.screens.verb import VerbOutputScreen, VerbScreen
from workbench.core.project import Project
from workbench.core.verdict import OutcomeCode
from workbench.runs import run_status, verifying

ITEMS = 4


_REJECTED = {"heron": [], "wren": [3]}
"""The items that each judge rejects; items 1 and 3 are incorrect."""
_WRITTEN = {"heron": [10, 20, 30, 60], "wren": [20, 20, 20, 20]}
"""Tokens of each judge's replies, by item."""


def reply(received: Received) -> Scripted:
    """Reply as two judges, with different words for each item."""
    words = str(received.body["messages"][-1]["content"])
    item, name = int(words.partition("problem number ")[2][0]), received.body["model"]
    verdict = "No" if item in _REJECTED.get(name, []) else "Yes"
    body = chat_reply(f"The {name} looks at {item}.\nFinal Judgment: {verdict}")
    written = _WRITTEN.get(name, [20] * ITEMS)[item]
    usage = {"prompt_tokens": 100 * (item + 1), "completion_tokens": written, "total_tokens": written}
    return Scripted(body={**body, "usage": usage})


def figures_of(text: str, named: str) -> dict[str, dict[str, str]]:
    """Return the rows of the table with this first column: cells by row and column, split by position."""
    lines = text.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(named))
    table = list(takewhile(str.strip, lines[begin:]))
    width = max(map(len, table))
    gaps = [place for place in range(width - 1) if all(line[place : place + 2].strip() == "" for line in table)]
    edges = [place for place in gaps if place + 1 not in gaps]
    cells = [[line[a:b].strip() for a, b in pairwise([0, *(edge + 1 for edge in edges), width])] for line in table]
    return {row[0]: dict(zip(cells[0], row, strict=True)) for row in cells[1:]}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(reply) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    rows = [{**row, "question": f"problem number {number}"} for number, row in enumerate(numbered(ITEMS))]
    rows = [{**row, "question_id": f"q{number}"} for number, row in enumerate(rows)]
    with runner_ends(make_project(tmp_path, rows)) as project:
        yield project


def judge(project: Project, server: ScriptedServer, name: str) -> None:
    number = verifying.start(project, "llm-judge", {"base_url": server.url, "model": name}, name).run
    assert run_status.wait(project, number).state == "complete"


async def form_by_keys(app: WorkbenchApp, pilot: Pilot[None], title: str) -> VerbScreen:
    """Open the form of a command, from Home by the palette."""
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


async def run_form(app: WorkbenchApp, pilot: Pilot[None], **values: str) -> str:
    """Type into the form of a command, run it, and return the output on the screen."""
    for name, value in values.items():
        app.screen.query_one(f"#option-{name}", OptionField).value = value
    await press(pilot, "ctrl+r")
    await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
    shown = screen_of(app, VerbOutputScreen)
    assert shown.ran.code == 0, shown.text
    return shown.text


def stored_costs(project: Project, run: int) -> tuple[float, float, float]:
    """Return accuracy, and tokens read and written by item, directly from a stored run."""
    reader = project.database.reader()
    right = reader.execute(
        "SELECT avg((v.outcome = ?) = c.imported_gold) FROM verdicts AS v JOIN completions AS c "
        "ON c.id = v.completion_id WHERE v.run_id = ?",
        (int(OutcomeCode.CORRECT), run),
    ).fetchone()[0]
    sums = reader.execute(
        "SELECT sum(r.prompt_tokens), sum(r.completion_tokens) FROM verdict_calls AS c "
        "JOIN responses AS r ON r.id = c.response_id WHERE c.run_id = ?",
        (run,),
    ).fetchone()
    return right, sums[0] / ITEMS, sums[1] / ITEMS


@pytest.mark.soak
@pytest.mark.parametrize("size", ONE_SIZE)
async def test_costs_of_judges_are_shown_next_to_their_accuracy(
    project: Project, server: ScriptedServer, size: tuple[int, int]
) -> None:
    for name in ("heron", "wren"):
        judge(project, server, name)
    stored = {one.verifier: stored_costs(project, one.run) for one in run_status.runs(project)}
    assert stored == {"heron": (0.5, 250, 30), "wren": (0.75, 250, 20)}
    async with opened(project, size=size) as (app, pilot):
        await form_by_keys(app, pilot, "Cost")
        text = await run_form(app, pilot)
        await press(pilot, "escape")
        screen_of(app, VerbScreen)
    shown = figures_of(text, "verifier")
    assert list(shown)[:2] == ["wren", "heron"]
    for name, (accuracy, read, written) in stored.items():
        row = shown[name]
        assert (float(row["accuracy"]), float(row["tokens in"]), float(row["tokens"])) == (accuracy, read, written)
        assert (row["n"], row["calls"], row["executing"]) == (str(ITEMS), "1.0", "0")
    assert (shown["wren"]["leads"], shown["heron"]["leads"]) == ("●", "")


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_sweep_is_started_and_read_in_the_app(
    project: Project, server: ScriptedServer, size: tuple[int, int]
) -> None:
    async with opened(project, size=size) as (app, pilot):
        await form_by_keys(app, pilot, "Sweep")
        text = await run_form(
            app, pilot, judge="llm-judge", vary="temperature=0,0.5", option=f"base_url={server.url} model=m"
        )
        assert "temperature" in text
        names = [one.verifier for one in run_status.runs(project)]
        assert len(names) == 2
        assert all(one.state == "complete" for one in run_status.runs(project))
        stored = project.database.reader().execute("SELECT count(*) FROM verdicts").fetchone()[0]
        assert stored == 2 * ITEMS
