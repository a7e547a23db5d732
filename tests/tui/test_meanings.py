"""One meaning a key: every action's keys mean what they mean everywhere else."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.documents import ROOT
from tests.helpers import make_project, numbered
from tests.tui.stage import ONE_SIZE, notices, opened, press, screen_of, settle, text_of, until
from tests.tui.test_app import EVERY_SCREEN
from workbench.app.tui import registry
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.destinations import ANNOTATOR_DESTINATIONS, DESTINATIONS, Destination
from workbench.app.tui.keymap import NO_KEY, key_names
from workbench.app.tui.kit.title_bar import TitleBar, path_text
from workbench.app.tui.meanings import MEANINGS, meaning_of
from workbench.app.tui.screens.go_to import GoToScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.config import Settings
from workbench.labelling.people import add_annotators

DESKS = ("annotate", "adjudicate", "conflict-class")
"""Prefixes of the screens where people label and adjudicate."""


class Pressed(NamedTuple):
    """An action or a widget's binding, and the keys it has to begin with."""

    id: str
    keys: str


def every_action() -> Iterator[Pressed]:
    """What can be pressed on any screen, and in any widget that a keymap reaches."""
    for action in WorkbenchApp.EVERYWHERE:
        yield Pressed(action.id, action.keys)
    for kind in EVERY_SCREEN:
        yield from (Pressed(action.id, action.keys) for action in kind.ACTIONS)
    for widget in registry.every_widget():
        yield from (Pressed(str(binding.id), binding.key) for binding in registry.widget_bindings(widget))


def test_every_action_has_a_key_whose_meaning_it_is() -> None:
    wrong = []
    for pressed in dict.fromkeys(every_action()):
        meaning = meaning_of(pressed.id)
        if pressed.keys not in ("", NO_KEY) and (
            meaning is None or not {*key_names(pressed.keys)} <= {*key_names(meaning.keys)}
        ):
            wrong.append(f"{pressed.id} is on {pressed.keys}, and means {meaning and meaning.text}")
    assert wrong == []


def test_what_is_done_or_tried_by_one_key_of_a_meaning_is_by_the_other_too() -> None:
    """A form says f4 and a list ctrl+r: who has learnt one of them presses it everywhere."""
    for pressed in every_action():
        meaning = meaning_of(pressed.id)
        if meaning is not None and meaning.keys in ("ctrl+r,f4", "ctrl+t,f3") and pressed.keys not in ("", NO_KEY):
            assert {*key_names(pressed.keys)} == {*key_names(meaning.keys)}, pressed


def test_what_stands_at_desks_only_is_done_at_desks_only() -> None:
    for pressed in every_action():
        meaning = meaning_of(pressed.id)
        assert meaning is None or not meaning.at_desks or pressed.id.partition(".")[0] in DESKS, pressed


def test_no_key_has_two_meanings_and_no_meaning_stands_twice() -> None:
    keys = Counter((key, meaning.at_desks) for meaning in MEANINGS for key in key_names(meaning.keys))
    assert [key for key, times in keys.items() if times > 1] == []
    assert [meaning.text for meaning in MEANINGS if len(meaning.text) > 57] == [], "a line of help"
    assert [said for said, times in Counter(one.text for one in MEANINGS).items() if times > 1] == []


def test_no_verb_has_two_meanings() -> None:
    verbs = Counter(verb for meaning in MEANINGS for verb in meaning.verbs.split())
    assert [verb for verb, times in verbs.items() if times > 1] == []


# -- going about by keys -----------------------------------------------------------------------------


def listed(app: WorkbenchApp) -> list[Destination]:
    """The screens that the line that goes anywhere offers."""
    assert isinstance(app.screen, GoToScreen)
    return app.screen.listed


async def test_any_screen_is_three_keys_away(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(4))) as (app, pilot):
        for place in DESTINATIONS.values():
            app.open_screen("validity")
            await settle(pilot)
            keys = (*f":{place.letter}", "enter")
            assert len(keys) <= 3
            await press(pilot, *keys)
            assert type(app.screen).__name__ == place.screen
            while len(app.screen_stack) > 2:
                app.pop_screen()
            await settle(pilot)


def test_letters_of_screens_are_single_and_unlike() -> None:
    letters = [place.letter for place in DESTINATIONS.values()]
    assert len(set(letters)) == len(letters)
    assert {len(letter) for letter in letters} == {1}


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_a_screen_is_gone_to_by_its_name_or_what_is_like_it(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(make_project(tmp_path, numbered(4)), size=size) as (app, pilot):
        for typed in ("acc", "ACCUR", "acuracy", "accuracy", "veri", "runs"):
            await press(pilot, ":", *typed)
            assert len(listed(app)) == 1, typed
            await press(pilot, "enter")
            assert type(app.screen).__name__ == ("RunsScreen" if typed in ("veri", "runs") else "AccuracyScreen"), typed
            await press(pilot, "q")
            assert type(app.screen).__name__ == "HomeScreen", typed


async def test_an_item_is_gone_to_by_the_end_of_its_id(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"completion_id": f"item-{name}"} for name in ("aa11", "bb22")])
    async with opened(project) as (app, pilot):
        await press(pilot, *":bb22", "enter")
        (row,) = project.database.reader().execute("SELECT id FROM completions WHERE key = 'item-bb22'").fetchone()
        assert screen_of(app, ItemScreen).completion == row
        await press(pilot, *":zz99", "enter")
        assert isinstance(app.screen, GoToScreen)
        assert any("There is no item 'zz99'" in notice for notice in notices(app))
        await press(pilot, "escape", "escape")
        assert type(app.screen).__name__ == "HomeScreen"


