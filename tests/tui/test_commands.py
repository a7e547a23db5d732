"""The palette also finds a command by its description."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import OptionList

from tests.tui.solved import solved_project
from tests.tui.stage import opened, press, screen_of, settle, until
from workbench.app.tui.app import DescribedCommands
from workbench.app.tui.screens.code_problem import CodeProblemScreen
from workbench.app.tui.screens.verb import VerbScreen


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("typed", "command_name"),
    [
        ("suspect test", "Exclude"),
        ("exclude test", "Exclude"),
        ("remove data", "Datasets …"),
        ("datasets", "Datasets …"),
        ("data sets", "Datasets …"),
        ("training", "Training file …"),
        ("train", "Training file …"),
        ("sft", "Training file …"),
        ("dpo", "Training file …"),
        ("pairs train", "Training file …"),
    ],
)
async def test_command_is_found_by_words_of_its_description(tmp_path: Path, typed: str, command_name: str) -> None:
    async with opened(solved_project(tmp_path)) as (app, pilot):
        app.push_screen(CodeProblemScreen(1))
        await settle(pilot)
        found = [str(hit.text) async for hit in DescribedCommands(app.screen).search(typed)]
        assert command_name in found
        assert len(found) == len(set(found))


async def test_matching_name_ranks_before_matching_description(tmp_path: Path) -> None:
    async with opened(solved_project(tmp_path)) as (app, _):
        hits = [hit async for hit in DescribedCommands(app.screen).search("merge")]
        assert str(max(hits).text) == "Merge …"
        assert len(hits) == len({str(hit.text) for hit in hits})


async def test_palette_searches_descriptions(tmp_path: Path) -> None:
    async with opened(solved_project(tmp_path)) as (app, _):
        assert {DescribedCommands} == app.COMMANDS


@pytest.mark.soak
async def test_training_file_is_found_among_outputs_of_code(tmp_path: Path) -> None:
    async with opened(solved_project(tmp_path)) as (app, pilot):
        app.open_training_file()
        await until(pilot, lambda: isinstance(app.screen, VerbScreen) and app.screen.values())
        await settle(pilot)
        form = screen_of(app, VerbScreen)
        assert (form.values()["format"], form.values()["where"]) == ("sft", "verdict=correct")
        await press(pilot, "escape", ":", "o", "enter", "e")
        menu = app.screen.query_one(OptionList)
        offered = [str(menu.get_option_at_index(place).prompt) for place in range(menu.option_count)]
        places = [place for place, text in enumerate(offered) if "training file" in text]
        assert len(places) == 1
        menu.highlighted = places[0]
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, VerbScreen) and app.screen.values())
        await settle(pilot)
        assert screen_of(app, VerbScreen).values()["format"] == "sft"
