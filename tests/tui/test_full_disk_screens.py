"""Writing from screens on a full disk: reported in a sentence, all or nothing, and repeatable once there is space."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, Static

from tests.full_disk import SmallDisk, small_disk
from tests.full_disk_input import CommandInput, prepare
from tests.tui.stage import notices, press, settle
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.registry import every_screen
from workbench.app.tui.screen import WorkbenchScreen
from workbench.core.project import Project, open_project

FULL = re.compile("disk is full|No space left|disk I/O error", re.IGNORECASE)


class Act(Struct, frozen=True):
    """An action that writes from a screen.

    Attributes:
        screen: The screen to open first.
        at: The class of the screen on which it happens.
        keys: The keys that lead to the action; the last one is pressed once the disk is full.
        person: The user; the coordinator if None.
        typed: The text typed before the last key; it must be restored.
        again: The keys to get there a second time; by default all but the last after the first "enter".
        file: The start of the name of the file written next to the database; "" for the database itself.
    """

    screen: str
    at: str
    keys: tuple[str, ...]
    person: str | None = None
    typed: str = ""
    again: tuple[str, ...] | None = None
    file: str = ""


ACTS = {
    "label": Act("annotate", "AnnotateScreen", ("1",), "amira"),
    "skip": Act("annotate", "AnnotateScreen", ("l",), "amira"),
    "flag": Act(
        "annotate",
        "AnnotateScreen",
        ("l", "exclamation_mark", "enter"),
        "amira",
        typed="how?",
        again=("exclamation_mark",),
    ),
    "decide a conflict": Act("adjudicate", "AdjudicateScreen", ("1",), "chidi"),
    "add a case": Act("adjudicate", "AdjudicateScreen", ("a", "enter"), "chidi", typed="Ten is 10."),
    "resolve many": Act("conflicts", "ConflictClassScreen", ("enter", "asterisk", "1", "enter"), "chidi", again=("1",)),
    "answer a flag": Act("flags", "FlagsScreen", ("enter", "enter"), typed="two", again=("enter",)),
    "confirm gold": Act("disagreements", "ReviewItemScreen", ("enter", "y")),
    "send back": Act("disagreements", "ReviewItemScreen", ("enter", "l", "enter"), typed="why"),
    "mark an error": Act("disagreements", "ReviewItemScreen", ("enter", "m", "2", "2")),
    "open anew": Act("browse", "ItemScreen", ("enter", "a", "enter"), typed="why"),
    "exclude": Act("browse", "ItemScreen", ("enter", "x", "1")),
    "exclude for another reason": Act("browse", "ItemScreen", ("enter", "x", "6", "enter"), typed="odd"),
    "pause a run": Act("runs", "RunsScreen", ("space",)),
    "cancel a run": Act("runs", "RunsScreen", ("x", "y")),
    "start a run": Act("runs", "SetUpRunScreen", ("a", "enter", "f4")),
    "add a judge": Act(
        "runs",
        "AddJudgeScreen",
        ("A", *"my-judge", "enter", "tab", "tab", *"http://h:9/v1", "enter", *"qwen", "f4"),
        file="workbench.toml",
    ),
    "keep a template": Act(
        "accuracy",
        "TemplateScreen",
        ("down", "down", "down", "ctrl+t", "down", "down", "down", "down", "enter", "ctrl+r", "enter"),
        again=("ctrl+r",),
        file="asked",
    ),
    "give a cause": Act("triage", "TriageScreen", ("1",)),
    "save causes": Act("triage", "TriageScreen", ("e", "2"), file="p-"),
    "save accuracy": Act("accuracy", "AccuracyScreen", ("y", "e", "2"), file="p-"),
    "save agreement": Act("agreement", "AgreementScreen", ("e", "2"), file="p-"),
    "save a comparison": Act("compare", "CompareScreen", ("e", "2"), file="p-"),
}

SHORT = ("flag", "add a case", "answer a flag", "open anew", "save agreement")
"""Actions in the ordinary tests; the others are in the long ones."""

WRITE_NOTHING = {
    "AccuracyItemsScreen", "AgreementItemsScreen", "BrowseScreen", "CodeDiffScreen",
    "CodeProblemScreen", "CodeRankingsScreen", "CodeRoundsScreen", "CodeScreen", "CodeSolutionScreen",
    "CodeTestsScreen", "ConflictsScreen", "CountsScreen", "DisagreementsScreen", "HistoryScreen", "HomeScreen",
    "QuarantineScreen", "ReplayScreen",
    "PreviewScreen", "RunDetailScreen", "SearchTreeScreen", "SetsScreen",
    "ImportScreen", "CallsScreen", "TranscriptScreen", "TrialScreen",
    "TypeProposalsScreen", "VerbFormScreen", "VerbOutputScreen", "VerbScreen", "WhatIfScreen", "WrittenScreen",
}  # fmt: skip
"""Screens that store nothing, or only by an action or a command that is tested elsewhere."""


@pytest.fixture(scope="module")
def command_input(tmp_path_factory: pytest.TempPathFactory) -> CommandInput:
    return prepare(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    with small_disk(tmp_path_factory.mktemp("small")) as found:
        yield found


def rows(path: Path) -> dict[str, list[object]]:
    """Return what is stored, except for reveals."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        queries = {name: "" for name in tables if name not in ("changes", "assignments", "drafts")}
        queries["label_events"] = " WHERE kind <> 'reveal'"
        return {name: connection.execute(f'SELECT * FROM "{name}"{of}').fetchall() for name, of in queries.items()}


