"""A served window that opens while the database file is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from tests.served_app import at_hand, real_app, served, sign_in, tab, until
from workbench.app.web.serve.sessions import Ending
from workbench.labelling.people import assign


async def test_a_new_window_shows_an_error_and_the_log_has_the_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    project = make_project(tmp_path, numbered(6, subtype="A1"))
    assign(project, ["ann"], per_item=1)
    async with served(project, real_app(project.path)) as address, sign_in(project, address, "ann") as client:
        project.path.rename(tmp_path / "away.db")
        async with tab(client, address) as page:
            assert await page.end() == Ending.UNOPENED
        await until(lambda: "ended with code 1" in caplog.text)
        assert "there is no such database" in caplog.text
        (tmp_path / "away.db").rename(project.path)
        async with tab(client, address):
            await at_hand(project, "ann")
    project.close()
