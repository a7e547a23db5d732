"""Trainings in the app: three lists of one, and the way to the items."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import SIZES, opened, press, screen_of, text_of
from tests.unit.measuring.test_watching import watch
from tests.watched_training import free_rewards
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screens.browse import BrowseScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.app.tui.screens.trainings import TrainingsScreen
from workbench.core.project import open_project


@pytest.mark.parametrize("size", SIZES)
async def test_steps_alarms_and_what_looks_alike(tmp_path: Path, size: tuple[int, int]) -> None:
    payload = free_rewards("P1")[4]
    project = watch(tmp_path / "p.db", payload=payload, steps=30, share=0.05)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":k", "enter")
        screen = screen_of(app, TrainingsScreen)
        assert screen.query_one(TitleBar).remark.startswith("run · steps")
        assert "Alarm at step" in text_of(app, "#trainings-said")
        assert len(screen.listed) == 15
        await press(pilot, "enter")
        screen_of(app, BrowseScreen)
        await press(pilot, "escape", "escape")
        screen_of(app, TrainingsScreen)
        await press(pilot, "w")
        assert screen.listed[0].wording
        assert payload in text_of(app, "#trainings-detail Static")
        await press(pilot, "w")
        assert screen.listed[0].example == payload
        await press(pilot, "enter")
        screen_of(app, ItemScreen)


async def test_where_none_is_watched_it_says_how(tmp_path: Path) -> None:
    async with opened(open_project(tmp_path / "p.db", create=True), size=SIZES[0]) as (app, pilot):
        await press(pilot, *":k", "enter")
        assert app.screen.has_class("empty")
        assert "audit=" in text_of(app, "#trainings-empty")
