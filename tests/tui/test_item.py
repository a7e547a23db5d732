"""One item: four panes, its evidence, neighbours; every reveal is recorded."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from textual.worker import WorkerCancelled

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, ONE_SIZE, SIZES, notices, opened, press, settle, text_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.item_panes import PANES
from workbench.app.tui.kit.prompt_line import PromptLine
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screens.item import ItemScreen
from workbench.core.database import events, people
from workbench.core.label import LabelEvent
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, Verdict
from workbench.labelling import ledger
from workbench.runs.store import runs, verdicts

WORK = "".join(f"This is step {number}.\n\n" for number in range(200))
TEXT = f"<think>secret\nthoughts</think>{WORK}Perhaps 9.\n\nSo the answer is \\boxed{{8}}.\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows: list[dict[str, Any]] = [
        {
            "question_id": f"q{number}",
            "completion_id": f"c{number}",
            "question": f"What is number {number}?",
            "reference": WORK + r"Hence $\boxed{7}$.",
            "completion": TEXT if number else "I can't tell" + WORK,
            "gold": False,
            "model": "a model",
            "source": "a source",
            "subtype": "A1",
        }
        for number in range(4)
    ]
    project = make_project(tmp_path, rows)
    nine, eight = TEXT.index("9.\n\nSo"), TEXT.index("8}")
    add_verdict(project, "nines", Verdict(outcome=Outcome.INCORRECT, candidate_span=(nine, nine + 1), ms=3.25))
    add_verdict(
        project,
        "eights",
        Verdict(
            outcome=Outcome.CORRECT,
            score=0.5,
            reason="no_match",
            reference_final="7",
            candidate_final="8",
            candidate_span=(eight, eight + 1),
            detail="compared as numbers",
            ms=1.0,
        ),
    )
    return project


def add_verdict(project: Project, name: str, verdict: Verdict) -> None:
    with project.database.write() as connection:
        verifier = runs.add_verifier(connection, name=name, kind="exact", options={}, config={}, config_hash=name)
        run = runs.add(connection, verifier, "1")
        runs.queue(connection, run, Selection(), 1, 1)
        verdicts.put(connection, run, [(2, verdict)])
        runs.complete(connection, run, 1)


def add_label(project: Project, name: str, note: str) -> None:
    with project.database.write() as connection:
        event = LabelEvent(
            uuid=events.new_uuid(),
            kind="label",
            task="correctness",
            subject=2,
            annotator=people.add(connection, name),
            verdict="incorrect",
            unsure=True,
            note=note,
            created_at="2025-03-01T10:00:00Z",
        )
        ledger.record(connection, event)


@asynccontextmanager
async def showing(
    project: Project, item: int = 2, neighbours: Sequence[int] = (), size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[None]]]:
    async with opened(project, size=size) as (app, pilot):
        app.push_screen(ItemScreen(item, neighbours))
        await settle(pilot)
        yield app, pilot


def pane(app: WorkbenchApp, name: str) -> str:
    """Return the lines of a visible pane."""
    reader = app.screen.query_one(f"#item-{name}", Reader)
    return "\n".join(reader.render_line(y).text for y in range(reader.scrollable_size.height))


def title(app: WorkbenchApp, name: str) -> str:
    return str(app.screen.query_one(f"#item-{name}", Reader).border_title)


def looked_at(project: Project) -> list[int]:
    rows = project.database.reader().execute(
        "SELECT subject FROM label_events WHERE kind = 'reveal' AND task = 'correctness' ORDER BY id"
    )
    return [row[0] for row in rows]


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_texts_open_at_their_final_answers(project: Project, size: tuple[int, int]) -> None:
    async with showing(project, size=size) as (app, _):
        assert "What is number 1?" in pane(app, "question")
        assert "▶ Hence ▌7▐." in pane(app, "reference")
        assert "▶ So the answer is ▌8▐." in pane(app, "completion")
        assert title(app, "completion") == "Completion · ▶ answer: last \\boxed"
        assert text_of(app, "#item-facts") == (
            "A1 - Integer · unlabelled · gold ✗ incorrect (imported) · a model · a source"
        )


async def test_completion_without_an_answer_opens_at_its_end(project: Project) -> None:
    async with showing(project, 1) as (app, _):
        reader = app.screen.query_one("#item-completion", Reader)
        assert reader.scroll_offset.y == reader.max_scroll_y


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_evidence_names_annotators_verifiers_and_their_answers(project: Project, size: tuple[int, int]) -> None:
    add_label(project, "ann", "the sign\nis wrong")
    async with showing(project, size=size) as (app, pilot):
        await press(pilot, "tab")
        text = " ".join(pane(app, "evidence").split())
        assert "Gold ✗ incorrect (imported)" in text
        assert "✗ incorrect ann 2025-03-01 · unsure note: the sign↵is wrong" in text
        await press(pilot, "end")
        text = " ".join(pane(app, "evidence").split())
        assert "✗ incorrect nines run 1 · 3.2 ms" in text
        assert "✓ correct eights" in text
        assert "compared as numbers no_match · score 0.5 · run 2 · 1.0 ms" in text


async def test_raw_shows_the_stored_text_and_thoughts_unfold(project: Project) -> None:
    async with showing(project) as (app, pilot):
        await press(pilot, "o")
        assert r"So the answer is \boxed{8}." in pane(app, "completion")
        await press(pilot, "o", "home")
        assert "folded" in pane(app, "completion")
        await press(pilot, "h", "home")
        assert "thoughts" in pane(app, "completion")


async def test_neighbours_open_in_order_and_each_reveal_is_recorded(project: Project) -> None:
    async with showing(project, 2, [4, 2, 3]) as (app, pilot):
        bar = app.screen.query_one(TitleBar)
        assert bar.remark.startswith("2 of 3 · c1 · ")
        assert looked_at(project) == [2]
        await press(pilot, "right_square_bracket")
        assert bar.remark.startswith("3 of 3 · c2 · ")
        assert "What is number 2?" in pane(app, "question")
        assert looked_at(project) == [2, 3]
        await press(pilot, "right_square_bracket")
        assert "This is the last item." in notices(app)
        await press(pilot, "left_square_bracket", "left_square_bracket", "left_square_bracket")
        assert bar.remark.startswith("1 of 3 · c3 · ")
        assert "This is the first item." in notices(app)
        assert looked_at(project) == [2, 3, 4]


@pytest.mark.soak
async def test_fast_navigation_shows_the_last_requested_item(project: Project) -> None:
    async with showing(project, 1, [1, 2, 3, 4]) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, ItemScreen)
        for _ in range(3):
            screen.action_go(1)
        with suppress(WorkerCancelled):
            await settle(pilot)
        await settle(pilot)
        assert screen.completion == 4
        assert "What is number 3?" in pane(app, "question")
        assert screen.query_one(TitleBar).remark.startswith("4 of 4 · c3 · ")


async def test_no_next_item_without_neighbours(project: Project) -> None:
    async with showing(project) as (app, pilot):
        await press(pilot, "right_square_bracket")
        assert "This is the last item." in notices(app)


@pytest.mark.soak
async def test_focused_pane_is_the_tallest_on_a_narrow_terminal(project: Project) -> None:
    async with showing(project) as (app, pilot):
        for name in ("completion", "evidence", "question", "reference"):
            heights = {other: app.screen.query_one(f"#item-{other}").size.height for other in PANES}
            assert max(heights, key=heights.__getitem__) == name
            assert heights[name] >= 8
            assert all(heights.values())
            await press(pilot, "tab")


@pytest.mark.soak
async def test_search_in_the_focused_pane(project: Project) -> None:
    async with showing(project) as (app, pilot):
        reader = app.screen.query_one("#item-completion", Reader)
        await press(pilot, "slash", *"perhaps")
        await until(pilot, lambda: reader.border_subtitle == "hit 1 of 1")  # matches appear while typing
        line, start, _ = reader._hits[0]
        assert reader._wrapped is not None
        row = reader._wrapped.row_of(line, start) - reader.scroll_offset.y
        assert 0 <= row < reader.scrollable_size.height, "and visible next to the input line"
        await press(pilot, "enter")
        assert reader.border_subtitle == "hit 1 of 1"
        assert app.focused is reader
        await press(pilot, "slash")
        app.screen.query_one(Input).value = "step"
        await press(pilot, "enter", "n", "n", "N")
        assert str(reader.border_subtitle).endswith(" of 200")
        await press(pilot, "slash")
        app.screen.query_one(Input).value = "nowhere"
        await press(pilot, "enter")
        assert text_of(app, "PromptLine .trouble") == "Not found."
        await press(pilot, "escape")
        assert not isinstance(app.screen, PromptLine)
        assert isinstance(app.screen, ItemScreen)
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "HomeScreen"


async def test_item_is_written_to_a_file_named_in_a_notice(project: Project) -> None:
    async with showing(project) as (app, pilot):
        await press(pilot, "e")
        path = project.path.with_name("p-item-2.json")
        assert f"Written: {path}" in notices(app)
        assert json.loads(path.read_text(encoding="utf-8"))["completion"] == TEXT


async def test_missing_item_is_reported_in_a_notice(project: Project) -> None:
    async with showing(project, 99) as (app, _):
        assert any("There is no item with row id 99." in notice for notice in notices(app))
        assert looked_at(project) == []


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_texts_and_names_are_shown_as_text(tmp_path: Path, size: tuple[int, int]) -> None:
    fields = ("completion_id", "question_id", "question", "reference", "completion", "model", "source", "dataset")
    project = make_project(tmp_path, [dict.fromkeys(fields, name) for name in HOSTILE])
    async with showing(project, 1, range(1, len(HOSTILE) + 1), size=size) as (app, pilot):
        for name in HOSTILE:
            assert name.replace("\x1b", "␛") in pane(app, "question")
            assert name.replace("\x1b", "␛") in app.screen.query_one(TitleBar).remark
            await press(pilot, "right_square_bracket")


async def test_real_items_open_at_both_sizes(real_file: Path, tmp_path: Path) -> None:
    from workbench.core.project import open_project
    from workbench.interchange.importing import import_files, plan_import

    project = open_project(tmp_path / "real.db", create=True)
    import_files(project, plan_import([real_file]))
    for size in SIZES:
        async with showing(project, 1, range(1, 109), size=size) as (app, pilot):
            for _ in range(12):
                await press(pilot, "right_square_bracket")
            assert app.screen.query_one(TitleBar).remark.startswith("13 of 108")
            assert pane(app, "completion").strip()


@pytest.mark.few(2)
@pytest.mark.parametrize("size", SIZES)
async def test_card_has_both_answers_and_every_verdict(project: Project, size: tuple[int, int]) -> None:
    async with showing(project, 2, [2, 1], size) as (app, pilot):
        answers, verdicts = text_of(app, "#item-card").split("   ")
        assert answers == "7 │ 8"
        assert verdicts == "gold ✗ · nines ✗ · eights ✓"
        await press(pilot, "right_square_bracket")
        assert text_of(app, "#item-card").endswith("   gold ✗")
