"""A table as text: written next to the database, and reported as copied only if that is known."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import msgspec
import pytest
from textual.widgets import OptionList

from tests.tui.stage import notices, opened, press, settle
from tests.tui.test_accuracy import judged_project, to_cell
from workbench.app.tui import sharing
from workbench.app.tui import sharing as clipboard
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.destinations import DESTINATIONS
from workbench.app.tui.kit.choices import ChoiceMenu
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.core.options import TableForm
from workbench.core.selection import Condition, Selection
from workbench.measuring.accuracy import accuracy
from workbench.measuring.accuracy_tables import accuracy_as

SPEAKER = "#!/bin/sh\ncat > '{target}'\nexit {code}\n"


def program(folder: Path, name: str, code: int = 0) -> Path:
    """Create a program that stores its input and exits with a code; return the file of its input."""
    target, script = folder / f"{name}.text", folder / name
    script.write_text(SPEAKER.format(target=target, code=code), "utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return target


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that comes first on the search path."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")
class TestClipboard:
    def test_first_successful_program_receives_the_text(self, programs: Path) -> None:
        received = program(programs, "wl-copy")
        assert clipboard.copy("a\nß", {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}) == "the clipboard"
        assert received.read_text("utf-8") == "a\nß"

    def test_failed_program_does_not_count(self, programs: Path) -> None:
        program(programs, "wl-copy", code=1)
        received = program(programs, "xclip")
        assert clipboard.copy("text", {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}) == "the clipboard"
        assert received.read_text("utf-8") == "text"
        assert clipboard.copy("text", {"WAYLAND_DISPLAY": "wayland-0"}) is None

    def test_only_tmux_is_used_over_ssh(self, programs: Path) -> None:
        received, far = program(programs, "tmux"), program(programs, "xclip")
        ssh = {"SSH_CONNECTION": "a b c d", "DISPLAY": "localhost:10.0"}
        assert clipboard.copy("text", ssh) is None
        assert "tmux" in str(clipboard.copy("text", {**ssh, "TMUX": "/tmp/tmux-0/default,1,0"}))
        assert received.read_text("utf-8") == "text"
        assert not far.exists()

    def test_no_program_is_used_without_a_display(self) -> None:
        assert clipboard.copy("text", {}) is None or sys.platform == "darwin"


async def test_table_is_written_in_each_format(tmp_path: Path) -> None:
    project = judged_project(tmp_path)
    report = accuracy(project, by="type")
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter", "e", "2", "e", "3")
        stem = "p-accuracy-type-strict-final"
        assert (tmp_path / f"{stem}.md").read_text("utf-8") == accuracy_as(report, TableForm(format="markdown"))
        assert (tmp_path / f"{stem}.tex").read_text("utf-8") == accuracy_as(report, TableForm(format="latex"))
        assert r"\toprule" in (tmp_path / f"{stem}.tex").read_text("utf-8")
        assert sum(str(tmp_path) in notice.replace("\n", "") for notice in notices(app)) == 2


async def test_shared_text_matches_the_shown_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = judged_project(tmp_path)
    copied: list[str] = []

    def keep(text: str) -> str:
        copied.append(text)
        return "the clipboard"

    monkeypatch.setattr(sharing, "copy", keep)
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter")
        await to_cell(pilot, "bad", "A")
        await press(pilot, "enter", "p", "e", "5", "e", "1")
        inner = Selection((Condition("type", "=", "A"),))
        report = accuracy(project, by="subtype", protocol="forced", selection=inner)
        assert copied == [accuracy_as(report, TableForm(format="csv"))]
        assert f"Copied: {len(copied[0]):,} characters are in the clipboard." in notices(app)
        assert (tmp_path / "p-accuracy-A-subtype-forced-final.csv").read_text("utf-8") == copied[0]


@pytest.mark.soak
async def test_copying_through_the_terminal_is_reported_as_unconfirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = judged_project(tmp_path)
    monkeypatch.setattr(sharing, "copy", lambda text: None)
    async with opened(project) as (app, pilot):
        await press(pilot, *":y", "enter", "e", "6")
        assert app.clipboard == accuracy_as(accuracy(project, by="type"), TableForm(format="markdown"))
        (notice,) = notices(app)
        assert notice.startswith("Possibly copied")
        assert "does not confirm" in notice


async def test_every_list_is_saved_as_arranged(tmp_path: Path) -> None:
    project = judged_project(tmp_path)
    async with opened(project) as (app, pilot):
        app.open_screen("browse")
        await settle(pilot)
        await press(pilot, "S", "minus", "e", "1")
        lines = (tmp_path / "p-browse.csv").read_text("utf-8").splitlines()
        table = app.screen.query_one(VirtualTable)
        assert table.source is not None
        assert len(lines) == len(table.source.ids()) + 1
        shown = [column.title for column in table.source.columns]
        hidden = table.layout_of_columns.hidden
        assert lines[0].split(",") == [one.title for one in table.source.columns if one.key not in hidden] != shown


@pytest.mark.soak
async def test_long_list_is_not_truncated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = judged_project(tmp_path)
    monkeypatch.setattr(sharing, "MAX_ROWS", 3)
    async with opened(project) as (app, pilot):
        app.open_screen("browse")
        await settle(pilot)
        await press(pilot, "e", "1")
        assert any("can be written from here" in notice for notice in notices(app))
        assert not list(tmp_path.glob("p-browse*"))


async def test_served_app_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = judged_project(tmp_path)
    monkeypatch.setattr(WorkbenchApp, "is_web", True)
    async with opened(project) as (app, pilot):
        app.open_screen("accuracy")
        await settle(pilot)
        await press(pilot, "e")
        menu = app.screen
        assert isinstance(menu, ChoiceMenu)
        offered = [str(option.prompt) for option in menu.query_one(OptionList).options]
        assert offered
        assert all("Copy as" in text for text in offered)


PUBLISHES = {"sets"}
"""Screens on whose list the key exports the underlying data, not the list."""


@pytest.mark.soak
async def test_every_list_is_written_in_every_format(tmp_path: Path) -> None:
    project = judged_project(tmp_path)
    offered: dict[str, set[str]] = {}
    async with opened(project) as (app, pilot):
        for name in (name for name in DESTINATIONS if name not in PUBLISHES):
            app.open_screen(name)
            await settle(pilot)
            table = next((one for one in app.screen.query(VirtualTable) if one.row_count and one.display), None)
            if table is not None:
                table.focus()
                await press(pilot, "e")
                menu = app.screen
                assert isinstance(menu, ChoiceMenu), name
                offered[name] = {str(option.prompt) for option in menu.query_one(OptionList).options}
                await press(pilot, "escape")
            app.open_screen("home")
            await settle(pilot)
    expected = {f"as {one}" for one in ("CSV", "LaTeX (booktabs)", "Markdown", "JSON")}
    assert {"browse", "accuracy", "compare", "disagreements", "runs"} <= offered.keys()
    for name, choices in offered.items():
        assert all(any(word in choice for choice in choices) for word in expected), name


@pytest.mark.soak
async def test_list_as_json_describes_its_content(tmp_path: Path) -> None:
    project = judged_project(tmp_path)
    async with opened(project) as (app, pilot):
        app.open_screen("browse")
        await settle(pilot)
        await press(pilot, "e", "4")
        rows = json.loads((tmp_path / "p-browse.json").read_text("utf-8"))
        assert len(rows) == 16
        assert {row["gold"] for row in rows} == {"correct", "incorrect"}
        app.open_screen("accuracy")
        await settle(pilot)
        await press(pilot, "e", "4")
        report = json.loads((tmp_path / "p-accuracy-type-strict-final.json").read_text("utf-8"))
        assert report == json.loads(msgspec.json.encode(accuracy(project, by="type")))
