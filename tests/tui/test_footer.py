"""The footer: keys are never truncated, and the keys for back and help are always visible."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project
from tests.tui.stage import opened, press, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.footer import KEPT, Footer, FooterKey, left_out_of
from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.screens.help import HelpScreen


def test_least_important_keys_are_left_out_first() -> None:
    keys = [("Open", 8), ("Sort", 8), ("Back", 10), ("Keys", 8), ("Quit", 8), ("Commands", 12)]
    assert left_out_of(keys, 54) == set()
    assert left_out_of(keys, 53) == {5}
    assert left_out_of(keys, 41) == {5, 4}
    assert left_out_of(keys, 33) == {5, 4, 1}
    assert left_out_of(keys, 1) == {5, 4, 1, 0}, "keys for back and help stay"


def keys_of(app: WorkbenchApp) -> list[tuple[int, FooterKey]]:
    return app.screen.query_one(Footer).shown


@pytest.mark.few(8)
@pytest.mark.parametrize("key", ["y", "r", "c", "j", "v", "t", "m", "o"])
async def test_no_key_is_truncated_at_80_columns(tmp_path: Path, key: str) -> None:
    async with opened(make_project(tmp_path, [{}])) as (app, pilot):
        home = app.screen
        await press(pilot, ":", key, "enter")
        await until(pilot, lambda: app.screen is not home and keys_of(app))
        assert isinstance(app.screen, WorkbenchScreen)
        assert (
            {"Back", "Keys"}
            <= {found.label for _, found in keys_of(app)}
            <= {*KEPT} | {action.label for action in app.screen.all_actions()}
        )
        ends = [0, *(column + found.width for column, found in keys_of(app))]
        assert all(before <= column for before, (column, _) in zip(ends, keys_of(app), strict=False))
        assert ends[-1] <= 80


async def test_wider_terminal_shows_more_keys(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, [{}])) as (app, pilot):
        await press(pilot, *":c", "enter")
        await until(pilot, lambda: keys_of(app))
        few = len(keys_of(app))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: len(keys_of(app)) > few)
        assert "Quit" in {found.label for _, found in keys_of(app)}


@pytest.mark.parametrize("key", ["b", "g"])
async def test_export_is_in_the_footer_where_there_is_room(tmp_path: Path, key: str) -> None:
    async with opened(make_project(tmp_path, [{}])) as (app, pilot):
        await press(pilot, *f":{key}", "enter")
        await until(pilot, lambda: "Export" in {found.label for _, found in keys_of(app)})


async def test_click_presses_a_key(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, [{}])) as (app, pilot):
        home = app.screen
        await until(pilot, lambda: keys_of(app))
        column = next(column for column, found in keys_of(app) if found.label == "Keys")
        await pilot.click(Footer, offset=(column + 1, 0))
        await until(pilot, lambda: app.screen is not home)
        assert isinstance(app.screen, HelpScreen)


async def test_footer_shows_exactly_the_available_keys(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, [{}])) as (app, pilot):
        await until(pilot, lambda: keys_of(app))
        line = str(app.screen.query_one(Footer).render())
        for column, found in keys_of(app):
            assert line[column:].startswith(f" {found.name} {found.label} ")


async def test_screen_left_immediately_reads_no_keys(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, [{}])) as (app, pilot):
        await press(pilot, *":y", "enter")
        footer = app.screen.query_one(Footer)
        await press(pilot, "escape")
        assert not footer.is_attached
        footer._read()  # deferred callbacks run now
