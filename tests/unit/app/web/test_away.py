"""A served window that is killed while the database's file is away: the next window saves what it had kept."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import psutil
import pytest

from tests.helpers import make_project, numbered
from tests.served_app import at_hand, come_in, labels, real_app, served, tab, until
from workbench.app.web.serve.sessions import Ending
from workbench.labelling.merging import bring_in_left
from workbench.labelling.people import assign


async def test_what_a_killed_window_had_kept_is_saved_by_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    project = make_project(folder, [{**row, "question_id": row["completion_id"]} for row in numbered(6, subtype="A1")])
    assign(project, ["ann"], per_item=1)
    away = tmp_path / "away.db"

    def left() -> list[Path]:
        return list(folder.glob("*.unsaved-*"))

    async with served(project, real_app(project.path)) as address, come_in(project, address, "ann") as client:
        async with tab(client, address) as page:
            await at_hand(project, "ann")
            (app,) = [one for one in psutil.Process().children() if str(project.path) in one.cmdline()]
            project.path.rename(away)
            await page.press_until("1", lambda: any(one.stat().st_size for one in left()))
            app.send_signal(signal.SIGKILL)
            assert await page.end() == Ending.ENDED
        kept = left()[0].read_text().count("\n")
        away.rename(project.path)
        async with tab(client, address) as page:
            await page.wait_for("was away, ")
            await until(lambda: not left())
    assert kept >= 1
    assert len(labels(project)) == kept
    project.close()


async def test_a_window_that_opens_meanwhile_is_told_so_and_the_log_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    project = make_project(tmp_path, numbered(6, subtype="A1"))
    assign(project, ["ann"], per_item=1)
    async with served(project, real_app(project.path)) as address, come_in(project, address, "ann") as client:
        project.path.rename(tmp_path / "away.db")
        async with tab(client, address) as page:
            assert await page.end() == Ending.UNOPENED
        await until(lambda: "ended with code 1" in caplog.text)
        assert "there is no such database" in caplog.text
        (tmp_path / "away.db").rename(project.path)
        async with tab(client, address):
            await at_hand(project, "ann")
    project.close()


def test_what_a_closed_window_left_is_not_taken_while_the_file_is_away(tmp_path: Path) -> None:
    """Nothing is said of it then: it is tried again."""
    project = make_project(tmp_path, numbered(2, subtype="A1"))
    left = tmp_path / "p.db.unsaved-1-1.jsonl"
    line = {"completion_id": "0", "annotator": "ann", "verdict": "correct"}
    left.write_text(json.dumps(line | {"completion_id": numbered(1)[0]["completion_id"]}) + "\n")
    left.chmod(0o600)
    project.path.rename(tmp_path / "away.db")
    assert bring_in_left(project) == []
    assert left.exists()
    (tmp_path / "away.db").rename(project.path)
    (found,) = bring_in_left(project)
    assert (found.stored, found.words("p.db")) == (1, "Of the labels given while p.db was away, 1 is saved.")
    assert not left.exists()
    project.close()
