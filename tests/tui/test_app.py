"""The app as a whole: permissions, keys, themes, errors."""

from __future__ import annotations

import logging
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.background import PATIENCE_S
from tests.helpers import make_project, numbered
from tests.tui.labelling import desk, labels, make
from tests.tui.stage import notices, opened, press, settle, until
from workbench.app.tui import registry
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.destinations import ANNOTATOR_DESTINATIONS, DESTINATIONS
from workbench.app.tui.keymap import NO_KEY, Action, key_names, problems
from workbench.app.tui.screen import WorkbenchScreen
from workbench.config import Settings
from workbench.core.errors import RunError
from workbench.labelling.people import add_annotators

EVERY_SCREEN = sorted(registry.every_screen(), key=lambda kind: kind.__name__)
TAKEN_BY_MULTIPLEXERS = {"ctrl+a", "ctrl+b", "ctrl+j", "ctrl+o", "ctrl+s"}


def name_of(app: WorkbenchApp) -> str:
    return type(app.screen).__name__


# -- Start ----------------------------------------------------------------------------------------

START = """
import asyncio, sys
from workbench.core.project import open_project
from workbench.config import settings_of
from workbench.app.tui.app import WorkbenchApp

async def start(path):
    project = open_project(path)
    async with WorkbenchApp(project, None, settings_of(project)).run_test() as pilot:
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
    project.close()

asyncio.run(start(sys.argv[1]))
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_home_imports_no_heavy_library(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    project.close()
    done = subprocess.run(
        [sys.executable, "-c", START, str(project.path)], capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    heavy = {"pandas", "numpy", "scipy", "sympy", "sqlite_utils", "math_verify", "pylatexenc", "pyarrow", "httpx"}
    assert not heavy & set(done.stdout.split())


# -- Permissions ------------------------------------------------------------------------------------


@pytest.mark.few(5)
@pytest.mark.parametrize("name", [name for name in DESTINATIONS if name not in ANNOTATOR_DESTINATIONS])
async def test_annotator_cannot_open_the_coordinators_screens(tmp_path: Path, name: str) -> None:
    project = make_project(tmp_path, numbered(2))
    add_annotators(project, ["amira"])
    async with opened(project, annotator="amira") as (app, pilot):
        await press(pilot, DESTINATIONS[name].letter)
        assert name_of(app) == "HomeScreen"
        app.action_open_screen(name)
        await settle(pilot)
        assert name_of(app) == "HomeScreen"
        assert any("coordinator" in notice for notice in notices(app))
        titles = {command.title for command in app.get_system_commands(app.screen)}
        assert f"Open {DESTINATIONS[name].title}" not in titles


async def test_annotators_palette_has_only_their_screens(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    add_annotators(project, ["amira"])
    async with opened(project, annotator="amira") as (app, _):
        opening = {c.title for c in app.get_system_commands(app.screen) if c.title.startswith("Open ")}
        assert opening == {"Open Home", "Open Annotate", "Open Adjudicate", "Open Conflicts by kind", "Open History"}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ANNOTATOR_DESTINATIONS)
async def test_annotator_can_open_their_own_screens(tmp_path: Path, name: str) -> None:
    project = make_project(tmp_path, numbered(2))
    add_annotators(project, ["amira"])
    async with opened(project, annotator="amira") as (app, pilot):
        app.action_open_screen(name)
        await settle(pilot)
        assert name_of(app) == DESTINATIONS[name].screen


async def test_open_screen_is_reused(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        app.open_screen("runs")
        app.open_screen("accuracy")
        await settle(pilot)
        depth = len(app.screen_stack)
        app.open_screen("runs")
        await settle(pilot)
        assert name_of(app) == "RunsScreen"
        assert len(app.screen_stack) == depth - 1
        app.open_screen("home")
        await settle(pilot)
        await press(pilot, "escape")
        assert name_of(app) == "HomeScreen"


# -- Registry -----------------------------------------------------------------------------------


def test_every_named_screen_exists() -> None:
    assert {place.screen for place in DESTINATIONS.values()} <= {kind.__name__ for kind in EVERY_SCREEN}


@pytest.mark.parametrize("kind", EVERY_SCREEN)
def test_ids_are_unique_and_name_their_screen(kind: type[WorkbenchScreen]) -> None:
    ids = [action.id for action in (*kind.ACTIONS, *WorkbenchApp.EVERYWHERE)]
    assert len(ids) == len(set(ids))
    assert all(action.id.count(".") == 1 for action in kind.ACTIONS)
    assert len({action.id.partition(".")[0] for action in kind.ACTIONS}) <= 1


def test_no_two_screens_share_an_id() -> None:
    owners: dict[str, set[tuple[Action, ...]]] = {}
    for kind in EVERY_SCREEN:
        for action in kind.ACTIONS:
            owners.setdefault(action.id, set()).add(kind.ACTIONS)
    assert {name: len(found) for name, found in owners.items() if len(found) > 1} == {}


@pytest.mark.parametrize("kind", EVERY_SCREEN)
def test_every_action_is_defined(kind: type[WorkbenchScreen]) -> None:
    for action in (*kind.ACTIONS, *WorkbenchApp.EVERYWHERE):
        name = action.run.partition("(")[0]
        owner: type = kind
        if name.startswith("app.") or action in WorkbenchApp.EVERYWHERE:
            owner = WorkbenchApp
        method = f"action_{name.removeprefix('app.').removeprefix('screen.')}"
        assert hasattr(owner, method), f"{action.id} runs {method}"


@pytest.mark.parametrize("kind", EVERY_SCREEN)
def test_no_default_key_belongs_to_a_multiplexer(kind: type[WorkbenchScreen]) -> None:
    for action in (*kind.ACTIONS, *WorkbenchApp.EVERYWHERE):
        keys = set(key_names(action.keys))
        assert keys or not action.keys, f"{action.id} has no key"
        assert not keys & TAKEN_BY_MULTIPLEXERS


@pytest.mark.parametrize("kind", EVERY_SCREEN)
def test_no_two_actions_of_a_screen_share_a_key(kind: type[WorkbenchScreen]) -> None:
    keys = [key for action in kind.ACTIONS for key in key_names(action.keys)]
    assert sorted(keys) == sorted(set(keys))


# -- Keymap and theme ------------------------------------------------------------------------------


async def test_keymap_moves_keys_of_screens_and_the_app(tmp_path: Path) -> None:
    settings = Settings(keymap={"app.help": "f12", "home.accuracy": "U"})
    async with opened(make_project(tmp_path), settings=settings) as (app, pilot):
        await press(pilot, "y")
        assert name_of(app) == "HomeScreen"
        await press(pilot, "U")
        assert name_of(app) == "AccuracyScreen"
        await press(pilot, "f12")
        assert name_of(app) == "HelpScreen"
        assert not notices(app)


async def test_keymap_moves_a_label_key(tmp_path: Path) -> None:
    settings = Settings(keymap={"annotate.correct": "k"})
    async with desk(make(tmp_path), settings=settings) as opened:
        assert key_of(opened.app, "annotate.correct") == "k"
        assert not notices(opened.app)


async def test_focused_text_yields_keys_that_the_keymap_moves(tmp_path: Path) -> None:
    settings = Settings(keymap={"annotate.correct": "k", "annotate.incorrect": "up,down", "annotate.skip": "j"})
    project = make(tmp_path)
    async with desk(project, settings=settings) as opened:
        completion = opened.screen.query_one("#card-completion")
        completion.focus()
        await opened.settle()
        assert opened.app.focused is completion
        # It keeps the keys that the keymap did not move.
        remaining = {key for key, found in opened.app.screen.active_bindings.items() if found.node is completion}
        remaining.discard(NO_KEY)
        assert remaining == {"pageup", "pagedown", "ctrl+u", "ctrl+d", "home", "end"}
        await opened.press("k")
        assert [verdict for _, verdict in labels(project)] == ["correct"]
        # A key without another use still belongs to the text.
        await opened.press(*":b", "enter")
        assert opened.app._keymap.get("table.down") == opened.app._keymap.get("reader.down") is None


def key_of(app: WorkbenchApp, action: str) -> str | None:
    return {found.binding.id: key for key, found in app.screen.active_bindings.items()}.get(action)


async def test_keymap_errors_name_the_file(tmp_path: Path) -> None:
    settings = Settings(keymap={"app.hlep": "f6", "home.browse": "1", "runs.start": ""})
    async with opened(make_project(tmp_path), settings=settings) as (app, _):
        notices_text = notices(app)
        assert len(notices_text) == 3
        assert all(str(tmp_path / "workbench.toml") in notice for notice in notices_text)
        assert any("'app.hlep' is not an action. Did you mean 'app.help'?" in notice for notice in notices_text)
        assert any("'1'" in notice and "home.browse" in notice and "home.matter-1" in notice for notice in notices_text)


ONE = Action("one.go", "g", "go", "Go", "Go.")
TWO = Action("two.go", "g,h", "go", "Go", "Go.")
BACK = Action("app.back", "escape", "back", "Back", "Back.")


@pytest.mark.parametrize(
    ("keymap", "found"),
    [
        ({}, 0),
        ({"one.go": "x"}, 0),
        ({"one.go": "h"}, 0),
        ({"one.go": "escape"}, 1),
        ({"app.back": "g"}, 2),
        ({"one.go": "x", "app.back": "x"}, 1),
        ({"table.up": "g"}, 0),
        ({"three.go": "g"}, 1),
        ({"one.go": " , "}, 1),
    ],
)
def test_keymap_problems(keymap: dict[str, str], found: int) -> None:
    assert len(problems(keymap, [(ONE,), (TWO,)], [BACK], {"table.up"})) == found


@pytest.mark.few(3)
@pytest.mark.parametrize("theme", ["high-contrast", "colour-blind", "textual-light"])
async def test_theme_is_chosen_by_name(tmp_path: Path, theme: str) -> None:
    async with opened(make_project(tmp_path), settings=Settings(theme=theme)) as (app, _):
        assert app.theme == theme
        assert not notices(app)


async def test_unknown_theme_is_reported(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path), settings=Settings(theme="[b]plaid[/]")) as (app, _):
        assert any("[b]plaid[/]" in notice and "high-contrast" in notice for notice in notices(app))


async def test_app_works_without_colour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        await press(pilot, *":y", "enter")
        assert name_of(app) == "AccuracyScreen"


# -- Errors ----------------------------------------------------------------------------------------


class Failing(WorkbenchScreen):
    """A screen whose background work fails."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error
        self.calls = count()

    def fail(self) -> None:
        next(self.calls)
        raise self.error


