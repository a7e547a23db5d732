"""What is done on screens while the database's file is away: said to be not stored, what was typed is not lost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Static

from tests.full_disk_input import CommandInput, prepare
from tests.tui.stage import notices, press
from tests.tui.test_full_disk_screens import ACTS, before_last_key, press_again, rows

NEEDS_NO_DATABASE = {name for name, act in ACTS.items() if act.file}
ITS = ("was moved, deleted or replaced", "put back the file")

SHORT = ("flag", "skip", "label", "decide a conflict", "add a case")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> CommandInput:
    return prepare(tmp_path_factory.mktemp("template"))


def move(path: Path, away: Path) -> None:
    path.rename(away)


def replace(path: Path, away: Path) -> None:
    path.rename(away)
    # In a process of its own: to close the file anywhere in this one takes SQLite's locks from it.
    subprocess.run(["cp", str(away), str(path)], check=True)


@pytest.mark.few(4)
@pytest.mark.parametrize("take", [move, replace])
@pytest.mark.parametrize(
    "name",
    [
        name if name in SHORT else pytest.param(name, marks=pytest.mark.soak)
        for name in ACTS
        if name not in NEEDS_NO_DATABASE
    ],
)
async def test_what_can_not_be_stored_is_said_and_stored_when_the_file_is_back(
    given: CommandInput,
    tmp_path: Path,
    name: str,
    take: Callable[[Path, Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    act = ACTS[name]
    place = tmp_path / "work"
    place.mkdir()
    async with before_last_key(given, place, act) as (project, app, pilot):
        before = rows(project.path)
        take(project.path, tmp_path / "away")
        there, told = app.screen, len(notices(app))
        await press(pilot, act.keys[-1])
        said = [one for one in notices(app)[told:] if any(words in one for words in ITS)]
        shown = [str(one.content) for one in app.screen.query(Static) if any(w in str(one.content) for w in ITS)]
        assert said or shown, (notices(app), app.screen)
        assert not any("Something went wrong" in one or "Errno" in one for one in notices(app)), notices(app)
        (tmp_path / "away").replace(project.path)
        assert rows(project.path) == before
        await press_again(pilot, act, there)
        assert rows(project.path) != before, (notices(app), app.screen)
