"""The footer: keys are whole, and the way back and to help are always there."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets._footer import FooterKey

from tests.helpers import make_project
from tests.tui.stage import opened, press, until
from workbench.tui.app import WorkbenchApp
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.widgets.footer import KEPT, left_out_of


def test_least_is_left_out_first_then_from_the_end() -> None:
    keys = [("Open", 8), ("Sort", 8), ("Back", 10), ("Keys", 8), ("Quit", 8), ("Commands", 12)]
    assert left_out_of(keys, 54) == set()
    assert left_out_of(keys, 53) == {5}
    assert left_out_of(keys, 41) == {5, 4}
    assert left_out_of(keys, 33) == {5, 4, 1}
    assert left_out_of(keys, 1) == {5, 4, 1, 0}, "what leads back and to help stays"


def keys_of(app: WorkbenchApp) -> list[FooterKey]:
    return list(app.screen.query(FooterKey))


@pytest.mark.parametrize("key", ["y", "r", "c", "j", "v", "t", "m"])
async def test_no_key_is_cut_at_80_columns(tmp_path: Path, key: str) -> None:
    async with opened(make_project(tmp_path, [{}])) as (app, pilot):
        home = app.screen
        await press(pilot, key)
        await until(pilot, lambda: app.screen is not home and keys_of(app))
        assert isinstance(app.screen, WorkbenchScreen)
        assert (
            {"Back", "Keys"}
            <= {found.description for found in keys_of(app)}
            <= {*KEPT} | {action.label for action in app.screen.all_actions()}
        )
        assert all(found.region.right <= 80 for found in keys_of(app))


async def test_a_wider_terminal_shows_more(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, [{}])) as (app, pilot):
        await press(pilot, "c")
        await until(pilot, lambda: keys_of(app))
        few = len(keys_of(app))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: len(keys_of(app)) > few)
        assert "Quit" in {found.description for found in keys_of(app)}
