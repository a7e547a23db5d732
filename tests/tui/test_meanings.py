"""One meaning per key: every action's keys mean the same everywhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.widgets import OptionList

from tests.documents import ROOT
from tests.helpers import make_project, numbered
from tests.tui.stage import ONE_SIZE, notices, opened, press, screen_of, settle, text_of, until
from workbench.app.tui import registry
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.destinations import ANNOTATOR_DESTINATIONS, DESTINATIONS
from workbench.app.tui.keymap import NO_KEY, key_names
from workbench.app.tui.kit.title_bar import TitleBar, path_text
from workbench.app.tui.screens.go_to import GoToScreen
from workbench.app.tui.screens.help import HelpScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.config import Settings
from workbench.labelling.people import add_annotators

DESKS = ("annotate", "adjudicate", "conflict-class")
"""Prefixes of the screens for labelling and adjudicating."""


class Meaning(NamedTuple):
    """A key with its equivalents, and its verbs: last parts of ids, or whole ids.

    On the screens for labelling and adjudicating ("desks"), a key may have another meaning than elsewhere.
    """

    keys: str
    verbs: str
    at_desks: bool = False


MEANINGS = [
    Meaning(*one)
    for one in (
        ("enter", "open choose flags.answer list section.fold"),
        ("escape,q,backspace", "back close no accuracy.up"),
        ("colon", "go"),
        ("question_mark,f1", "help help.turn"),
        ("ctrl+p", "palette"),
        ("ctrl+q", "quit"),
        ("ctrl+z", "suspend"),
        ("ctrl+n", "projects"),
        ("right_square_bracket", "next newer code-rounds.evolution"),
        ("left_square_bracket", "previous older"),
        ("tab", "pane complete judge.next verb.next import.next what-if.next set-up-run.next replay.next"),
        ("up,k", "up above"),
        ("down,j", "down below"),
        ("left", "left before"),
        ("right", "right pick.next"),
        ("pageup,ctrl+u", "page-up"),
        ("pagedown,ctrl+d", "page-down"),
        ("home", "first reader.top"),
        ("end", "last reader.bottom"),
        ("ctrl+home", "matrix.top"),
        ("ctrl+end", "matrix.bottom"),
        ("slash", "find search"),
        ("n", "find-next boxed code-diff.next next-test disagreements.next elsewhere"),
        ("N", "find-previous code-diff.previous test-before"),
        ("at", "jump disagreements.split sizes code-problem.run"),
        ("f", "filter"),
        ("F", "unfilter"),
        ("equals_sign", "only"),
        ("number_sign", "counts"),
        ("minus", "table.hide"),
        ("underscore", "table.columns"),
        ("less_than_sign", "narrower"),
        ("greater_than_sign", "wider"),
        ("D", "dataset"),
        ("s", "sort order columns"),
        ("S", "reverse swap order-before"),
        ("w", "which agreement.view queue code-rounds.tables where suite table kinds every selected code.run"),
        ("W", "which-before list-before where-before suite-before"),
        ("v", "verifiers who verdicts verdict accuracy"),
        ("V", "verdict-before subject metrics rankings"),
        ("b", "by"),
        ("B", "by-before"),
        ("g", "gold"),
        ("p", "protocol"),
        ("t", "type types task"),
        ("comma", "a accept-a"),
        ("full_stop", "b accept-b"),
        ("vertical_line", "compare diff family"),
        ("backslash", "diff-other"),
        ("d", "details reasons accuracy.view summary panes answers item.answer"),
        ("h", "hide think fold-all whole weights"),
        ("i", "items item agreement.all flags.open item.code code.tests"),
        ("o", "figure measure raw beside pool errors code.evolution code-problem.evolution"),
        ("O", "figure-before measure-before"),
        ("r", "again reload"),
        ("Q", "question"),
        ("R", "reference reference-answer"),
        ("C", "completion completion-answer reply"),
        ("T", "transcript tree calls"),
        ("L", "labels single adjudicate agreement.round"),
        ("G", "guidelines"),
        ("space", "pin select take pause like code-problem.fold"),
        ("asterisk", "conflict-class.all"),
        ("a", "start build case reopen file accuracy.split annotate"),
        ("A", "add"),
        ("m", "triage tag error"),
        ("c", "note"),
        ("x", "unsuitable exclude cancel"),
        ("y", "yes confirm"),
        ("l", "skip send-back retry"),
        ("z", "undo"),
        ("Y", "copy"),
        ("f2", "import.pick"),
        ("f5", "set-up-run.test judge.test"),
        ("f6", "set-up-run.save"),
        ("f7", "replay"),
        ("f8", "replay.stop"),
        ("f9", "more"),
        ("ctrl+y", "command"),
        ("e", "export save write publish"),
        (
            "ctrl+r,f4",
            "resume judge.save verb.run store accept what-if.save template.save "
            "set-up-run.start trial.start replay.serve verb-output.run",
        ),
        ("ctrl+t,f3", "preview try what-if"),
        ("1", "correct", True),
        ("0", "incorrect", True),
        ("u", "unsure"),
        ("percent_sign", "partial"),
        ("exclamation_mark", "flag"),
        ("ampersand", "auto"),
        ("P", "person"),
        ("0", "triage.other"),
        ("1", "matter-1 cause-1 best-of"),
        ("2", "matter-2 cause-2 estimate"),
        ("3", "matter-3 cause-3 downstream"),
        ("4", "matter-4 cause-4"),
        ("5", "matter-5 cause-5 step-5"),
        ("6", "matter-6 cause-6 step-6"),
        ("7", "matter-7 cause-7 step-7"),
        ("8", "matter-8 cause-8 step-8"),
        ("9", "matter-9 cause-9 step-9"),
    )
]
OF_VERBS = {verb: meaning for meaning in MEANINGS for verb in meaning.verbs.split()}


class Pressed(NamedTuple):
    id: str
    keys: str
    label: str


def every_action() -> Iterator[Pressed]:
    every = registry.every_key(WorkbenchApp.EVERYWHERE)
    return (Pressed(str(one.id), one.key, one.description) for one in every if one.key != NO_KEY)


def meaning_of(name: str) -> Meaning | None:
    return OF_VERBS.get(name) or OF_VERBS.get(name.partition(".")[2])


def test_every_action_has_a_key_with_its_meaning() -> None:
    wrong = []
    for pressed in dict.fromkeys(every_action()):
        meaning = meaning_of(pressed.id)
        if meaning is None or not {*key_names(pressed.keys)} <= {*key_names(meaning.keys)}:
            wrong.append(f"{pressed.id} is on {pressed.keys}, and means {meaning}")
    assert wrong == []


def test_equivalent_keys_work_wherever_one_of_them_does() -> None:
    """A form shows f4 and a list ctrl+r: a user who has learnt one of them presses it everywhere."""
    for pressed in every_action():
        meaning = meaning_of(pressed.id)
        if meaning is not None and meaning.keys in ("ctrl+r,f4", "ctrl+t,f3"):
            assert {*key_names(pressed.keys)} == {*key_names(meaning.keys)}, pressed


def test_desk_meanings_are_used_only_at_desks() -> None:
    for pressed in every_action():
        meaning = meaning_of(pressed.id)
        assert meaning is None or not meaning.at_desks or pressed.id.partition(".")[0] in DESKS, pressed


def test_no_key_and_no_verb_has_two_meanings() -> None:
    keys = Counter((key, meaning.at_desks) for meaning in MEANINGS for key in key_names(meaning.keys))
    assert [key for key, times in keys.items() if times > 1] == []
    verbs = Counter(verb for meaning in MEANINGS for verb in meaning.verbs.split())
    assert [verb for verb, times in verbs.items() if times > 1] == []


HINT = re.compile(r"""key_of\(["']([\w-]+\.[\w-]+)["']\)""")
HINTS = """
from importlib import import_module
from workbench.app.tui import app, keymap
for module, names in {!r}:
    import_module(module)
    print(*map(keymap.key_of, names))
"""


@pytest.mark.soak
def test_hint_about_an_unopened_screen_has_its_key() -> None:
    hints = []
    for file in sorted((ROOT / "workbench" / "app" / "tui").rglob("*.py")):
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        if names := HINT.findall(file.read_text(encoding="utf-8")):
            hints.append((module, names))
    ran = subprocess.run([sys.executable, "-c", HINTS.format(hints)], capture_output=True, text=True, check=True)
    assert [len(line.split()) for line in ran.stdout.splitlines()] == [len(names) for _, names in hints]


# -- Navigating by keys -----------------------------------------------------------------------------


def listed(app: WorkbenchApp) -> list[str]:
    """Return the names of the screens in the go-to menu."""
    assert isinstance(app.screen, GoToScreen)
    return [one.value for one in app.screen.listed]


@pytest.mark.soak
async def test_any_screen_is_three_keys_away(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(4))) as (app, pilot):
        for place in DESTINATIONS.values():
            app.open_screen("compare")
            await settle(pilot)
            keys = (*f":{place.letter}", "enter")
            assert len(keys) <= 3
            await press(pilot, *keys)
            assert type(app.screen).__name__ == place.screen
            while len(app.screen_stack) > 2:
                app.pop_screen()
            await settle(pilot)


def test_letters_of_screens_are_single_and_unique() -> None:
    letters = [place.letter for place in DESTINATIONS.values()]
    assert len(set(letters)) == len(letters)
    assert {len(letter) for letter in letters} == {1}


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_screen_is_found_by_its_name_or_a_similar_one(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(make_project(tmp_path, numbered(4)), size=size) as (app, pilot):
        for typed in ("acc", "ACCUR", "acuracy", "accuracy", "veri", "runs"):
            await press(pilot, ":", *typed)
            assert len(listed(app)) == 1, typed
            await press(pilot, "enter")
            assert type(app.screen).__name__ == ("RunsScreen" if typed in ("veri", "runs") else "AccuracyScreen"), typed
            await press(pilot, "q")
            assert type(app.screen).__name__ == "HomeScreen", typed


@pytest.mark.soak
async def test_item_is_found_by_the_end_of_its_id(tmp_path: Path) -> None:
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


@pytest.mark.soak
async def test_command_typed_as_a_screen_gets_a_hint_to_the_palette(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(4)), size=(80, 24)) as (app, pilot):
        await press(pilot, ":", *"export")
        assert "Commands: esc, then ^p." in str(app.screen.query_one(OptionList).get_option_at_index(0).prompt)
        await press(pilot, "escape", "ctrl+p", *"export")
        assert type(app.screen).__name__ == "CommandPalette"


@pytest.mark.few(5)
@pytest.mark.parametrize("typed", ["y", "accuracy", "b", "c1", "#c1"])
async def test_annotators_go_to_their_own_screens_only(tmp_path: Path, typed: str) -> None:
    project = make_project(tmp_path, numbered(4))
    add_annotators(project, ["amira"])
    theirs = {DESTINATIONS[name].screen for name in ANNOTATOR_DESTINATIONS}
    async with opened(project, annotator="amira") as (app, pilot):
        await press(pilot, ":", *typed)
        assert set(listed(app)) <= set(ANNOTATOR_DESTINATIONS)
        await press(pilot, "enter")
        assert {type(screen).__name__ for screen in app.screen_stack} <= {"Screen", "GoToScreen", *theirs}
        revealed = "SELECT count(*) FROM label_events WHERE kind = 'reveal'"
        assert project.database.reader().execute(revealed).fetchone() == (0,)


async def test_q_as_a_screen_quits_the_app(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(4))) as (app, pilot):
        await pilot.press(*":q", "enter")
        await until(pilot, lambda: not app.is_running)