def written_files(place: Path, begins: str) -> list[str]:
    """Return complete and partial files that were written."""
    return [path.name for path in place.iterdir() if path.name.startswith(begins) or path.name.endswith(".part")]


def test_every_screen_is_tested_or_writes_nothing() -> None:
    assert {kind.__name__ for kind in every_screen()} == {act.at for act in ACTS.values()} | WRITE_NOTHING
    assert WRITE_NOTHING.isdisjoint(act.at for act in ACTS.values())


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "name", [name if name in SHORT else pytest.param(name, marks=pytest.mark.soak) for name in ACTS]
)
async def test_failed_action_is_reported_and_succeeds_once_there_is_space(
    command_input: CommandInput, disk: SmallDisk, name: str
) -> None:
    act = ACTS[name]
    disk.empty()
    place = disk.path / "work"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    async with before_last_key(command_input, place, act) as (project, app, pilot):
        assert [one for one in app.screen_stack if isinstance(one, WorkbenchScreen)][-1].__class__.__name__ == act.at
        before = rows(project.path)
        with closing(sqlite3.connect(project.path)) as connection:
            # Remove the space that the log already occupies.
            assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        disk.fill()
        there, count = app.screen, len(notices(app))
        await press(pilot, act.keys[-1])
        found_notices = [one for one in notices(app)[count:] if FULL.search(one)]
        shown = [str(one.content) for one in app.screen.query(Static) if FULL.search(str(one.content))]
        assert len(found_notices) == 1 or (len(found_notices), len(shown)) == (0, 1), (notices(app), shown, app.screen)
        assert not any("Something went wrong" in one or "Errno" in one for one in notices(app)), notices(app)
        assert rows(project.path) == before
        assert written_files(place, act.file) == [] or not act.file
        disk.empty()
        await press_again(pilot, act, there)
        assert written_files(place, act.file) if act.file else rows(project.path) != before, (notices(app), app.screen)


@asynccontextmanager
async def before_last_key(
    command_input: CommandInput, place: Path, act: Act
) -> AsyncIterator[tuple[Project, WorkbenchApp, Pilot[None]]]:
    """Open the app on a copy of the project, and press all keys of an action but the last."""
    shutil.copy(command_input.folder / "p.db", place / "p.db")
    project = open_project(place / "p.db")
    app = WorkbenchApp(project, act.person)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        app.open_screen(act.screen)
        await settle(pilot)
        await reach(pilot, act)
        yield project, app, pilot
    project.close()


async def press_again(pilot: Pilot[None], act: Act, there: Screen[Any]) -> None:
    """Press the last key again; if its line has been closed, the typed text must be restored."""
    app = pilot.app
    if app.screen is not there:
        await reach(pilot, act, again=True)
        assert not act.typed or act.typed == app.screen.query_one(Input).value
    await press(pilot, act.keys[-1])
    assert app._exception is None


async def reach(pilot: Pilot[None], act: Act, *, again: bool = False) -> None:
    """Press the keys before the last one; the second time only those that reopen the line or menu."""
    keys = act.keys[:-1]
    if again:
        keys = keys[keys[0] == "enter" :] if act.again is None else act.again
    await press(pilot, *keys)
    if act.typed and not again:
        await press(pilot, *act.typed)
