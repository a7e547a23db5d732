"""Labelling while the database's file is moved: labels are reported as not saved, and notes stay in the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.labelling import desk, labels, make
from tests.tui.stage import ONE_SIZE


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


async def test_a_note_written_while_the_file_is_away_stays_until_the_label_stores_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    project, away = make(tmp_path), tmp_path / "away"
    async with desk(project) as it:
        first = it.completion
        project.path.rename(away)
        await it.press("c", *"because", "enter")
        assert any("put back the file" in notice.message for notice in it.app._notifications)
        assert "because" in it.line()
        away.rename(project.path)
        await it.press("1")
        with project.database.reading() as reader:
            asked = "SELECT subject, note FROM label_events WHERE kind = 'label'"
            assert reader.execute(asked).fetchall() == [(first, "because")]
    project.close()
