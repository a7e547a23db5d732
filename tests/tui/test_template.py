"""A judge's template is edited in what-if: from the text to verdicts on a sample and a new verifier."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input, Static

from tests.helpers import make_project, numbered
from tests.servers.scripted import Received, scripted
from tests.tui.stage import ONE_SIZE, notices, opened, press, screen_of, settle, text_of, until
from tests.tui.test_what_if import field, judged
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.choices import ChoiceMenu
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screens.add_judge import PreviewScreen
from workbench.app.tui.screens.confirm import ConfirmScreen
from workbench.app.tui.screens.template import TemplateScreen
from workbench.app.tui.screens.what_if import WhatIfScreen
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.project import Project
from workbench.runs.run_status import runs, wait
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import configured, start

ITEMS = 30
MARK = "[bold]strictly[/]"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    return make_project(tmp_path, numbered(ITEMS, subtype="A1"))


def reply(received: Received) -> str:
    body = json.dumps(received.body)
    return "Final Judgment: No" if "strictly" in body else "Final Judgment: Yes"


async def editing(app: WorkbenchApp, pilot: Pilot[None], item: int | None = 3) -> TemplateScreen:
    """Open what-if of the judge with its template."""
    await app.push_screen(WhatIfScreen("judge", item))
    await until(pilot, lambda: app.screen.query("#option-template"))
    await settle(pilot)
    field(app, "template").line.focus()
    await press(pilot, "enter")
    screen = screen_of(app, TemplateScreen)
    await until(pilot, lambda: text_of(app, "#template-shape"))
    return screen


async def write(pilot: Pilot[None], screen: TemplateScreen, text: str) -> None:
    """Write a text, and wait until it was checked."""
    shape, trouble = screen.query_one("#template-shape", Static), screen.query_one(".form-trouble", Static)
    shape.update("")
    trouble.update("")
    screen.editor.text = text
    await until(pilot, lambda: str(shape.content) or str(trouble.content))


async def save(app: WorkbenchApp, pilot: Pilot[None], name: str) -> None:
    """Save under a file name."""
    await press(pilot, "ctrl+r")
    app.screen.query_one(Input).value = name
    await press(pilot, "enter")


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_edited_template_becomes_a_new_verifier(project: Project, size: tuple[int, int]) -> None:
    with scripted(reply) as server:
        judged(project, server)
        calls_before = len(server.received)
        async with opened(project, size=size) as (app, pilot):
            screen = await editing(app, pilot)
            text = screen.editor.text
            assert 'parser = "verifybench@1"' in text
            await write(pilot, screen, text.replace("You grade", f"You grade {MARK}"))
            assert text_of(app, "#template-shape") == "1 call per item · parsed by verifybench@1"
            # The prompt about the current item, without a call.
            await press(pilot, "ctrl+t")
            shown = screen_of(app, PreviewScreen)
            document = shown.query_one(Reader).document
            assert document is not None
            assert MARK in document.text
            assert shown.query_one(TitleBar).remark.startswith("c2 ")
            await press(pilot, "escape")
            assert len(server.received) == calls_before
            # Saved next to the database and tried immediately: the cost is shown, and a sample comes first.
            await save(app, pilot, "strict.toml")
            assert isinstance(app.screen, ChoiceMenu)
            what_if = app.screen_stack[-2]
            assert isinstance(what_if, WhatIfScreen)
            assert (project.path.parent / "strict.toml").read_text().count(MARK) == 1
            assert what_if.query_one("#option-template").value == "strict.toml"  # type: ignore[attr-defined]
            assert what_if.query_one("#option-parser").value == ""  # type: ignore[attr-defined]
            assert len(server.received) == calls_before
            await press(pilot, "2")
            await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
            assert MARK in "".join(str(one.content) for one in app.screen.query(Static))
            assert len(server.received) == calls_before
            await press(pilot, "y")
            await until(pilot, lambda: what_if.found and what_if.found.report.items.read == 20)
            assert len(server.received) == calls_before + 20
            await press(pilot, "ctrl+r", *"strict", "enter")
            await until(pilot, lambda: any("strict saved" in text for text in notices(app)))
        (run,) = (one.run for one in runs(project) if one.verifier == "strict")
        done = await asyncio.to_thread(wait, project, run)
        assert (done.verifier, done.state, done.done) == ("strict", "complete", ITEMS)
        assert len(server.received) == calls_before + ITEMS
        assert {one.verdict for one in verdict_lines(project, "strict", run)} == {"incorrect"}


@pytest.mark.soak
async def test_file_changed_after_a_trial_is_confirmed_again(project: Project) -> None:
    with scripted(reply) as server:
        judged(project, server)
        calls_before = len(server.received)
        async with opened(project) as (app, pilot):
            screen = await editing(app, pilot)
            await write(pilot, screen, screen.editor.text.replace("You grade", "You strictly grade"))
            await save(app, pilot, "strict")
            await press(pilot, "2")
            await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
            await press(pilot, "y")
            await until(pilot, lambda: len(server.received) == calls_before + 20)
            await settle(pilot)
            # Another user changes it: the accepted text was different.
            path = project.path.parent / "strict.toml"
            path.write_text(path.read_text().replace("strictly", "never"))
            await press(pilot, "ctrl+r", *"strict", "enter")
            await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
            assert "never" in "".join(str(one.content) for one in app.screen.query(Static))
            await press(pilot, "escape")
        assert "strict" not in {one.name for one in configured(project)}
        assert len(server.received) == calls_before + 20


@pytest.mark.soak
async def test_errors_are_shown_below_and_no_text_is_lost(project: Project) -> None:
    with scripted(reply) as server:
        judged(project, server)
        async with opened(project) as (app, pilot):
            screen = await editing(app, pilot)
            good = screen.editor.text
            for text, words in (
                (good.replace("version = ", "version = = "), ":3:"),
                (good.replace('"verifybench@1"', '"[bold]x[/]"'), "parser: There is no parser '[bold]x[/]'"),
                (good.replace("{completion}", ""), "none of its calls has a placeholder for the completion"),
            ):
                await write(pilot, screen, text)
                assert words in text_of(app, ".form-trouble").replace("\n", " "), text_of(app, ".form-trouble")
                assert text_of(app, "#template-shape") == ""
                await press(pilot, "ctrl+t")
                screen_of(app, TemplateScreen)
                await save(app, pilot, "mine")
                assert screen_of(app, TemplateScreen).editor.text == text
                assert not (project.path.parent / "mine.toml").exists()
            await write(pilot, screen, good.replace("{reference}", ""))
            assert text_of(app, "#template-shape").endswith("without reference")
            await save(app, pilot, "../mine")
            assert "not a valid template file name" in text_of(app, ".form-trouble")
            # Leaving asks first if something was written.
            await press(pilot, "escape")
            assert isinstance(app.screen, ConfirmScreen)
            await press(pilot, "escape")
            screen_of(app, TemplateScreen)
            await press(pilot, "escape", "y")
            screen_of(app, WhatIfScreen)
        assert not [one for one in project.path.parent.iterdir() if one.suffix == ".toml"]


@pytest.mark.soak
async def test_letters_are_text_and_control_characters_are_harmless(project: Project) -> None:
    with scripted(reply) as server:
        judged(project, server)
        async with opened(project) as (app, pilot):
            screen = await editing(app, pilot)
            await press(pilot, "q", "colon", "question_mark", "1")
            assert screen.editor.text.startswith("q:?1")
            app.post_message(Paste("\x1b]0;title\x07‮[bold]x[/]\r\ny"))
            await settle(pilot)
            assert "\x1b]0;title" in screen.editor.text
            line = screen.editor.get_line(0).plain
            assert line.startswith("q:?1␛]0;title␇")
            assert "‮" not in line
            assert len(line) == len(screen.editor.document.get_line(0))
            drawn = "".join(segment.text for segment in screen.editor.render_line(0))
            assert "\x1b" not in drawn
            assert "[bold]x[/]" in drawn
            # A template over the limit is cut with a notice.
            app.post_message(Paste("word " * 100_000))
            await settle(pilot)
            assert len(screen.editor.text) <= 256 * 1024
            assert any("was dropped" in text for text in notices(app))


@pytest.mark.soak
async def test_verifier_without_a_template_has_none_to_edit(project: Project) -> None:
    assert wait(project, start(project, "chrf", {}).run).state == "complete"
    async with opened(project) as (app, pilot):
        await app.push_screen(WhatIfScreen("chrf", 1))
        await until(pilot, lambda: app.screen.query("#option-of"))
        await settle(pilot)
        assert app.screen.check_action("template", ()) is False


@pytest.mark.soak
@pytest.mark.parametrize("strategy", ["mcts"])
async def test_fixed_template_says_that_it_cannot_be_replaced(project: Project, strategy: str) -> None:
    with scripted(reply) as server:
        judged(project, server)
        async with opened(project) as (app, pilot):
            await app.push_screen(WhatIfScreen("judge"))
            await until(pilot, lambda: app.screen.query("#option-strategy"))
            await settle(pilot)
            field(app, "strategy").value = strategy
            field(app, "template").line.focus()
            await press(pilot, "enter")
            await until(pilot, lambda: "the strategy mcts uses its own template" in text_of(app, ".form-trouble"))
            assert screen_of(app, TemplateScreen).editor.read_only
            await press(pilot, "ctrl+t", "ctrl+r", "escape")
            screen_of(app, WhatIfScreen)
