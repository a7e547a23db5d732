"""Validity: the screen shows the service's findings, and explains the chosen one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project
from tests.tui.stage import ONE_SIZE, add_run, opened, press, text_of, until
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.validity import ValidityScreen
from workbench.core.project import Project
from workbench.core.verdict import OutcomeCode
from workbench.measuring.validity import validity


def project_of_one(folder: Path) -> Project:
    """Create 48 items of one type, every third long and every second correct: "vain" accepts the long ones."""
    rows = [
        {
            "question_id": f"q{number}",
            "completion_id": f"c{number}",
            "completion": "x" * (500 if number % 3 == 0 else 5),
            "gold": number % 2 == 0,
            "subtype": "A1",
            "type": "A",
        }
        for number in range(48)
    ]
    project = make_project(folder, rows)
    add_run(project, "vain[b]", {number + 1: OutcomeCode(int(number % 3 == 0)).outcome for number in range(48)})
    return project


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_screen_shows_the_findings_of_the_service_in_words(tmp_path: Path, size: tuple[int, int]) -> None:
    project = project_of_one(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":t", "enter")
        screen = app.screen
        assert isinstance(screen, ValidityScreen)
        await until(pilot, lambda: screen.report is not None)
        assert screen.report == validity(project)
        table = screen.query_one(VirtualTable)
        await until(pilot, lambda: len(table.visible_ids) == len(screen.report.findings))  # type: ignore[union-attr]
        await until(pilot, lambda: "longer completions are accepted" in text_of(app, "#validity-detail Static"))
        assert text_of(app, "#validity-detail Static").startswith("Of equal gold and type")
        await press(pilot, "h")
        await until(pilot, lambda: len(table.visible_ids) < len(screen.report.findings))  # type: ignore[union-attr]
        assert all(screen.report.findings[number].stands_out for number in table.visible_ids)
        await press(pilot, "e", "5")
        await until(pilot, lambda: (tmp_path / "p-validity.txt").exists())
        assert "vain[b]" in (tmp_path / "p-validity.txt").read_text()
        await press(pilot, "g")
        await until(pilot, lambda: "gold people" in text_of(app, "#validity-caption"))


async def test_screen_without_a_run_says_where_to_start_one(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{}])
    async with opened(project) as (app, pilot):
        await press(pilot, *":t", "enter")
        await until(pilot, lambda: "start one" in text_of(app, "#validity-detail Static"))