async def test_a_command_typed_as_a_screen_is_told_where_commands_are(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(4)), size=(80, 24)) as (app, pilot):
        await press(pilot, ":", *"export")
        assert "Commands: esc, then ^p." in text_of(app, "#go-to-beside")
        await press(pilot, "escape", "ctrl+p", *"export")
        assert type(app.screen).__name__ == "CommandPalette"


@pytest.mark.parametrize("typed", ["y", "accuracy", "b", "c1", "#c1"])
async def test_annotators_go_to_their_own_screens_only(tmp_path: Path, typed: str) -> None:
    project = make_project(tmp_path, numbered(4))
    add_annotators(project, ["amira"])
    theirs = {DESTINATIONS[name].screen for name in ANNOTATOR_DESTINATIONS}
    async with opened(project, annotator="amira") as (app, pilot):
        await press(pilot, ":", *typed)
        assert {place.name for place in listed(app)} <= set(ANNOTATOR_DESTINATIONS)
        await press(pilot, "enter")
        assert {type(screen).__name__ for screen in app.screen_stack} <= {"Screen", "GoToScreen", *theirs}
        revealed = "SELECT count(*) FROM label_events WHERE kind = 'reveal'"
        assert project.database.reader().execute(revealed).fetchone() == (0,)


@pytest.mark.parametrize("key", ["q", "escape"])
async def test_going_back_ends_at_home_which_says_how_to_leave(tmp_path: Path, key: str) -> None:
    async with opened(make_project(tmp_path, numbered(4))) as (app, pilot):
        for name in DESTINATIONS:
            if name != "home":
                app.open_screen(name)
                await settle(pilot)
                app.set_focus(None)
                await press(pilot, key)
                assert type(app.screen).__name__ == "HomeScreen", name
        assert not any("leaves the app" in notice for notice in notices(app))
        await press(pilot, key)
        assert any("^q leaves the app" in notice for notice in notices(app))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)


async def test_what_every_key_means_is_one_key_from_help(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(4))) as (app, pilot):
        await press(pilot, "question_mark", "question_mark")
        said = " ".join(text_of(app, "#help-keys").split())
        assert [meaning.text for meaning in MEANINGS if meaning.text not in said] == []
        await press(pilot, "question_mark")
        assert MEANINGS[-1].text not in " ".join(text_of(app, "#help-keys").split())
        await press(pilot, "q")
        assert type(app.screen).__name__ == "HomeScreen"


async def test_the_first_line_says_where_one_is(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(4)), size=(120, 40)) as (app, pilot):
        await press(pilot, *":b", "enter", "enter")
        assert text_of(app, "TitleBar").startswith("Home › Browse › Item  ")
        await pilot.resize_terminal(40, 24)
        await settle(pilot)
        assert "Item  " in text_of(app, "TitleBar")


@pytest.mark.parametrize(
    ("room", "way"),
    [(30, "Home › Accuracy › A, B2 › "), (25, "… › Accuracy › A, B2 › "), (15, "… › A, B2 › "), (9, ""), (0, "")],
)
def test_the_way_here_loses_its_beginning_first(room: int, way: str) -> None:
    assert path_text(["Home", "Accuracy", "A, B2"], room) == way


# -- the documentation -------------------------------------------------------------------------------


KEYS = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8")
MOVED: dict[str, str] = tomllib.loads(KEYS.partition("```toml")[2].partition("```")[0])["keymap"]


def test_the_keymap_of_the_documentation_is_valid() -> None:
    assert registry.keymap_problems(MOVED, WorkbenchApp.EVERYWHERE) == []


async def test_moved_keys_work(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    async with opened(project, settings=Settings(keymap=MOVED)) as (app, pilot):
        await press(pilot, "b")
        assert type(app.screen).__name__ == "BrowseScreen"
        await press(pilot, "g", "2", "enter", "enter")
        assert screen_of(app, ItemScreen).completion == 2
        await press(pilot, "f6")
        assert screen_of(app, ItemScreen).completion == 3
        await press(pilot, "escape", "escape", "y")
        assert type(app.screen).__name__ == "AccuracyScreen"
        await pilot.press("ctrl+x")
        await until(pilot, lambda: not app.is_running)


async def test_the_way_here_does_not_grow_with_jumps_and_ends_where_escape_leads(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    async with opened(project, size=(120, 40)) as (app, pilot):

        def way() -> list[str]:
            bar = app.screen.query_one(TitleBar)
            return str(bar.render()).partition("  ")[0].split(" › ")

        await press(pilot, *":y", "enter")
        assert way() == ["Home", "Accuracy"]
        await press(pilot, *":b", "enter")
        assert way() == ["…", "Accuracy", "Browse"]
        for letter in "vcrl":
            before = way()[-1]
            await press(pilot, ":", letter, "enter")
            assert way()[:-1] == ["…", before]
        await press(pilot, "escape")
        assert way()[-1] == before
