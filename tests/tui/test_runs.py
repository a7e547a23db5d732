"""Verifiers & runs: started, watched, paused, cancelled and resumed; another process does the work."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from msgspec import structs
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from tests.background import hurry, install_plugin, kill, runner_ends, stored, until_writing
from tests.helpers import add_items, make_project, numbered
from tests.tui.stage import HOSTILE, ONE_SIZE, add_run, more_verdicts, notices, opened, press, text_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.choices import PickMenu
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens import runs as runs_screen
from workbench.app.tui.screens.runs import RunsScreen
from workbench.app.tui.screens.start_run import SetUpRunScreen, ShownTrial, TrialScreen, trial_text
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.verdict import Outcome, OutcomeWord
from workbench.runs import run_status, verifying
from workbench.runs.run_status import run_info_without_counts
from workbench.runs.store import verdicts as stored_verdicts

ITEMS = 400


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """Create items, and verifiers slow enough to be watched."""
    install_plugin(tmp_path, monkeypatch)
    with runner_ends(make_project(tmp_path, numbered(ITEMS))) as made:
        yield made


def screen_of(app: WorkbenchApp) -> RunsScreen:
    assert isinstance(app.screen, RunsScreen)
    return app.screen


def run_of(app: WorkbenchApp, number: int) -> RunInfo:
    return next(run for run in screen_of(app).runs if run.run == number)


async def choose(app: WorkbenchApp, pilot: Pilot[None], name: str) -> SetUpRunScreen:
    """Filter the list for a verifier, choose it, and open its form."""
    await until(pilot, lambda: isinstance(app.screen, PickMenu) and app.screen.listed)
    assert isinstance(app.screen, PickMenu)
    app.screen.query_one(Input).value = name
    await pilot.pause()
    app.screen.query_one(OptionList).highlighted = [one.value for one in app.screen.listed].index(name)
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, SetUpRunScreen))
    await until(pilot, lambda: app.focused is not None)
    form: object = app.screen
    assert isinstance(form, SetUpRunScreen)
    return form


def field(form: SetUpRunScreen, name: str) -> OptionField:
    return form.query_one(f"#option-{name}", OptionField)


def tells(form: SetUpRunScreen, name: str, text: str) -> bool:
    return text in field(form, name).wrong


def shown(app: WorkbenchApp) -> str:
    """Return the table as drawn."""
    table = app.screen.query_one(VirtualTable)
    return "\n".join(table.render_line(y).text for y in range(table.size.height))


async def test_screen_without_runs_says_what_to_do(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path)) as (app, pilot):
        await press(pilot, *":v", "enter", "space", "ctrl+r", "x", "enter")
        assert "Start one" in text_of(app, "#runs-run")
        assert type(app.screen).__name__ == "RunsScreen"


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_run_is_started_and_watched_until_it_is_complete(project: Project, size: tuple[int, int]) -> None:
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":v", "enter", "a")
        await choose(app, pilot, "slow")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await until(pilot, lambda: screen_of(app).runs and 0 < run_of(app, 1).done < ITEMS)
        await until(pilot, lambda: "▶ running" in shown(app))
        assert run_of(app, 1).alive
        await until(pilot, lambda: run_of(app, 1).rate)
        await until(pilot, lambda: "alive" in text_of(app, "#runs-run"))
        hurry()
        await until(pilot, lambda: run_of(app, 1).state == "complete")
        await until(pilot, lambda: f"{ITEMS}/{ITEMS}" in shown(app))
        await until(pilot, lambda: "100.0 %" in text_of(app, "#runs-run"))
        counted = run_status.run_info(project, 1)
        await until(pilot, lambda: f"slept {ITEMS}" in text_of(app, "#runs-run"))
        assert counted.verdicts is not None
        for word, number in counted.verdicts.items():
            assert f"{number} {word}" in text_of(app, "#runs-run")


@pytest.mark.soak
async def test_last_counts_arrive_after_the_last_write(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(40))
    run = add_run(project, "going", dict.fromkeys(range(1, 26), Outcome.CORRECT), complete=False, items=40)
    async with opened(project) as (app, pilot):
        await press(pilot, *":v", "enter")
        await until(pilot, lambda: "25 correct" in text_of(app, "#runs-run"))
        # The count of a large run delays the next one; changes in between are counted then.
        screen_of(app)._late_after = time.monotonic() + 1.5
        more_verdicts(project, run, range(26, 36))
        await until(pilot, lambda: "35 correct" in text_of(app, "#runs-run"))


def test_progress_and_counts_are_from_the_same_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(tmp_path, numbered(40))
    run = add_run(project, "going", dict.fromkeys(range(1, 26), Outcome.CORRECT), complete=False, items=40)
    count = stored_verdicts.by_outcome
    left = [range(26, 36)]

    def counted_late(reader: sqlite3.Connection, number: int) -> dict[OutcomeWord, int]:
        while left:
            more_verdicts(project, run, left.pop())
        return count(reader, number)

    monkeypatch.setattr(stored_verdicts, "by_outcome", counted_late)
    info = run_status.run_info(project, run)
    assert (info.done, sum((info.verdicts or {}).values())) == (25, 25)
    later = run_info_without_counts(project, run)
    assert later.done == 35
    shown = runs_screen.with_counts(later, {run: info})
    assert (shown.done, sum((shown.verdicts or {}).values())) == (25, 25)


async def test_pause_resume_and_cancel(project: Project) -> None:
    run = verifying.start(project, "slow", {"ms": "100"}).run
    async with opened(project) as (app, pilot):
        await press(pilot, *":v", "enter")
        await until(pilot, lambda: run_of(app, run).done)
        await pilot.press("space")
        await until(pilot, lambda: run_of(app, run).state == "paused")
        await until(pilot, lambda: "‖ paused" in shown(app))
        done = len(stored(project, run))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: run_of(app, run).done > done)
        await pilot.press("x")
        await until(pilot, lambda: type(app.screen).__name__ == "ConfirmScreen")
        box = app.screen.query_one("#confirm-box")
        assert box.border_subtitle == "enter: No"
        await pilot.press("tab")
        assert box.border_subtitle == "enter: Yes"
        await pilot.press("shift+tab", "enter")
        await until(pilot, lambda: type(app.screen).__name__ == "RunsScreen")
        assert run_of(app, run).state == "running"
        await pilot.press("x")
        await until(pilot, lambda: type(app.screen).__name__ == "ConfirmScreen")
        await pilot.press("y")
        await until(pilot, lambda: type(app.screen).__name__ == "RunsScreen")
        await until(pilot, lambda: run_of(app, run).state == "cancelled")
        assert len(stored(project, run)) >= done


async def test_run_continues_after_quitting(project: Project) -> None:
    run = verifying.start(project, "slow", {"ms": "100"}).run
    async with opened(project) as (app, pilot):
        await press(pilot, *":v", "enter")
        await until(pilot, lambda: run_of(app, run).done)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)
    until_writing(project, run, ITEMS)


@pytest.mark.soak
async def test_dead_runner_is_reported_and_resume_continues(project: Project) -> None:
    run = verifying.start(project, "slow").run
    kill(until_writing(project, run, ITEMS), signal.SIGKILL)
    async with opened(project) as (app, pilot):
        await press(pilot, *":v", "enter")
        await until(pilot, lambda: "! stopped" in shown(app))
        assert "Resume it" in text_of(app, "#runs-run")
        hurry()
        await pilot.press("ctrl+r")
        await until(pilot, lambda: run_of(app, run).state == "complete")
        assert len(stored(project, run)) == ITEMS


@pytest.mark.soak
async def test_cursor_and_focus_stay_while_runs_continue(project: Project) -> None:
    for name in ("one", "two", "three"):
        add_run(project, name, {1: Outcome.CORRECT})
    run = verifying.start(project, "slow").run
    async with opened(project) as (app, pilot):
        await press(pilot, *":v", "enter")
        table = app.screen.query_one(VirtualTable)
        await pilot.press("down", "down")
        await until(pilot, lambda: table.selected_id == 2)
        before = run_of(app, run).done
        await until(pilot, lambda: run_of(app, run).done > before + 5)
        assert table.selected_id == 2
        assert app.focused is table
        add_run(project, "four", {1: Outcome.CORRECT})
        await until(pilot, lambda: len(screen_of(app).runs) == 5)
        await until(pilot, lambda: table.cursor == 3)
        assert table.selected_id == 2


@pytest.mark.soak
async def test_selection_and_errors_are_shown_at_their_fields(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":v", "enter", "a")
        form = await choose(app, pilot, "exact")
        for bad, message in (("colour=red", "Unknown field"), ('gold="correct', "quotation")):
            field(form, "items").value = bad
            await press(pilot, "ctrl+r")
            await until(pilot, partial(tells, form, "items", message))
        field(form, "items").value, field(form, "name").value = "gold=correct", "half"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await until(pilot, lambda: screen_of(app).runs and run_of(app, 1).state == "complete")
        run = run_of(app, 1)
        assert (run.verifier, run.selection, run.items) == ("half", "gold=correct", ITEMS // 2)


@pytest.mark.soak
async def test_name_in_use_keeps_the_form_and_suggests_a_free_one(project: Project) -> None:
    verifying.start(project, "rouge-l", {"threshold": "0.4"})
    async with opened(project) as (app, pilot):
        await press(pilot, "a")
        form = await choose(app, pilot, "rouge-l")
        await until(pilot, lambda: form.query("#option-threshold"))
        field(form, "threshold").value = "0.7"
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: field(form, "name").wrong)
        text = field(form, "name").wrong
        assert "threshold is 0.4, not 0.7" in text
        assert "rouge-l-2 is free" in text
        assert "--" not in text
        assert app.screen is form
        assert field(form, "threshold").value == "0.7"
        field(form, "name").value = "rouge-l-2"
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await until(pilot, lambda: any(run.verifier == "rouge-l-2" for run in screen_of(app).runs))


async def test_rejected_start_is_a_notice(project: Project) -> None:
    # Enough items to keep the runner busy, on a busy machine too.
    add_items(project.database, numbered(2_000, dataset="more"))
    run = verifying.start(project, "slow").run
    async with opened(project) as (app, pilot):
        await press(pilot, *":v", "enter")
        await until(pilot, lambda: run_of(app, run).done)
        screen_of(app).action_start()
        form = await choose(app, pilot, "slow")
        field(form, "items").value = "gold=correct"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: any("active on other items" in notice for notice in notices(app)))


async def test_details_show_reasons_message_and_log(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    outcomes = {1: Outcome.CORRECT, 2: Outcome.ERROR, 3: Outcome.ABSTAIN, 4: Outcome.ERROR}
    add_run(project, "judge", outcomes, reasons=("[/]", "timeout"))
    async with opened(project) as (app, pilot):
        await press(pilot, *":v", "enter")
        assert "✓ 1 correct" in text_of(app, "#runs-run")
        assert "! 2 error" in text_of(app, "#runs-run")
        await press(pilot, "enter")
        text = text_of(app, "#run-detail Static")
        assert "reasons: 2 [/], 2 timeout\n" in text
        assert "p.db.runner.log" in text
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "RunsScreen"


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_hostile_names_are_shown_as_text(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path, numbered(2))
    for name in HOSTILE:
        add_run(project, name, {1: Outcome.CORRECT}, complete=False, reasons=(name,))
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":v", "enter")
        for key in ("up", "down", "down", "down"):
            await press(pilot, key, "enter")
            assert type(app.screen).__name__ == "RunDetailScreen"
            assert "\x1b" not in text_of(app, "#run-detail Static")
            await press(pilot, "escape", "x")
            assert type(app.screen).__name__ == "ConfirmScreen"
            await press(pilot, "escape")
        assert "[bold]x" in shown(app)
        await press(pilot, "a", "down", "down", "escape")
        assert not notices(app)


@pytest.mark.soak
async def test_typing_filters_the_list_and_uninstalled_are_separate(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = verifying.kinds(project)
    broken = structs.replace(kinds[1], name="absent", broken="It needs Pillow. Run: pip install --pre it[extra]")
    monkeypatch.setattr(verifying, "kinds", lambda _: [kinds[0], broken, *kinds[1:]])
    async with opened(project) as (app, pilot):
        await press(pilot, "a")
        screen = app.screen
        assert isinstance(screen, PickMenu)
        assert screen.listed[0].value == "rules"
        assert screen.listed[-1].value == "absent"
        last = screen.query_one(OptionList).options[-1]
        assert last.disabled
        assert "not installed: It needs Pillow." in str(last.prompt)
        await press(pilot, *"judge")
        assert [one.value for one in screen.listed][:1] == ["llm-judge"], "before those that consist of judges"
        await press(pilot, *["backspace"] * 5, "4", "[", "enter")
        assert (screen.listed, app.screen) == ([], screen)
        await press(pilot, *["backspace"] * 2, *"stand-alone")
        assert [one.value for one in screen.listed] == ["choice-letter"]
        await press(pilot, *["backspace"] * 11, *"absent", "enter")
        assert app.screen is screen


def looked_at(project: Project) -> set[int]:
    """Return the row ids of revealed items."""
    query = "SELECT subject FROM label_events WHERE kind = 'reveal' AND task = 'correctness'"
    return {item for (item,) in project.database.reader().execute(query)}


def with_long_ids(shown: ShownTrial) -> ShownTrial:
    """Return the same trial of items with long ids that differ only at their ends."""
    evidence = tuple(
        structs.replace(
            one, line=structs.replace(one.line, completion_id=f"{'0123456789ab' * 4}{one.line.completion_id}")
        )
        for one in shown.trial.evidence
    )
    return shown._replace(trial=structs.replace(shown.trial, evidence=evidence))


async def test_verifier_is_tried_on_five_items_without_storing_anything(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, "a")
        form = await choose(app, pilot, "exact")
        for _ in range(2):
            await pilot.press("ctrl+t")
            await until(pilot, lambda: isinstance(app.screen, TrialScreen))
            tried: object = app.screen
            assert isinstance(tried, TrialScreen)
            assert len(tried.shown.items) == 5
            text = str(trial_text(tried.shown))
            for item in tried.shown.items:
                assert item.question[:40] in text
            assert "0123456789ab" not in str(trial_text(with_long_ids(tried.shown)))
            assert f"…9ab{tried.shown.items[0].completion_id}" in str(trial_text(with_long_ids(tried.shown)))
            assert text.count("· gold ") == text.count("reference ") == 5
            assert looked_at(project) == {item.id for item in tried.shown.items}, "seeing gold is a reveal"
            assert run_status.runs(project) == []
            await press(pilot, "escape")
            assert app.screen is form
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await until(pilot, lambda: any(run.state == "complete" for run in screen_of(app).runs))
        assert [(run.verifier, run.items) for run in run_status.runs(project)] == [("exact", ITEMS)]


@pytest.mark.soak
async def test_options_are_described_fields_and_saved_under_a_name(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, "a")
        form = await choose(app, pilot, "rouge-l")
        await until(pilot, lambda: form.query("#option-of"))
        field(form, "of").value, field(form, "threshold").value = "final", "2"
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: field(form, "threshold").wrong)
        assert app.screen is form
        field(form, "threshold").value, field(form, "name").value = "0.7", "rouge-final"
        await press(pilot, "f6")
        written = project.path.with_name("workbench.toml")
        await until(pilot, written.exists)
        assert 'of = "final"' in written.read_text()
