"""Trainings in the app: three lists of one, and the way to the items."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from tests.tui.stage import ONE_SIZE, SIZES, opened, press, screen_of, settle, text_of, until
from tests.unit.measuring.test_watching import watch
from tests.watched_training import free_rewards
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screens.browse import BrowseScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.app.tui.screens.trainings import TrainingsScreen
from workbench.core.project import open_project
from workbench.measuring.records.watching import AlikeGroup, WordingAlarm


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_steps_alarms_and_what_looks_alike(tmp_path: Path, size: tuple[int, int]) -> None:
    payload = free_rewards("P1")[4]
    project = watch(tmp_path / "p.db", payload=payload, steps=30, share=0.05)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":k", "enter")
        screen = screen_of(app, TrainingsScreen)
        assert screen.query_one(TitleBar).remark == "run"
        assert "Alarm at step" in text_of(app, "#trainings-head")
        assert len(screen.listed) == 15
        await press(pilot, "enter")
        screen_of(app, BrowseScreen)
        await press(pilot, "escape", "escape")
        screen_of(app, TrainingsScreen)
        await press(pilot, "w")
        assert isinstance(screen.listed[0], WordingAlarm)
        assert payload in text_of(app, "#trainings-detail Static")
        await press(pilot, "w")
        assert isinstance(screen.listed[0], AlikeGroup)
        assert screen.listed[0].example == payload
        await press(pilot, "enter")
        screen_of(app, ItemScreen)


async def test_where_none_is_watched_it_says_how(tmp_path: Path) -> None:
    async with opened(open_project(tmp_path / "p.db", create=True), size=SIZES[0]) as (app, pilot):
        await press(pilot, *":k", "enter")
        assert app.screen.has_class("empty")
        assert "audit=" in text_of(app, "#trainings-empty")


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_where_nothing_is_labelled_it_says_what_is_next(tmp_path: Path, size: tuple[int, int]) -> None:
    project = watch(tmp_path / "p.db", payload="", steps=4, share=0.5)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":k", "enter")
        screen = screen_of(app, TrainingsScreen)
        await until(pilot, lambda: screen.training)
        report = screen.training
        assert report is not None
        assert report.all is not None
        bare = structs.replace(report, scored_by=None, all=structs.replace(report.all, audited=8, labelled=0))
        assert screen.found is not None
        screen.show(structs.replace(screen.found, trainings=[bare]))
        await settle(pilot)
        assert "Assign (^p) opens label slots; annotators fill them in Annotate (:a)." in text_of(
            app, "#trainings-head"
        )
        some = structs.replace(bare, all=structs.replace(report.all, audited=8, labelled=3))
        screen.show(structs.replace(screen.found, trainings=[some]))
        await settle(pilot)
        assert "Next:" not in text_of(app, "#trainings-head")
