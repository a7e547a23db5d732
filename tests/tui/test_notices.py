"""Notices do not cover what a person is looking at."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets._toast import Toast

from tests.helpers import make_project, numbered
from tests.tui.stage import SIZES, opened, press, until
from workbench.app.tui.kit.virtual_table import VirtualTable


@pytest.mark.parametrize("size", SIZES)
async def test_a_notice_stands_where_the_cursor_is_not(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(make_project(tmp_path, numbered(60)), size=size) as (app, pilot):
        await press(pilot, *":b", "enter")
        for key in ("end", "home"):
            app.clear_notifications()
            await press(pilot, key)
            table = app.screen.query_one(VirtualTable)
            line = table.region.y + 1 + (table.cursor or 0) - table.scroll_offset.y
            assert (line > size[1] / 2) == (key == "end")
            app.notify("What is said of the row under the cursor, at some length, so that it takes lines.")
            await until(pilot, lambda: bool(app.screen.query(Toast)))
            (notice,) = app.screen.query(Toast)
            await until(pilot, lambda: all(one.region.height for one in app.screen.query(Toast)))
            assert not notice.region.y <= line < notice.region.bottom
            assert notice.region.height <= 4


@pytest.mark.parametrize("size", SIZES)
async def test_a_notice_covers_no_line_that_is_typed_into(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(make_project(tmp_path, numbered(4)), size=size) as (app, pilot):
        await press(pilot, ":", *"zz", "enter")
        await until(pilot, lambda: bool(app.screen.query(Toast)))
        (notice,) = app.screen.query(Toast)
        await until(pilot, lambda: notice.region.height > 0)
        focused = app.screen.focused
        assert focused is not None
        assert not notice.region.overlaps(focused.region)
