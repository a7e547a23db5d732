"""Runs that call a model server: confirmed with an estimate, watched with costs, paused with a reason, retried."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.background import runner_ends
from tests.helpers import make_project, numbered
from tests.servers.batches import batching, judge_reply
from tests.servers.scripted import Received, Scripted, chat_reply, scripted
from tests.tui.stage import notices, opened, press, settle, text_of, until
from tests.tui.test_runs import choose, field, tells
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.screens.start_run import TrialScreen
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.project import Project
from workbench.runs.run_status import run_info, runs

ITEMS = 6


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    with runner_ends(make_project(tmp_path, numbered(ITEMS))) as made:
        yield made


def configure(project: Project, url: str, *more: str) -> None:
    """Write a settings file as another user could have written it."""
    lines = ["[verifiers.my-judge]", 'kind = "llm-judge"', f'base_url = "{url}"', 'model = "qwen"', *more]
    project.path.with_name("workbench.toml").write_text("\n".join(lines))


async def ask_to_start(app: WorkbenchApp, pilot: Pilot[None]) -> None:
    """Choose the judge; the estimate comes next."""
    await press(pilot, *":v", "enter", "a")
    await choose(app, pilot, "my-judge")
    await pilot.press("ctrl+r")
    await until(pilot, lambda: type(app.screen).__name__ == "ConfirmScreen")
    await settle(pilot)


def question(app: WorkbenchApp) -> str:
    return text_of(app, "#confirm-box VerticalScroll Static")


def home_says(app: WorkbenchApp) -> str:
    found = app.screen.query("#home-briefing").results(OptionList)
    return " ".join(" ".join(str(one.prompt) for briefing in found for one in briefing.options).split())


def state(app: WorkbenchApp) -> str | None:
    runs = getattr(app.screen, "runs", [])
    return runs[0].state if runs else None


@pytest.mark.soak
async def test_nothing_is_sent_before_estimate_and_trust_are_confirmed(project: Project) -> None:
    with scripted(lambda received: "Final Judgment: Yes") as server:
        prices = ["[prices.qwen]", "input = 1.0", "output = 2.0", 'date = "2026-11-01"']
        configure(project, server.url, *prices)
        async with opened(project) as (app, pilot):
            await ask_to_start(app, pilot)
            assert f"About {ITEMS} calls for {ITEMS} items" in question(app)
            assert "at most $" in question(app)
            await press(pilot, "y")
            await until(pilot, lambda: "the server " in question(app) and server.url in question(app))
            await press(pilot, "escape")
            assert (state(app), server.received) == (None, [])
            await press(pilot, "escape")
            await ask_to_start(app, pilot)
            await press(pilot, "y")
            await until(pilot, lambda: "the server " in question(app))
            await press(pilot, "y")
            await until(pilot, lambda: state(app) == "complete")
            estimate = f"{ITEMS} calls · 600 tokens in, 120 out · $0.0008"
            await until(pilot, lambda: estimate in text_of(app, "#runs-run"))
            assert len(server.received) == ITEMS
            await press(pilot, "escape")
            await ask_to_start(app, pilot)
            assert "already has its verdict" in question(app)


class Moody:
    """Reject some requests, or all of them, until changed."""

    def __init__(self) -> None:
        self.refuses = "[[8]]"
        self.status = 400

    def __call__(self, received: Received) -> Scripted:
        if self.refuses in received.raw.decode().replace("\\\\boxed{8}", "[[8]]"):
            return Scripted(self.status, body={"error": {"message": "[/] no"}})
        return Scripted(body=chat_reply("Final Judgment: Yes"), headers={"x-workbench-recorded": "[bold]old[/].jsonl"})


@pytest.mark.soak
async def test_errors_are_counted_by_class_and_retried_by_key(project: Project) -> None:
    moody = Moody()
    with scripted(moody) as server:
        configure(project, server.url)
        async with opened(project) as (app, pilot):
            await ask_to_start(app, pilot)
            assert "cost unknown: no price" in question(app)
            await press(pilot, "y")
            await until(pilot, lambda: "the server " in question(app))
            await press(pilot, "y")
            await until(pilot, lambda: state(app) == "complete")
            counts = run_info(project, 1).verdicts
            assert counts is not None
            assert (counts["correct"], counts["error"]) == (3, 3)
            await until(pilot, lambda: "3 bad_request" in text_of(app, "#runs-run"))
            assert "recorded ones from [bold]old[/].jsonl" in text_of(app, "#runs-run")
            await press(pilot, "d")
            detail = text_of(app, "#run-detail Static")
            assert "failed: 3 bad_request" in detail
            await press(pilot, "escape")
            moody.refuses = "nothing at all"
            await press(pilot, "l")
            await until(pilot, lambda: state(app) == "complete" and len(server.received) == 2 * ITEMS - 3)
            await until(pilot, lambda: run_info(project, 1).verdicts == {**counts, "correct": 6, "error": 0})
    assert not any("Something went wrong" in notice for notice in notices(app))


@pytest.mark.soak
async def test_automatically_paused_run_says_why_and_resumes_by_key(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "not-shown-anywhere")
    moody = Moody()
    moody.refuses, moody.status = "qwen", 401
    with scripted(moody) as server:
        configure(project, server.url, 'api_key_env = "MY_KEY"')
        async with opened(project) as (app, pilot):
            await ask_to_start(app, pilot)
            await press(pilot, "y")
            await until(pilot, lambda: "with the key in MY_KEY" in question(app))
            await press(pilot, "y")
            await until(pilot, lambda: state(app) == "paused")
            await until(pilot, lambda: "MY_KEY" in text_of(app, "#runs-run"))
            notices_before = text_of(app, "#runs-run")
            assert "[/] no" in notices_before, "the server's message"
            assert "Check the key" in notices_before
            assert "r continues the run" in notices_before
            assert "not-shown-anywhere" not in notices_before
            await press(pilot, *":h", "enter")
            await until(pilot, lambda: "[/] no" in home_says(app))
            assert "my-judge (run 1) stopped by itself after 0 of 6" in home_says(app)
            assert "my-judge" not in text_of(app, "#home-standing Static"), "nothing is measured"
            await press(pilot, *":v", "enter")
            await until(pilot, lambda: state(app) == "paused")
            moody.refuses = "nothing at all"
            await press(pilot, "ctrl+r")
            await until(pilot, lambda: state(app) == "complete")
            assert run_info(project, 1).done == ITEMS


async def test_judge_is_configured_tested_and_started_without_repeated_calls(project: Project) -> None:
    with scripted(lambda received: "Final Judgment: Yes") as server:
        async with opened(project) as (app, pilot):
            await press(pilot, "a")
            form = await choose(app, pilot, "llm-judge")
            await until(pilot, lambda: form.query("#option-model"))
            await press(pilot, "ctrl+r")
            await until(pilot, lambda: field(form, "base_url").wrong or text_of(app, ".form-trouble"))
            field(form, "base_url").value, field(form, "model").value = server.url, "qwen"
            field(form, "name").value = "my-judge"
            await pilot.press("f5")
            await until(pilot, lambda: "qwen" in text_of(app, ".form-tested"))
            await pilot.press("ctrl+t")
            await until(pilot, lambda: isinstance(app.screen, TrialScreen))
            received = len(server.received)
            await pilot.press("ctrl+r")
            await until(pilot, lambda: type(app.screen).__name__ == "ConfirmScreen")
            await press(pilot, "y")
            await until(pilot, lambda: state(app) == "complete")
            assert [run.verifier for run in runs(project)] == ["my-judge"]
            assert len(server.received) == received + ITEMS - 5


@pytest.mark.soak
async def test_calls_are_sent_as_a_batch_that_is_watched(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCH_KEY", "sk-batches")
    with batching("openai", judge_reply) as provider:
        provider.polls = 10**6
        more = ['server = "openai"', 'api_key_env = "BATCH_KEY"']
        configure(project, provider.url, *more, "[prices.qwen]", "input = 10.0", "output = 20.0", 'date = "2026-11-01"')
        async with opened(project) as (app, pilot):
            await press(pilot, *":v", "enter", "a")
            form = await choose(app, pilot, "my-judge")
            assert field(form, "batch").value == "no"
            field(form, "batch").value = "yes"
            await pilot.press("ctrl+r")
            await until(pilot, lambda: "answered within a day" in question(app))
            await press(pilot, "y")
            await until(pilot, lambda: "the server " in question(app))
            await press(pilot, "y")
            await until(pilot, lambda: "waiting for a batch of 6 calls (in_progress)" in text_of(app, "#runs-run"))
            await press(pilot, "d")
            await until(pilot, lambda: "batch_0: 6 calls, in_progress, since " in text_of(app, "#run-detail Static"))
            await press(pilot, "escape")
            provider.end()
            await until(pilot, lambda: state(app) == "complete")
        assert (len(provider.batches), provider.calls.total(), provider.made.total()) == (1, 0, ITEMS)


async def test_server_without_batches_is_reported_at_the_field(project: Project) -> None:
    configure(project, "http://127.0.0.1:9/v1")
    async with opened(project) as (app, pilot):
        await press(pilot, *":v", "enter", "a")
        form = await choose(app, pilot, "my-judge")
        field(form, "batch").value = "yes"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: tells(form, "batch", "has no batch API; these have one: OpenAI"))
        assert app.screen is form
    assert runs(project) == []
