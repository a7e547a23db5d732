"""The palette finds a command by what it does, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.solved import solved_project
from tests.tui.stage import opened, settle
from workbench.app.tui.kit.commands import SaidCommands
from workbench.app.tui.screens.code_problem import CodeProblemScreen


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("suspect test", "Set apart"),
        ("exclude test", "Set apart"),
        ("remove data", "Datasets …"),
        ("datasets", "Datasets …"),
        ("data sets", "Datasets …"),
    ],
)
async def test_a_command_is_found_by_the_words_of_its_sentence(tmp_path: Path, typed: str, wanted: str) -> None:
    async with opened(solved_project(tmp_path)) as (app, pilot):
        app.push_screen(CodeProblemScreen(1))
        await settle(pilot)
        found = [str(hit.text) async for hit in SaidCommands(app.screen).search(typed)]
        assert wanted in found
        assert len(found) == len(set(found))


async def test_one_that_is_called_so_stands_before_one_that_says_so(tmp_path: Path) -> None:
    async with opened(solved_project(tmp_path)) as (app, _):
        hits = [hit async for hit in SaidCommands(app.screen).search("merge")]
        assert str(max(hits).text) == "Merge …"
        assert len(hits) == len({str(hit.text) for hit in hits})


async def test_the_palette_uses_it(tmp_path: Path) -> None:
    async with opened(solved_project(tmp_path)) as (app, _):
        assert {SaidCommands} == app.COMMANDS
