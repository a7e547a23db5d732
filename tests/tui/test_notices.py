"""Notices do not cover the content that the user reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets._toast import Toast

from tests.helpers import make_project, numbered
from tests.tui.stage import SIZES, opened, press, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.virtual_table import VirtualTable


def shown(app: WorkbenchApp) -> list[Toast]:
    """Return the notices that occupy lines of the screen."""
    return [notice for notice in app.screen.query(Toast) if notice.region.height]


@pytest.mark.few(2)
@pytest.mark.parametrize("size", SIZES)
async def test_latest_notice_is_the_last_line_and_covers_no_row(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(make_project(tmp_path, numbered(60)), size=size) as (app, pilot):
        await press(pilot, *":b", "enter", "end")
        table = app.screen.query_one(VirtualTable)
        for message, is_long in (("Something else.", False), ("One line.", False), ("More of them. " * 14, True)):
            app.notify(message, title="Said")
            await until(pilot, lambda: [str(one.render()) for one in shown(app)] == [f"Said: {message}"])  # noqa: B023
            (notice,) = shown(app)
            assert notice.region.bottom == size[1]
            assert (notice.region != app.screen.query_one(Footer).region) == is_long
            assert notice.region.height <= 4
            line = table.region.y + 1 + (table.cursor or 0) - table.scroll_offset.y
            assert line < table.region.bottom <= notice.region.y


@pytest.mark.few(2)
@pytest.mark.parametrize("size", SIZES)
async def test_notice_covers_no_input_line(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(make_project(tmp_path, numbered(4)), size=size) as (app, pilot):
        await press(pilot, *":b", "enter", "f")
        app.notify("What takes more than one line of the screen. " * 5)
        await until(pilot, lambda: bool(shown(app)))
        focused = app.screen.focused
        assert focused is not None
        assert focused.region.height
        assert not shown(app)[0].region.overlaps(focused.region)


async def test_notice_is_never_markup(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(1))) as (app, pilot):
        for told in (app.notify, app.screen.notify, app.screen.query_one(Footer).notify):
            told("[b]bold[/b] [/] [@click=app.quit]here[/]", title="[red]")
            expected = "[red]: [b]bold[/b] [/] [@click=app.quit]here[/]"
            await until(pilot, lambda: [str(one.render()) for one in shown(app)][-1:] == [expected])  # noqa: B023
