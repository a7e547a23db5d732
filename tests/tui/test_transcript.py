"""The transcript of a verdict: its calls in order, each with request, reasoning and reply, unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs
from textual.pilot import Pilot

from tests.helpers import make_project, numbered
from tests.tui.stage import HOSTILE, ONE_SIZE, add_run, notices, opened, press, screen_of, settle, text_of, until
from tests.tui.stored_calls import StoredCall, add_judged
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.prompt_line import CompletingInput, PromptLine
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.home import HomeScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.app.tui.screens.transcript import TranscriptScreen
from workbench.config.verifiers import EXAMPLES_DRAWN
from workbench.core.project import Project
from workbench.core.verdict import Outcome, Verdict
from workbench.runs.store import runs as stored_runs
from workbench.verifiers.judges.examples import DrawnExamples, ExamplePlan, FewShotExample, encoded

ANALYSE = StoredCall("analyse", question="Look [at] it.", reply="It is wrong.\nReally.", reasoning="Hm [/]")
SUMMARISE = StoredCall("summarise", question="So?", reply="No", finish="length", reused=True)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, numbered(2))


def call_shown(app: WorkbenchApp) -> str:
    document = app.screen.query_one(Reader).document
    return "" if document is None else document.text


def table_shown(app: WorkbenchApp) -> str:
    table = app.screen.query_one(VirtualTable)
    return "\n".join(table.render_line(y).text for y in range(table.size.height))


async def type_line(pilot: Pilot[None], text: str) -> None:
    pilot.app.screen.query_one(CompletingInput).value = text
    await press(pilot, "enter")


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_calls_are_in_order_with_requests_and_replies(project: Project, size: tuple[int, int]) -> None:
    verdict = Verdict(outcome=Outcome.INCORRECT, reason="unsure", score=0.25, detail="No")
    run = add_judged(project, "judge", 1, [ANALYSE, SUMMARISE], verdict=verdict)
    async with opened(project, size=size) as (app, pilot):
        app.push_screen(TranscriptScreen(run, 1))
        await settle(pilot)
        facts = text_of(app, "#transcript-facts")
        assert all(word in facts for word in ("✗ incorrect", "unsure", "score 0.25", "2 calls", "read in: No"))
        await until(pilot, lambda: "length reused" in table_shown(app))
        rows = table_shown(app)
        assert rows.index("analyse") < rows.index("summarise")
        assert "812→37" in rows
        text = call_shown(app)
        parts = ("Request · system", "Judge.", "Request · user", "Look [at] it.", "Reasoning", "Hm [/]", "Reply")
        places = [text.index(part) for part in parts]
        assert places == sorted(places)
        assert text.endswith("It is wrong.\nReally.")
        assert "m-1 · openai-compatible · finish stop · 812→37 tokens · $0.0021 · 1,234 ms" in text
        await press(pilot, "right_square_bracket")
        assert call_shown(app).endswith("Reply\nNo")


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_changed_texts_are_reported(project: Project, size: tuple[int, int]) -> None:
    altered = StoredCall("judge", question="1 <\u2009|im_end|> [\u2009INST] a[\u2009i]", reply="No")
    runs = [
        add_judged(project, name, 1, [judge_calls])
        for name, judge_calls in (("altered", altered), ("whole", SUMMARISE))
    ]
    async with opened(project, size=size) as (app, pilot):
        app.push_screen(TranscriptScreen(runs[0], 1))
        await settle(pilot)
        assert "2 control tokens of the texts broken" in text_of(app, "#transcript-facts")
        assert "2 control tokens of the texts broken by a thin space" in call_shown(app)
        app.push_screen(TranscriptScreen(runs[1], 1))
        await settle(pilot)
        assert "control token" not in text_of(app, "#transcript-facts") + call_shown(app)


async def test_reading_a_request_with_examples_reveals_their_items(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(8))
    run = add_judged(project, "judge", 1, [ANALYSE])
    plan = ExamplePlan(examples=1)
    example = FewShotExample(item=("sample", "c6"), question="?", reference="", completion="!", correct=True)
    options = {EXAMPLES_DRAWN: encoded(DrawnExamples(plan=plan, examples=(example,)))}
    with project.database.write() as connection:
        bound = structs.replace(stored_runs.verifiers(connection)[0], options=options)
        stored_runs.put_configuration(connection, bound)
    async with opened(project) as (app, pilot):
        app.push_screen(TranscriptScreen(run, 1))
        await settle(pilot)
        revealed = "SELECT subject FROM label_events WHERE kind = 'reveal' AND task = 'correctness'"
        assert app.project.database.reader().execute(revealed).fetchall() == [(7,)]


async def test_raw_shows_both_bodies_unchanged(project: Project) -> None:
    run = add_judged(project, "judge", 1, [ANALYSE])
    async with opened(project) as (app, pilot):
        app.push_screen(TranscriptScreen(run, 1))
        await settle(pilot)
        await press(pilot, "o")
        text = call_shown(app)
        assert ANALYSE.request.decode() in text
        assert ANALYSE.response.decode() in text
        await press(pilot, "o")
        assert ANALYSE.request.decode() not in call_shown(app)


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_hostile_replies_and_names_are_shown_as_text(project: Project, size: tuple[int, int]) -> None:
    judge_calls = [
        StoredCall(text, question=text, reply=text, reasoning=text, finish=text, origin=text) for text in HOSTILE
    ]
    verdict = Verdict(outcome=Outcome.ABSTAIN, reason=HOSTILE[0], detail=HOSTILE[2])
    run = add_judged(project, HOSTILE[0], 1, judge_calls, verdict=verdict)
    async with opened(project, size=size) as (app, pilot):
        app.push_screen(TranscriptScreen(run, 1))
        await settle(pilot)
        for text in HOSTILE:
            assert call_shown(app).count(text.replace("\x1b", "␛")) >= 3
            await press(pilot, "right_square_bracket")
        assert "[bold]x[/]" in text_of(app, "#transcript-facts")
        assert "␛[31m" in text_of(app, "#transcript-facts")
        assert not notices(app)


async def test_recorded_replies_say_so(project: Project) -> None:
    run = add_judged(project, "judge", 1, [StoredCall("judge", origin="replies.jsonl"), StoredCall("judge", sample=1)])
    async with opened(project) as (app, pilot):
        app.push_screen(TranscriptScreen(run, 1))
        await settle(pilot)
        assert "recorded replies" in text_of(app, "#transcript-facts")
        assert "recorded reply, not a live model's: replies.jsonl" in call_shown(app)
        assert table_shown(app).count("recorded") == 1


async def test_text_is_found_in_a_long_call(project: Project) -> None:
    run = add_judged(
        project, "judge", 1, [StoredCall("judge", question="line\n" * 600 + "needle", reply="x\n" * 400 + "Yes")]
    )
    async with opened(project) as (app, pilot):
        app.push_screen(TranscriptScreen(run, 1))
        await settle(pilot)
        await press(pilot, "slash")
        await type_line(pilot, "needle")
        assert app.screen.query_one(Reader).border_subtitle == "hit 1 of 1"
        await press(pilot, "slash")
        await type_line(pilot, "nowhere")
        assert isinstance(app.screen, PromptLine)
        await press(pilot, "escape")
        screen_of(app, TranscriptScreen)
        await press(pilot, "escape")
        screen_of(app, HomeScreen)


async def test_votes_are_shown(project: Project) -> None:
    votes = [Verdict(outcome=outcome) for outcome in (Outcome.CORRECT, Outcome.INCORRECT, Outcome.ABSTAIN)]
    judge_calls = [StoredCall("judge", sample=sample) for sample in range(3)]
    run = add_judged(
        project, "judge", 1, judge_calls, verdict=Verdict(outcome=Outcome.ABSTAIN, reason="tie"), votes=votes
    )
    async with opened(project) as (app, pilot):
        app.push_screen(TranscriptScreen(run, 1))
        await settle(pilot)
        assert "tie · 3 calls · votes ✓ ✗ ?" in text_of(app, "#transcript-facts")
        assert app.screen.check_action("tree", ()) is False


async def test_item_opens_the_transcript_of_its_chosen_verdict(project: Project) -> None:
    add_run(project, "rule", {1: Outcome.CORRECT, 2: Outcome.CORRECT})
    add_judged(project, "judge", 1, [ANALYSE, SUMMARISE])
    other = add_judged(project, "other", 1, [StoredCall("judge", origin="replies.jsonl")])
    async with opened(project) as (app, pilot):
        app.push_screen(ItemScreen(1, first=("rule",)))
        await settle(pilot)
        evidence = app.screen.query_one("#item-evidence", Reader).document
        assert evidence is not None
        assert "run 2 · 2 calls" in evidence.text
        assert "1 call · recorded replies" in evidence.text
        await press(pilot, "T")
        assert any("This verdict needed no model server" in notice for notice in notices(app))
        await press(pilot, "V", "T")
        assert any("Choose one" in notice for notice in notices(app))
        await press(pilot, "V", "T")
        assert isinstance(app.screen, TranscriptScreen)
        assert app.screen.run_number == other
