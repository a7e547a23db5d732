"""A served window that is killed while the database's file is away: the next window saves what it had kept."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil

from tests.helpers import make_project, numbered
from tests.served_app import at_hand, come_in, labels, real_app, served, tab, until
from workbench.services.labelling.people import assign
from workbench.web.serve.sessions import Ending


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
            await page.press_until("1", left)
            app.send_signal(signal.SIGKILL)
            assert await page.end() == Ending.ENDED
        kept = left()[0].read_text().count("\n")
        away.rename(project.path)
        async with tab(client, address) as page:
            await page.wait_for("are saved")
            await until(lambda: not left())
    assert kept >= 1
    assert len(labels(project)) == kept
    project.close()
