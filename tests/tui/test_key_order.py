"""Keys sent at once: each goes to the screen that the previous one opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Key
from textual.keys import _character_to_key
from textual.widgets import Input

from tests.helpers import make_project, numbered
from tests.tui.stage import opened, press, settle
from workbench.app.tui.app import WorkbenchApp
from workbench.core.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, numbered(4))


def burst(app: WorkbenchApp, text: str) -> None:
    """Send all keys at once, like pasted text; ⏎ is enter, ⎋ escape."""
    for sign in text:
        key = {"⏎": "enter", "⎋": "escape"}.get(sign) or _character_to_key(sign)
        app.post_message(Key(key, sign if sign not in "⏎⎋" else None))


def passed(app: WorkbenchApp) -> list[str]:
    return [type(screen).__name__ for screen in app.screen_stack[1:]]


@pytest.mark.few(3)
@pytest.mark.parametrize("begin", "hyr")
async def test_burst_reaches_the_screen_that_it_opens(project: Project, begin: str) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, ":", begin, "enter")
        burst(app, ":v⏎")
        await settle(pilot)
        assert passed(app)[-1] == "RunsScreen"
        burst(app, ":Accuracy⏎:b⏎")
        await settle(pilot)
        assert passed(app)[-2:] == ["AccuracyScreen", "BrowseScreen"]
        burst(app, "⎋⎋⎋⎋:y⏎q")
        await settle(pilot)
        assert passed(app) == ["HomeScreen"]


async def test_line_receives_keys_typed_before_it_opened_in_order(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, ":", "b", "enter")
        burst(app, "/The quick brown fox")
        await settle(pilot)
        assert isinstance(app.focused, Input)
        assert app.focused.value == "The quick brown fox"
