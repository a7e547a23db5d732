"""Screens on a full disk: unsaved data is reported, kept, and stored once there is space."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest

from tests.full_disk import SmallDisk, small_disk
from tests.tui.labelling import Desktop, desk, make
from tests.tui.stage import notices, opened, press, settle, text_of, until
from workbench.app.tui import judging
from workbench.core.project import Project, open_project


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    with small_disk(tmp_path_factory.mktemp("small")) as found:
        yield found


@pytest.fixture
def project(disk: SmallDisk) -> Iterator[Project]:
    disk.empty()
    for path in disk.path.iterdir():
        path.unlink() if path.is_file() else None
    made = make(disk.path)
    yield made
    made.close()
    disk.empty()


def count(project: Project, table: str, where: str = "1") -> int:
    with closing(sqlite3.connect(project.path)) as connection:
        found: int = connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0]
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return found


def notices_of(it: Desktop) -> str:
    return "\n".join(f"{notice.title} {notice.message}" for notice in it.app._notifications)


async def test_unsaved_label_is_reported_and_stored_once_there_is_space(project: Project, disk: SmallDisk) -> None:
    async with desk(project) as it:
        first = it.completion
        await it.press("c", *"because", "enter", "u")
        disk.fill()
        stored = 0
        # The log may have had space for some labels.
        for _ in range(40):
            at = it.completion
            await it.press("1")
            stored = count(project, "label_events", "kind = 'label'")
            if it.completion == at:
                break
        assert "full" in notices_of(it)
        assert "Traceback" not in notices_of(it)
        assert it.completion == at
        if at == first:
            assert "because" in it.line()
        disk.empty()
        await it.press("1")
        assert count(project, "label_events", "kind = 'label'") == stored + 1
        assert count(project, "label_events", f"kind = 'label' AND subject = {at}") == 1
        assert count(project, "label_events", "note = 'because' AND unsure = 1") == 1


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("keys", "kind"),
    [(("exclamation_mark", *"how", "enter"), "flag"), (("x", "6", *"odd", "enter"), "label"), (("l",), "skip")],
    ids=["flag", "unsuitable", "skip"],
)
async def test_other_unsaved_actions_are_reported(
    project: Project, disk: SmallDisk, keys: tuple[str, ...], kind: str
) -> None:
    async with desk(project) as it:
        before = count(project, "label_events")
        disk.fill()
        await it.press(*keys)
        after = count(project, "label_events")
        assert after > before or "full" in notices_of(it) or kind == "skip"
        assert it.app._exception is None
        disk.empty()
        await it.press(*keys)
        assert it.app._exception is None
        if kind != "skip":
            assert count(project, "label_events") > before


@pytest.mark.soak
async def test_app_opens_shows_all_screens_and_quits(project: Project, disk: SmallDisk) -> None:
    project.close()
    there = open_project(project.path)
    async with opened(there) as (app, pilot):
        disk.fill()
        for screen in ("browse", "runs", "accuracy", "people", "sets", "flags", "item", "settings", "compare"):
            for key in ("h", screen[0], "enter", "f5", "escape", "ctrl+s", "E"):
                await pilot.press(key)
            await settle(pilot)
            assert app._exception is None, screen
    there.close()
    disk.empty()
    assert count(project, "completions") == 6
    assert not list(disk.path.glob(".*.part"))


@pytest.mark.few(2)
@pytest.mark.parametrize("do", ["picture", "item"])
async def test_file_next_to_the_database_is_complete_or_absent(project: Project, disk: SmallDisk, do: str) -> None:
    async with opened(project) as (app, pilot):
        disk.fill()
        app.action_screenshot() if do == "picture" else await press(pilot, *":b", "enter", "enter", "C")
        await settle(pilot)
        made = [path.name for path in disk.path.iterdir() if path.suffix in (".svg", ".json", ".part")]
        assert made == []
        if do == "picture":
            assert any("space" in str(notice) for notice in notices(app)), notices(app)
        disk.empty()
        app.action_screenshot()
        await settle(pilot)
        assert [path.name for path in disk.path.glob("*.svg")] == ["p-screen.svg"]


async def test_app_opened_on_a_full_disk_explains_the_missing_item(
    project: Project, disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "LOOK_AGAIN_S", 1.0)
    disk.fill()
    with closing(sqlite3.connect(project.path, isolation_level=None)) as other:
        # A log that was checkpointed starts again, and would never be full.
        other.execute("PRAGMA wal_autocheckpoint = 0")
        with suppress(sqlite3.OperationalError):
            while True:
                other.execute("UPDATE annotators SET name = name")
        async with desk(project) as it:
            await until(it.pilot, lambda: it.screen.has_class("empty"))
            text = text_of(it.app, "#annotate-empty")
            assert "full" in text
            assert "Nothing is left" not in text
            assert "not saved" not in it.title()
            disk.empty()
            await until(it.pilot, lambda: it.screen._current is not None and it.screen._seen_at is not None)
            await it.press("1")
            assert "saved ✓ correct" in it.title()
            assert it.screen._shown_version
