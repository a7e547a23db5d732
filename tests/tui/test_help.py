"""Help: every key of the current screen, according to the keymap."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import CommandList
from textual.widgets import OptionList

from tests.helpers import make_project, numbered
from tests.tui.stage import SIZES, opened, press, settle, text_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.destinations import DESTINATIONS
from workbench.app.tui.kit.accuracy_sheet import _metric_columns
from workbench.app.tui.kit.queue_view import columns
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.screens.accuracy import AccuracyScreen
from workbench.app.tui.screens.compare import CompareScreen
from workbench.app.tui.screens.disagreements import DisagreementsScreen
from workbench.app.tui.screens.help import HelpScreen
from workbench.config import Settings


def help_text(app: WorkbenchApp) -> str:
    """Return the text of help, with line breaks replaced."""
    return " ".join(" ".join(lines(app)).split())


def lines(app: WorkbenchApp) -> list[str]:
    assert isinstance(app.screen, HelpScreen)
    return "\n".join(line.text for line in app.screen.listed).splitlines()


@pytest.mark.few(2)
@pytest.mark.parametrize("number", [0, 1])
async def test_help_lists_every_action_of_the_screen_below(tmp_path: Path, number: int) -> None:
    async with opened(make_project(tmp_path, numbered(4)), size=SIZES[number]) as (app, pilot):
        for name in [*DESTINATIONS][number::2]:
            app.open_screen(name)
            await settle(pilot)
            below = app.screen
            assert isinstance(below, WorkbenchScreen)
            app.action_help()
            await settle(pilot)
            text = help_text(app)
            for action in below.all_actions():
                assert not action.keys or action.help in text, name
            await press(pilot, "escape")
            assert app.screen is below


async def test_help_shows_the_keys_of_the_keymap(tmp_path: Path) -> None:
    settings = Settings(keymap={"app.help": "f6", "home.browse": "x,X"})
    async with opened(make_project(tmp_path), settings=settings) as (app, pilot):
        await press(pilot, "question_mark")
        assert type(app.screen).__name__ == "HomeScreen"
        await press(pilot, "f6")
        explained = [line.split()[:4] for line in lines(app)]
        assert ["x", "X", "Open", "Browse:"] in explained
        assert ["f6", "Show", "the", "keys"] in explained


async def test_line_is_found_by_typing_and_run(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(4))) as (app, pilot):
        await press(pilot, *":y", "enter", "question_mark", *"counted", "enter")
        assert "forced" in text_of(app, "#accuracy-caption")
        await press(pilot, "question_mark", *"browse: every", "enter")
        assert type(app.screen).__name__ == "BrowseScreen"
        await press(pilot, "question_mark", *"last row", "enter")
        assert app.screen.query_one(VirtualTable).cursor == 3


async def test_menu_without_a_match_says_so(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path)) as (app, pilot):
        await press(pilot, "?", *"xyz")
        menu = app.screen.query_one(OptionList)
        assert [(option.prompt, option.disabled) for option in menu.options] == [("nothing matches 'xyz'", True)]
        await press(pilot, "down", "enter")
        assert isinstance(app.screen, HelpScreen)
        await press(pilot, *["backspace"] * 3)
        assert menu.option_count == len(app.screen.listed) > 1
        await press(pilot, "escape", ":", *"export")
        assert "enter looks for an item" in str(app.screen.query_one(OptionList).options[0].prompt)


async def test_one_key_shows_the_keys_of_all_screens(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(4)), size=(60, 20)) as (app, pilot):
        await press(pilot, "question_mark", "question_mark")
        assert "On every screen" in lines(app)
        indented = [line for line in lines(app) if line.startswith("   ")]
        assert indented
        assert all(line.index(line.strip()) == 15 for line in indented)
        await press(pilot, "f1")
        assert "This screen" in lines(app)
        await press(pilot, "q")
        assert type(app.screen).__name__ == "HomeScreen"


async def test_table_keys_are_listed_on_screens_with_a_table(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        await press(pilot, "question_mark")
        assert "In a table" not in help_text(app)
        await press(pilot, "escape", *":v", "enter", "question_mark")
        assert "In a table" in help_text(app)
        assert "Last row" in help_text(app)


async def test_annotators_help_names_only_what_they_may_open(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    from workbench.labelling.people import add_annotators

    add_annotators(project, ["amira"])
    async with opened(project, annotator="amira") as (app, pilot):
        await press(pilot, "question_mark")
        text = help_text(app)
        assert "Annotate" in text
        assert "Accuracy" not in text
        assert "Verifiers" not in text


async def test_palette_has_every_action_and_every_screen(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        await press(pilot, *":v", "enter")
        assert isinstance(app.screen, WorkbenchScreen)
        commands = {(command.title, command.help) for command in app.get_system_commands(app.screen)}
        # An action that only opens a screen is listed once, as that screen.
        opening = {f"app.open_screen({name!r})" for name in app.screen_names}
        expected = {
            (action.label, action.help)
            for action in app.screen.all_actions()
            if action.id not in ("app.palette", "app.back") and action.run not in opening
        }
        assert expected <= commands
        titles = {title for title, _ in commands}
        screens = {f"Open {place.title}" for place in DESTINATIONS.values() if not place.is_command}
        assert screens | {"Best of …"} <= titles


@pytest.mark.soak
async def test_palette_command_acts_on_the_screen_below(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        await press(pilot, *":y", "enter")
        await press(pilot, "ctrl+p")
        await press(pilot, *"protocol")
        await until(pilot, lambda: "rotocol" in str(app.screen.query_one(CommandList).options[0].prompt))
        await press(pilot, "down", "enter")
        await settle(pilot)
        assert type(app.screen).__name__ == "AccuracyScreen"
        assert "forced" in text_of(app, "#accuracy-caption")


def test_app_has_a_help_key() -> None:
    assert any(action.id == "app.help" for action in WorkbenchApp.EVERYWHERE)


@pytest.mark.parametrize(
    ("screen", "heads"),
    [
        (AccuracyScreen, [one.heading for one in _metric_columns(wide=True, scored=True)]),
        (CompareScreen, ["acc", "BA", "MCC"]),
        (DisagreementsScreen, [one.heading for one in columns(("rules", "exact"), wide=True)]),
    ],
)
def test_help_explains_abbreviated_column_headings(screen: type[WorkbenchScreen], heads: list[str]) -> None:
    plain = {"group", "95 % interval", "0 % … 100 %", "question", "review", "reference", "completion", "type"}
    explained = {one for word in screen.WORDS for one in word.split(", ")}
    assert {head for head in heads if head not in plain} <= explained