async def test_app_is_suspended_in_a_terminal_but_not_in_a_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(make_project(tmp_path, numbered(4))) as (app, _):
        assert "app.suspend" in [one.id for one in app.actions_everywhere()]
        monkeypatch.setattr(WorkbenchApp, "is_web", True)
        assert "app.suspend" not in [one.id for one in app.actions_everywhere()]


@pytest.mark.few(2)
@pytest.mark.parametrize("key", ["q", "escape"])
async def test_going_back_ends_at_home_which_says_how_to_quit(tmp_path: Path, key: str) -> None:
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


async def test_one_key_in_help_lists_all_keys(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(4))) as (app, pilot):
        await press(pilot, "question_mark", "question_mark")
        assert isinstance(app.screen, HelpScreen)
        notice = " ".join(" ".join(line.text for line in app.screen.listed).split())
        assert "f4 ^r Save · Run · Import · Serve" in notice
        assert {one.label for one in every_action() if one.label not in notice} == set()
        await press(pilot, "question_mark")
        assert "f4 ^r" not in " ".join(line.text for line in app.screen.listed)
        await press(pilot, "q")
        assert type(app.screen).__name__ == "HomeScreen"


async def test_first_line_shows_the_current_path(tmp_path: Path) -> None:
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
def test_long_path_is_truncated_at_its_beginning(room: int, way: str) -> None:
    assert path_text(["Home", "Accuracy", "A, B2"], room) == way


# -- Documentation -----------------------------------------------------------------------------------


KEYS = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8")
MOVED: dict[str, str] = tomllib.loads(KEYS.partition("```toml")[2].partition("```")[0])["keymap"]


def test_documented_keymap_is_valid() -> None:
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


@pytest.mark.soak
async def test_path_does_not_grow_with_jumps_and_matches_escape(tmp_path: Path) -> None:
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
