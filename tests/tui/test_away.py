"""Labelling while the database's file is moved: labels are reported as not saved, and notes are kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.tui.labelling import Desktop, desk, labels, make
from tests.tui.stage import ONE_SIZE
from workbench.core.project import Project


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_label_is_reported_as_not_saved_while_the_file_is_away(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make(tmp_path)
    away = tmp_path / "away"
    async with desk(project, size=size) as it:
        first = it.completion
        await it.press("1")
        second = it.completion
        project.path.rename(away)
        await it.press("0")
        assert "! not saved" in it.title()
        assert it.completion == second
        messages = [notice.message for notice in it.app._notifications]
        assert sum("put back the file" in text for text in messages) == 1
        # The missing database can't be queried: the item stays, and is reported as not saved again.
        await it.press("0")
        assert "! not saved" in it.title()
        away.rename(project.path)
        await it.press("0")
        assert labels(project) == [(first, "correct"), (second, "incorrect")]
    project.close()


@asynccontextmanager
async def noted_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Project, Desktop, Path]]:
    """Open a desk whose database is moved before a note on the first item is written; also return its new place."""
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    project, away = make(folder), folder / "away"
    async with desk(project) as it:
        project.path.rename(away)
        await it.press("c", *"because", "enter")
        yield project, it, away
    project.close()


async def test_unsaved_note_returns_with_its_item_and_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with noted_away(tmp_path, monkeypatch) as (project, it, away):
        first = it.completion
        away.rename(project.path)
        await it.press("l")
        assert it.completion != first
        for _ in range(8):
            if it.completion != first:
                await it.press("l")
        assert it.completion == first
        assert "because" in it.line()
        assert it.screen._feed is not None
        it.screen._feed.session.heartbeat()
        with project.database.reading() as reader:
            assert reader.execute("SELECT completion_id, note FROM drafts").fetchall() == [(first, "because")]
