"""Copying the cell, the row and the item under the cursor, as stored; nothing hidden from annotators."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.helpers import make_project
from tests.tui.labelling import desk, make
from tests.tui.stage import add_run, notices, opened, press, settle
from workbench.app.tui import sharing
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.choices import ChoiceMenu
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.core.project import Project
from workbench.core.verdict import Outcome

HOSTILE = "a\x1b]52;c;ZXZpbA==\x07 | b\n\x1b[31m[bold]red[/]"
ITEM = {
    "completion_id": "qwen3-8b/completion-000a1b2",
    "question": f"What is {HOSTILE}?",
    "reference": "\\boxed{4}",
    "completion": f"So {HOSTILE} it is \\boxed{{5}}",
}


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts that a local program received."""
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return "the clipboard"

    monkeypatch.setattr(sharing, "copy", keep)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path, [ITEM, {**ITEM, "completion_id": "other"}])
    add_run(project, "rules", {1: Outcome.INCORRECT, 2: Outcome.CORRECT})
    return project


def reveals(project: Project) -> int:
    (count,) = project.database.reader().execute("SELECT count(*) FROM label_events WHERE kind = 'reveal'").fetchone()
    return int(count)


async def take(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await press(pilot, "Y")
        assert isinstance(pilot.app.screen, ChoiceMenu)
        await press(pilot, key)


async def browse(app: WorkbenchApp, pilot: Pilot[None]) -> None:
    app.open_screen("browse")
    await settle(pilot)


async def test_every_text_of_an_item_is_copied_as_stored(project: Project, copied: list[str]) -> None:
    async with opened(project) as (app, pilot):
        await browse(app, pilot)
        await take(pilot, *"cupfiad")
        assert copied == [
            ITEM["completion_id"],
            ITEM["question"],
            ITEM["completion"],
            ITEM["reference"],
            ITEM["completion_id"],
            "reference: 4\ncompletion: 5\n",
            f"workbench open {project.path} qwen3-8b/completion-000a1b2",
        ]
        assert f"Copied: {len(ITEM['question'])} characters are in the clipboard." in notices(app)
        assert not any("\x1b" in notice for notice in notices(app))
        assert reveals(project) == 0, "annotators see question and texts, too"


async def test_evidence_is_copied_and_the_reveal_recorded(project: Project, copied: list[str]) -> None:
    async with opened(project) as (app, pilot):
        await browse(app, pilot)
        await take(pilot, "e")
        assert "rules" in copied[0]
        assert "incorrect" in copied[0]
        assert reveals(project) > 0
        await take(pilot, "m")
        assert f"```\n{ITEM['completion']}\n```" in copied[1]


async def test_row_is_one_line_of_markdown_without_control_characters(project: Project, copied: list[str]) -> None:
    async with opened(project) as (app, pilot):
        await browse(app, pilot)
        await take(pilot, "r")
        head, rule, row = copied[0].splitlines()
        assert head.startswith("| id | type | state | gold | rules | question |")
        assert set(rule) <= set("| -")
        assert row.count(" | ") == head.count(" | ")
        assert "\x1b" not in row
        assert "\\|" in row


@pytest.mark.soak
async def test_cell_under_the_cursor_is_copied(project: Project, copied: list[str]) -> None:
    async with opened(project) as (app, pilot):
        await browse(app, pilot)
        await press(pilot, "down", "right", "right", "right", "right")
        await take(pilot, "c")
        assert copied == ["correct"]


@pytest.mark.soak
async def test_id_is_shown_and_found_by_its_end_and_copied_whole(project: Project, copied: list[str]) -> None:
    async with opened(project) as (app, pilot):
        await browse(app, pilot)
        table = app.screen.query_one(VirtualTable)
        assert table.render_line(1).text.split()[0] == "›…0a1b2"
        await take(pilot, "c")
        assert copied == [ITEM["completion_id"]]
        await press(pilot, "down", "at", *"0a1b2", "enter")
        assert table.selected_id == 1
        await press(pilot, "f", *"completion_id=qwen3-8b/completion-000a1b2", "enter")
        assert table.row_count == 1


async def test_item_screen_copies_what_it_shows(project: Project, copied: list[str]) -> None:
    async with opened(project) as (app, pilot):
        await browse(app, pilot)
        await press(pilot, "down", "enter")
        await take(pilot, *"ipa")
        assert copied == ["other", ITEM["completion"], "reference: 4\ncompletion: 5\n"]


@pytest.mark.soak
async def test_text_is_also_written_to_a_file_without_a_program(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "copy", lambda text: None)
    async with opened(project) as (app, pilot):
        await browse(app, pilot)
        await take(pilot, "u")
        copy = project.path.with_name(f"{project.path.stem}-copied.txt")
        assert app.clipboard == ITEM["question"]
        assert copy.read_bytes() == ITEM["question"].encode()
        (notice,) = notices(app)
        assert notice.startswith("Possibly copied")
        assert "does not confirm" in notice
        assert str(copy) in notice
        await take(pilot, "f")
        assert copy.read_text("utf-8") == ITEM["reference"], "one file, the newest text"


async def test_served_app_writes_no_file_and_starts_no_program(
    project: Project, copied: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkbenchApp, "is_web", True)
    async with opened(project) as (app, pilot):
        await browse(app, pilot)
        await take(pilot, "f")
        assert app.clipboard == ITEM["reference"]
    assert copied == []
    assert [path.name for path in project.path.parent.glob("*copied*")] == []


async def test_annotator_copies_only_the_texts(tmp_path: Path, copied: list[str]) -> None:
    project = make(tmp_path)
    async with desk(project, "amira") as it:
        await it.press("Y")
        menu = it.app.screen
        assert isinstance(menu, ChoiceMenu)
        assert [choice.key for choice in menu.listed] == ["u", "a", "f", "p"]
        await it.press("p")
        stored = project.database.reader().execute("SELECT text FROM completion_text").fetchall()
        assert (copied[0],) in stored
    project.close()
