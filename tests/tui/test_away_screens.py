"""Actions on screens while the database's file is away are reported as not stored, and typed text is not lost."""

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
def command_input(tmp_path_factory: pytest.TempPathFactory) -> CommandInput:
    return prepare(tmp_path_factory.mktemp("template"))


def move(path: Path, away: Path) -> None:
    path.rename(away)


def replace(path: Path, away: Path) -> None:
    path.rename(away)
    # In a separate process: closing the file in this one would release SQLite's locks.
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
async def test_failed_action_is_reported_and_succeeds_once_the_file_is_back(
    command_input: CommandInput,
    tmp_path: Path,
    name: str,
    take: Callable[[Path, Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    act = ACTS[name]
    place = tmp_path / "work"
    place.mkdir()
    async with before_last_key(command_input, place, act) as (project, app, pilot):
        before = rows(project.path)
        take(project.path, tmp_path / "away")
        there, count = app.screen, len(notices(app))
        await press(pilot, act.keys[-1])
        new_notices = [one for one in notices(app)[count:] if any(words in one for words in ITS)]
        shown = [str(one.content) for one in app.screen.query(Static) if any(w in str(one.content) for w in ITS)]
        assert new_notices or shown, (notices(app), app.screen)
        assert not any("Something went wrong" in one or "Errno" in one for one in notices(app)), notices(app)
        (tmp_path / "away").replace(project.path)
        assert rows(project.path) == before
        await press_again(pilot, act, there)
        assert rows(project.path) != before, (notices(app), app.screen)
