"""What if: options are changed in a form that shows the items that flip; one key leads there from a wrong item."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.helpers import make_project, numbered
from tests.servers.scripted import ScriptedServer, scripted
from tests.tui.stage import ONE_SIZE, notices, opened, press, screen_of, settle, text_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.choices import ChoiceMenu
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.screens.accuracy_items import AccuracyCell, AccuracyItemsScreen
from workbench.app.tui.screens.confirm import ConfirmScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.app.tui.screens.what_if import WhatIfScreen
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.project import Project
from workbench.runs.run_status import wait
from workbench.runs.verifying import configured, start

ITEMS = 30
REPLIES = ("Final Judgment: Yes", "Final Judgment: Yes\n\nNote: units ignored.")
"""The first parser of verifybench reads this as No, the second does not."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    return make_project(tmp_path, numbered(ITEMS, subtype="A1"))


def judged(project: Project, server: ScriptedServer) -> None:
    options = {"base_url": server.url, "model": "m", "parser": "verifybench@1"}
    assert wait(project, start(project, "llm-judge", options, "judge").run).state == "complete"
    # A user who opens the project now has not given consent.
    shutil.rmtree(project.path.parent / "own")


def replies(received: object) -> str:
    # Two of three are parsed as No.
    replies.count += 1  # type: ignore[attr-defined]
    return REPLIES[replies.count % 3 > 0]  # type: ignore[attr-defined]


replies.count = 0  # type: ignore[attr-defined]


def field(app: WorkbenchApp, name: str) -> OptionField:
    return app.screen.query_one(f"#option-{name}", OptionField)


async def tried(app: WorkbenchApp, pilot: Pilot[None]) -> WhatIfScreen:
    """Try the values in the fields."""
    screen = screen_of(app, WhatIfScreen)
    screen.found = None
    await press(pilot, "ctrl+t")
    await until(pilot, lambda: screen.found is not None)
    await settle(pilot)
    return screen


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_wrong_item_leads_to_the_effect_of_another_parser(project: Project, size: tuple[int, int]) -> None:
    with scripted(replies) as server:
        judged(project, server)
        calls_before = len(server.received)
        async with opened(project, size=size) as (app, pilot):
            await app.push_screen(AccuracyItemsScreen(AccuracyCell(verifier="judge"), "all"))
            await settle(pilot)
            await press(pilot, "enter")
            screen_of(app, ItemScreen)
            await press(pilot, "ctrl+t")
            await until(pilot, lambda: app.screen.query("#option-parser"))
            await settle(pilot)
            assert app.focused is field(app, "parser").line
            assert "Change an option and try it" in text_of(app, "#what-if-said")
            await press(pilot, "right")
            assert field(app, "parser").value == "verifybench@2"
            screen = await tried(app, pilot)
            assert screen.found is not None
            report = screen.found.report
            assert report.n == ITEMS
            assert report.fixed + report.broken == len(screen.table.order) > 0
            assert f"{report.fixed} fixed and {report.broken} broken of {ITEMS} items" in text_of(app, "#what-if-said")
            assert f"A: {report.fixed} fixed, {report.broken} broken" in text_of(app, "#what-if-said")
            assert screen.item is not None
            item_text = text_of(app, "#what-if-item Static")
            assert "before" in item_text
            assert "after" in item_text
            assert len(server.received) == calls_before
            screen.table.focus()
            await press(pilot, "enter")
            assert screen_of(app, ItemScreen).completion in screen.found.ids
            await press(pilot, "escape")
            await press(pilot, "escape")
            screen_of(app, ItemScreen)
    # The reveal is recorded; nothing else was stored.
    assert [one.name for one in configured(project)] == ["judge"]
    assert (
        project.database.reader().execute("SELECT count(*) FROM label_events WHERE kind = 'reveal'").fetchone()[0] > 0
    )


@pytest.mark.soak
async def test_another_template_is_tried_on_a_sample_after_consent(project: Project) -> None:
    with scripted(replies) as server:
        judged(project, server)
        calls_before = len(server.received)
        async with opened(project) as (app, pilot):
            await app.push_screen(WhatIfScreen("judge", 3))
            await until(pilot, lambda: app.screen.query("#option-reference"))
            await settle(pilot)
            field(app, "reference").value = "false"
            await settle(pilot)
            screen = await tried(app, pilot)
            assert len(server.received) == calls_before
            assert isinstance(app.screen, ChoiceMenu)
            await press(pilot, "2")
            await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
            assert len(server.received) == calls_before
            await press(pilot, "y")
            await until(pilot, lambda: screen.found and screen.found.report.items.read == 20)
            found = screen.found
            assert found is not None
            assert found.after(3) is not None
            assert len(server.received) == calls_before + 20


@pytest.mark.soak
async def test_new_verifier_is_saved_under_a_name(project: Project) -> None:
    with scripted(replies) as server:
        judged(project, server)
        calls_before = len(server.received)
        async with opened(project) as (app, pilot):
            await app.push_screen(WhatIfScreen("judge"))
            await until(pilot, lambda: app.screen.query("#option-parser"))
            await settle(pilot)
            field(app, "parser").value = "verifybench@2"
            await settle(pilot)
            await press(pilot, "ctrl+r")
            await press(pilot, *"second", "enter")
            await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
            await press(pilot, "y")
            await until(pilot, lambda: len(configured(project)) == 2)
            await until(pilot, lambda: any("second" in text or "Run 2" in text for text in notices(app)))
        done = await asyncio.to_thread(wait, project, 2)
        assert (done.verifier, done.state, done.done) == ("second", "complete", ITEMS)
        assert len(server.received) == calls_before


@pytest.mark.soak
async def test_errors_are_shown_at_or_below_their_fields(project: Project) -> None:
    assert wait(project, start(project, "bleu").run).state == "complete"
    async with opened(project) as (app, pilot):
        await app.push_screen(WhatIfScreen("bleu", 1))
        await until(pilot, lambda: app.screen.query("#option-of"))
        await settle(pilot)
        await press(pilot, "ctrl+t")
        await until(pilot, lambda: "nothing would change" in text_of(app, ".form-trouble"))
        field(app, "of").value = "[bold]x"
        await press(pilot, "ctrl+t")
        await until(pilot, lambda: "it is auto or final or whole" in field(app, "of").wrong)
        field(app, "of").value = "whole"
        screen = await tried(app, pilot)
        assert screen.found is not None
        assert screen.found.report.means == "local"


@pytest.mark.soak
async def test_verifier_without_options_says_so(project: Project) -> None:
    assert wait(project, start(project, "exact").run).state == "complete"
    async with opened(project) as (app, pilot):
        await app.push_screen(WhatIfScreen("exact", 1))
        await until(pilot, lambda: app.screen.query("#what-if-form Static"))
        assert "It has no options" in text_of(app, "#what-if-form Static")
        await press(pilot, "escape")


async def test_annotators_cannot_open_the_screen(project: Project) -> None:
    async with opened(project, annotator="anna") as (app, pilot):
        for _ in range(2):
            await press(pilot, "ctrl+t")
            assert not isinstance(app.screen, WhatIfScreen)
            await press(pilot, *":a", "enter")
