"""Labelling while the database's file is moved: what is said is kept, said to be kept, and saved when it is back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.tui.labelling import Desktop, desk, labels, make
from tests.tui.stage import SIZES, text_of, until
from workbench.app.tui.screens.confirm import ConfirmScreen
from workbench.core.project import Project


@pytest.mark.parametrize("size", SIZES)
async def test_labels_given_while_the_file_is_away_are_kept_and_then_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    project = make(tmp_path)
    away = tmp_path / "away"
    async with desk(project, size=size) as it:
        first = it.completion
        await it.press("1")
        second = it.completion
        project.path.rename(away)
        await it.press("0")
        kept = project.kept
        assert kept.count == 1
        assert "1 NOT SAVED" in it.title()
        assert "saved ✓" not in it.title()
        assert labels_of(project) == [(second, "incorrect")]
        third = it.screen._current
        if third is not None:
            await it.press("1")
        waiting = kept.count
        # Nothing more can be claimed: it says why, and not that nothing is left.
        await until(it.pilot, lambda: it.screen.has_class("empty"))
        said = text_of(it.app, "#annotate-empty")
        assert "put back the file" in said.replace("\n", " ")
        assert f"{waiting} label" in said
        await it.press("ctrl+q")
        assert isinstance(it.app.screen, ConfirmScreen)
        await it.press("escape")
        away.rename(project.path)
        it.screen.bring_in()
        await until(it.pilot, lambda: kept.count == 0)
        await until(it.pilot, lambda: len(labels(project)) == 1 + waiting)
        assert labels(project)[:2] == [(first, "correct"), (second, "incorrect")]
        await until(it.pilot, lambda: "NOT SAVED" not in it.title())
        it.screen._look_again()
        await until(it.pilot, lambda: it.screen._current is not None and it.screen._seen_at is not None)
        await it.press("1")
        assert "saved ✓ correct" in it.title()
        await it.press("ctrl+q")
        assert it.app.leaving
    project.close()


def labels_of(project: Project) -> list[tuple[object, object]]:
    """What waits, as (subject, verdict)."""
    return [(event.subject, event.verdict) for group in project.kept._groups for event in group.events]


@asynccontextmanager
async def noted_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Project, Desktop, Path]]:
    """A desk whose database was moved before a note on the first item was written; and where it is."""
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    project, away = make(folder), folder / "away"
    async with desk(project) as it:
        project.path.rename(away)
        await it.press("c", *"because", "enter")
        yield project, it, away
    project.close()


async def test_a_note_goes_with_the_label_that_is_kept_and_comes_back_when_that_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with noted_away(tmp_path, monkeypatch) as (project, it, away):
        first = it.completion
        assert "because" in it.line()
        said = [notice.message for notice in it.app._notifications]
        assert sum("put back the file" in text for text in said) == 1
        await it.press("1")
        assert [one.note for one in project.kept.lines()] == ["because"]
        # Until the next item is there, or why none comes, that may yet take the place of what comes back.
        screen = it.screen
        await until(it.pilot, lambda: screen.has_class("empty") or (screen._current and screen._seen_at is not None))
        await it.press("z")
        await until(it.pilot, lambda: screen._current is not None and it.completion == first)
        assert "because" in it.line()
        await it.press("1")
        away.rename(project.path)
        screen.bring_in()
        await until(it.pilot, lambda: project.kept.count == 0)
        await until(it.pilot, lambda: labels(project) == [(first, "correct")])
        with project.database.reading() as reader:
            assert reader.execute("SELECT note FROM label_events WHERE kind = 'label'").fetchall() == [("because",)]
            assert reader.execute("SELECT * FROM drafts").fetchall() == []


async def test_a_note_that_could_not_be_stored_is_there_when_its_item_comes_again_and_is_stored(
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
        assert it.screen._desk is not None
        it.screen._desk.session.heartbeat()
        with project.database.reading() as reader:
            assert reader.execute("SELECT completion_id, note FROM drafts").fetchall() == [(first, "because")]
