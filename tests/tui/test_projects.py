"""Switching to another project within the app, for users who opened it by choice."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.widgets import OptionList

from tests.helpers import make_project, numbered
from tests.tui.stage import ONE_SIZE, notices, opened, press, settle, until
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.screens.help import HelpScreen
from workbench.labelling.people import add_annotators


@pytest.mark.few(4)
@pytest.mark.parametrize("typed", ["own data", "demo", "new", "project"])
async def test_palette_finds_the_way_to_custom_data(tmp_path: Path, typed: str) -> None:
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        app.open_screen("browse")
        await settle(pilot)
        await pilot.press("ctrl+p", *("space" if letter == " " else letter for letter in typed))
        await until(pilot, lambda: any("Projects" in line for line in found(app.screen)))


def found(screen: object) -> list[str]:
    assert isinstance(screen, CommandPalette)
    return [str(option.prompt) for option in screen.query_one(OptionList).options]


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_home_shows_the_key_for_projects(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(make_project(tmp_path, numbered(2)), size=size) as (app, pilot):
        await settle(pilot)
        assert "Projects" in {key.label for _, key in app.screen.query_one(Footer).shown}
        await press(pilot, "ctrl+n")
        assert app.goes_on


async def test_annotator_cannot_switch_projects(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    add_annotators(project, ["amira"])
    async with opened(project, annotator="amira") as (app, pilot):
        await settle(pilot)
        assert "Projects" not in {key.label for key in app.screen.query_one(Footer).keys}
        assert not any("Projects" in command.title for command in app.get_system_commands(app.screen))
        await press(pilot, "ctrl+n")
        assert not app.leaving
        await press(pilot, "question_mark")
        assert isinstance(app.screen, HelpScreen)
        lines = [line.text for line in app.screen.listed]
        assert any("Leave the app; runs continue." in text for text in lines)
        assert not any("another" in text for text in lines)
        assert notices(app) == []


async def test_quit_key_does_not_open_another_project(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        await settle(pilot)
        await press(pilot, "ctrl+q")
        assert app.leaving
        assert not app.goes_on