async def fail(pilot: Pilot[None], error: Exception) -> None:
    failing = Failing(error)
    await pilot.app.push_screen(failing)
    failing.in_background(failing.fail, lambda _: None, group="work")
    await settle(pilot)


async def test_expected_error_is_a_notice(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path)) as (app, pilot):
        await fail(pilot, RunError("Run [b]7[/] is gone.", "List them."))
        assert notices(app) == ["Run: Run [b]7[/] is gone. List them."]


async def test_unexpected_error_is_a_notice_and_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with opened(make_project(tmp_path)) as (app, pilot):
        with caplog.at_level(logging.ERROR, "workbench.tui"):
            await fail(pilot, RuntimeError("a [bold]bug[/]"))
        assert any("a [bold]bug[/]" in notice for notice in notices(app))
        assert any(record.exc_info for record in caplog.records)
        assert app.is_running


async def test_quitting_ends_long_reads_silently(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    project = make_project(tmp_path)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    async with opened(project) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, WorkbenchScreen)
        screen.in_background(
            lambda: project.database.reader().execute(endless).fetchone(), lambda _: None, group="endless"
        )
        await pilot.pause(0.3)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)
        assert not notices(app)
    assert not caplog.records


async def test_crash_report_contains_no_data(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    app = WorkbenchApp(make_project(tmp_path))

    def boom() -> None:
        secret = "the reference answer"
        raise RuntimeError(f"bug near {len(secret)}")

    async def crash() -> None:
        async with app.run_test() as pilot:
            app.call_later(boom)
            await pilot.pause(0.2)

    with pytest.raises(RuntimeError, match="bug near"):
        await crash()
    printed = capsys.readouterr().err
    assert "the reference answer" not in printed
    assert "p.db.app.log" in printed.replace("\n", "")
    assert any("stopped" in record.message for record in caplog.records)


async def test_ctrl_c_names_the_quit_key_of_the_footer(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(2))) as (app, pilot):
        await press(pilot, "ctrl+c", "escape")
        assert {(one.title, one.message) for one in app._notifications} == {("", "^q leaves the app.")}
        await press(pilot, *":b", "enter", "slash", "ctrl+c")
        assert any("^q leaves the app" in notice for notice in notices(app)), "q would be typed"
    settings = Settings(keymap={"app.quit": "f10"})
    async with opened(make_project(_made(tmp_path / "moved")), settings=settings) as (app, pilot):
        await press(pilot, "ctrl+c")
        assert any("f10 leaves the app" in notice for notice in notices(app))


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def test_screenshot_is_written_next_to_the_database_or_fails_with_a_reason(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    async with opened(project) as (app, pilot):
        app.deliver_screenshot()
        app.deliver_screenshot()
        written = sorted(path.name for path in tmp_path.glob("*.svg"))
        assert written == ["p-screen-2.svg", "p-screen.svg"]
        await settle(pilot)
        assert any(str(tmp_path / written[0]) in notice for notice in notices(app))
        (tmp_path / "p.db").rename(tmp_path / "q.db")
        project.path = tmp_path / "gone" / "p.db"
        app.deliver_screenshot()
        await settle(pilot)
        assert any("No such file" in notice for notice in notices(app))
