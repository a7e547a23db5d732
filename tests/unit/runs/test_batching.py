"""Batched runs: the same verdicts, no duplicate requests, half the price."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.background import runner_pid, until
from tests.helpers import make_project
from tests.served_runs import HereRunner, check_sums, here_on, rows
from tests.servers.batches import BatchProvider, batching, judge_reply
from tests.servers.wire import Scripted
from workbench.app.cli import root
from workbench.core.errors import RunError, UsageError
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.selection import Selection
from workbench.runs.batching import MAX_ATTEMPTS
from workbench.runs.run_status import estimate, run_costs, run_info, wait
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import cancel, pause, resume, start

KINDS = ("openai", "anthropic", "gemini", "mistral")
JUDGE = "llm-judge"
SAMPLE = Path(__file__).parents[3] / "sample_data" / "tuples.jsonl"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCH_KEY", "sk-batches")


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[HereRunner]:
    with here_on(make_project(tmp_path, rows(40))) as made:
        yield made


@pytest.fixture
def openai() -> Iterator[BatchProvider]:
    with batching("openai", judge_reply) as made:
        yield made


def sample(count: int) -> list[dict[str, Any]]:
    """Items of our own sample data."""
    found = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()[:count]]
    names = ("question_id", "completion_id", "question", "completion")
    return [{name: row[name] for name in names} | {"reference": row["answer"]} for row in found]


def folder(inside: Path, name: str) -> Path:
    made = inside / name
    made.mkdir()
    return made


def run_batched(runs: HereRunner, provider: BatchProvider, name: str = "batched", **more: object) -> RunInfo:
    """Run in batches until this runner has nothing left to do, and return the run."""
    runs.claim()
    begun = start(runs.project, JUDGE, provider.options(**more), name, in_batches=True)
    return runs.work(begun.run)


def verdicts(project: Project, name: str) -> dict[str, tuple[object, ...]]:
    """Map each completion to (verdict, score, reason)."""
    lines = verdict_lines(project, name)
    return {line.completion_id: (line.verdict, line.score, line.reason) for line in lines}


def total(provider: BatchProvider, info: RunInfo) -> None:
    """Each request was made once, and the run counts what the provider does."""
    assert set(provider.made.values()) == {1}
    assert info.usage is not None
    assert (info.usage.calls, info.usage.open) == (provider.made.total(), 0)


@pytest.mark.few(3)
@pytest.mark.parametrize(("kind", "more"), [*((kind, {}) for kind in KINDS), ("openai", {"model": "gpt-5-pro"})])
def test_a_batch_equals_single_calls_at_half_the_price(tmp_path: Path, kind: str, more: dict[str, str]) -> None:
    """Two projects share no replies; without delimiters their requests are equal."""
    with batching(kind, judge_reply) as provider:
        with here_on(make_project(folder(tmp_path, "1"), sample(79))) as runs:
            single = runs.work(start(runs.project, JUDGE, provider.options(fence="off", **more), "judge").run)
            said = verdicts(runs.project, "judge")
        with here_on(make_project(folder(tmp_path, "2"), sample(79))) as runs:
            batched = run_batched(runs, provider, "judge", fence="off", **more)
            assert verdicts(runs.project, "judge") == said
            check_sums(runs.project, batched)
        assert len(said) == batched.done == 79
        assert batched.reasons == single.reasons
        total(provider, batched)
        assert provider.made == provider.calls
        assert single.usage is not None
        assert batched.usage is not None
        assert batched.usage.cost is not None
        assert batched.usage.cost == pytest.approx((single.usage.cost or 0.0) / 2, rel=0.01)
        assert (batched.usage.prompt_tokens, batched.usage.reused) == (single.usage.prompt_tokens, single.usage.reused)


def test_batched_replies_are_reused_by_single_calls(runs: HereRunner, openai: BatchProvider) -> None:
    run_batched(runs, openai)
    asked = openai.calls.total()
    runs.claim()
    again = runs.work(start(runs.project, JUDGE, openai.options(parser="verifybench@1"), "again").run)
    assert again.usage is not None
    # Only failed calls are repeated.
    assert openai.calls.total() - asked == (again.verdicts or {})["error"] < 10 < again.usage.reused


# -- kill -9


def killed_at(project: Project, provider: BatchProvider, step: str, options: dict[str, str]) -> int:
    """A run whose runner is killed when the provider has done a step, and before it hears of that."""
    run = start(project, JUDGE, options, "batched", in_batches=True).run
    until(lambda: provider.steps[step] > 0)
    pid = runner_pid(project)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: runner_pid(project) is None)
    return run


STEPS = ("upload", "create", "status", "results")
KILLS = [
    pytest.param(kind, step, marks=() if (kind, step) in zip(KINDS, STEPS, strict=True) else pytest.mark.soak)
    for kind in KINDS
    for step in STEPS
    if (kind, step) != ("anthropic", "upload")  # its calls go along with the batch
]
"""Each kind at one step, each step with one kind; all in soak."""


@pytest.mark.few(4)
@pytest.mark.parametrize(("kind", "step"), KILLS)
def test_a_runner_killed_at_any_step_repeats_no_request(tmp_path: Path, kind: str, step: str) -> None:
    project = make_project(tmp_path, rows(40))
    with batching(kind, judge_reply) as provider:
        provider.holds[step] = threading.Event()
        run = killed_at(project, provider, step, provider.options())
        provider.holds.pop(step).set()
        resume(project, run)
        ended = wait(project, run)
        assert (ended.state, ended.done) == ("complete", 40)
        total(provider, ended)
        assert [calls for _, calls in provider.batches] == [40]
        assert run_costs(project, ended).ambiguous == []
        check_sums(project, ended)
    project.close()


@pytest.mark.soak
def test_a_runner_killed_before_anything_was_sent_sends_it_once(tmp_path: Path, openai: BatchProvider) -> None:
    project = make_project(tmp_path, rows(40))
    openai.refused.add("upload")
    run = killed_at(project, openai, "upload", openai.options())
    assert openai.batches == []
    openai.refused.clear()
    resume(project, run)
    ended = wait(project, run)
    assert (ended.state, openai.uploads, openai.batches) == ("complete", 1, [("batch_0", 40)])
    total(openai, ended)
    project.close()


@pytest.mark.soak
def test_a_runner_killed_while_storing_resumes_with_the_rest(tmp_path: Path, openai: BatchProvider) -> None:
    project = make_project(tmp_path, rows(40))
    openai.expires = 4
    openai.holds["errors"] = threading.Event()
    run = start(project, JUDGE, openai.options(), "batched", in_batches=True).run
    stored = "SELECT count(*) FROM responses"
    until(lambda: project.database.reader().execute(stored).fetchone()[0] > 30)
    os.kill(runner_pid(project) or 0, signal.SIGKILL)
    until(lambda: runner_pid(project) is None)
    openai.holds.pop("errors").set()
    resume(project, run)
    ended = wait(project, run)
    assert (ended.state, [calls for _, calls in openai.batches]) == ("complete", [40, 4])
    assert ended.usage is not None
    assert ended.usage.answered + ended.usage.failed == ended.usage.calls == 40
    check_sums(project, ended)
    project.close()


# -- what comes of a batch


def test_expired_requests_are_repeated_and_counted(runs: HereRunner, openai: BatchProvider) -> None:
    openai.expires, openai.strangers = 5, 3
    ended = run_batched(runs, openai)
    assert [calls for _, calls in openai.batches] == [40, 5]
    assert ended.usage is not None
    assert (ended.usage.unsent, ended.usage.errors["timeout"], ended.usage.answered + ended.usage.failed) == (5, 5, 40)
    warnings = " ".join(ended.usage.warnings)
    assert "3 results of batch batch_0 belong to no call of it" in warnings
    assert "Some calls of batch batch_0 are repeated: 5 timeout" in warnings


def test_repeated_failures_are_errors_until_retry_errors(runs: HereRunner) -> None:
    broken = {"on": True}

    def reply(body: Any) -> dict[str, Any] | Scripted:
        if broken["on"] and "It is 7." in json.dumps(body):
            return Scripted(500, body={"error": {"message": "on fire"}})
        return judge_reply(body)

    with batching("openai", reply) as provider:
        ended = run_batched(runs, provider)
        assert [calls for _, calls in provider.batches] == [40] + [1] * (MAX_ATTEMPTS - 1)
        assert verdicts(runs.project, "batched")["c7"] == ("error", None, "server")
        broken["on"] = False
        runs.claim()
        resume(runs.project, ended.run, retry_errors=True)
        again = runs.work(ended.run)
        assert (again.state, (again.reasons or {}).get("server")) == ("complete", None)


def test_rejection_of_every_call_pauses_the_run_without_verdicts(runs: HereRunner) -> None:
    good = {"on": False}

    def reply(body: Any) -> dict[str, Any] | Scripted:
        refusal = Scripted(400, body={"error": {"message": "temperature: no such field here"}})
        return judge_reply(body) if good["on"] else refusal

    with batching("openai", reply) as provider:
        ended = run_batched(runs, provider)
        assert (ended.state, ended.done) == ("paused", 0)
        assert "temperature: no such field here" in (ended.message or "")
        good["on"] = True
        runs.claim()
        resume(runs.project, ended.run)
        assert runs.work(ended.run).state == "complete"


def test_a_rejected_batch_pauses_the_run(runs: HereRunner, openai: BatchProvider) -> None:
    openai.refuses = lambda calls: ("model_not_found", "The provided model is not supported by the Batch API.")
    ended = run_batched(runs, openai)
    assert (ended.state, ended.done, openai.made.total()) == ("paused", 0, 0)
    assert "not supported by the Batch API" in (ended.message or "")
    openai.refuses = lambda calls: None
    runs.claim()
    resume(runs.project, ended.run)
    assert runs.work(ended.run).state == "complete"
    assert set(openai.made.values()) == {1}


def test_a_provider_that_rejects_large_batches_gets_small_ones(runs: HereRunner, openai: BatchProvider) -> None:
    openai.refuses = lambda calls: ("token_limit_exceeded", "Enqueued token limit reached") if calls > 12 else None
    ended = run_batched(runs, openai)
    assert ended.state == "complete"
    taken = [calls for name, calls in openai.batches if calls <= 12]
    assert (sum(taken), openai.made.total()) == (40, 40)
    assert set(openai.made.values()) == {1}


def test_batches_respect_the_size_limit_of_the_provider(
    runs: HereRunner, openai: BatchProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.llm.batches.files.BatchApi.most_calls", 15)
    ended = run_batched(runs, openai)
    assert (ended.state, [calls for _, calls in openai.batches]) == ("complete", [15, 15, 10])


@pytest.mark.soak
def test_a_wrong_key_pauses_the_run_with_the_server_message(runs: HereRunner, openai: BatchProvider) -> None:
    openai.wrong_key = True
    ended = run_batched(runs, openai)
    assert (ended.state, ended.done) == ("paused", 0)
    assert "Incorrect API key provided." in (ended.message or "")


# -- money


@pytest.mark.soak
def test_a_batch_respects_the_budget(runs: HereRunner, openai: BatchProvider) -> None:
    one = estimate(runs.project, JUDGE, openai.options(), "batched", Selection(limit=1), in_batches=True)
    assert one is not None
    assert one.cost is not None
    ended = run_batched(runs, openai, max_cost=one.cost * 5.5)
    assert openai.batches[0] == ("batch_0", 5)
    assert ended.usage is not None
    assert (ended.usage.cost or 0.0) <= one.cost * 5.5
    assert ended.state == "complete" or "The budget is used up" in (ended.message or "")
    assert set(openai.made.values()) == {1}


def test_open_batches_count_against_the_budget(
    runs: HereRunner, openai: BatchProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.llm.batches.files.BatchApi.most_calls", 10)

    def slower(calls: int) -> tuple[str, str] | None:
        openai.polls = 10  # the second batch ends later than the first
        return ("invalid_request", "no more") if len(openai.batches) > 2 else None

    openai.refuses = slower
    one = estimate(runs.project, JUDGE, openai.options(), "batched", Selection(limit=1), in_batches=True)
    assert one is not None
    tokens = (one.prompt_tokens or 0) + (one.completion_tokens or 0)
    run_batched(runs, openai, max_tokens_total=20 * tokens + tokens // 2)
    first, second, third, *_ = (calls for _, calls in openai.batches)
    assert (first, second) == (10, 10)
    assert third < 10


def test_an_insufficient_budget_sends_nothing(runs: HereRunner, openai: BatchProvider) -> None:
    ended = run_batched(runs, openai, max_cost=0.000001)
    assert (ended.state, openai.steps.total()) == ("paused", 0)
    assert "The budget is used up" in (ended.message or "")


def test_the_estimate_is_half(runs: HereRunner, openai: BatchProvider) -> None:
    asked = (runs.project, JUDGE, openai.options(), None, Selection())
    whole, half = estimate(*asked), estimate(*asked, in_batches=True)
    assert whole is not None
    assert half is not None
    assert half.cost == pytest.approx((whole.cost or 0.0) / 2)
    assert (half.calls, half.prompt_tokens) == (whole.calls, whole.prompt_tokens)


# -- several calls an item


def test_follow_up_calls_go_into_the_next_batch(runs: HereRunner, openai: BatchProvider) -> None:
    ended = run_batched(runs, openai, strategy="codejudge")
    assert ended.state == "complete"
    assert len(openai.batches) == 2
    assert set(openai.made.values()) == {1}


def test_all_samples_of_an_item_go_into_one_batch(runs: HereRunner, openai: BatchProvider) -> None:
    ended = run_batched(runs, openai, samples=3, seed=1)
    assert (ended.state, openai.batches) == ("complete", [("batch_0", 120)])


def test_a_panel_has_a_batch_for_each_model(runs: HereRunner, openai: BatchProvider) -> None:
    ended = run_batched(runs, openai, panel="gpt-4o")
    assert (ended.state, [calls for _, calls in openai.batches]) == ("complete", [40, 40])


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (JUDGE, {"server": "ollama", "base_url": "http://127.0.0.1:1/v1", "model": "m"}, "Ollama has no batch API"),
        (JUDGE, {"server": "openai", "model": "m", "strategy": "mcts"}, "too many rounds"),
        ("rules", {}, "rules does not support batches"),
    ],
)
def test_a_verifier_without_batches_is_rejected_by_name(
    runs: HereRunner, kind: str, options: dict[str, str], words: str
) -> None:
    asked = {"base_url": "http://127.0.0.1:1/v1", **options} if options else {}
    with pytest.raises(UsageError, match=words):
        start(runs.project, kind, asked, "x", in_batches=True)


# -- alongside other runs, paused, cancelled


@pytest.mark.soak
def test_other_runs_do_not_wait_for_a_batch(tmp_path: Path, openai: BatchProvider) -> None:
    openai.polls = 10**9
    project = make_project(tmp_path, rows(20))
    run = start(project, JUDGE, openai.options(), "batched", in_batches=True).run
    until(lambda: openai.steps["status"] > 0)
    assert wait(project, start(project, "rules").run).state == "complete"
    info = run_info(project, run)
    assert (info.state, info.waiting) == ("running", "waiting for a batch of 20 calls (in_progress)") or (
        info.state == "queued"
    )
    (batch,) = run_costs(project, info).batches
    assert (batch.name, batch.calls, batch.status) == ("batch_0", 20, "in_progress")
    openai.end()
    assert wait(project, run).state == "complete"
    project.close()


@pytest.mark.soak
def test_a_paused_run_resumes_with_its_batch_only(tmp_path: Path, openai: BatchProvider) -> None:
    openai.polls = 10**9
    project = make_project(tmp_path, rows(20))
    run = start(project, JUDGE, openai.options(), "batched", in_batches=True).run
    until(lambda: openai.steps["status"] > 0)
    pause(project, run)
    until(lambda: run_info(project, run).state == "paused")
    assert run_costs(project, run_info(project, run)).ambiguous == []
    with pytest.raises(RunError, match="waits for a batch"):
        start(project, JUDGE, openai.options(), "batched")
    openai.end()
    ended = wait(project, resume(project, run).run)
    assert (ended.state, openai.batches) == ("complete", [("batch_0", 20)])
    project.close()


@pytest.mark.few(2)
@pytest.mark.parametrize("at_work", [True, False])
def test_a_cancelled_run_cancels_its_batch_and_keeps_what_was_answered(
    tmp_path: Path, openai: BatchProvider, at_work: bool
) -> None:
    openai.polls = 10**9
    project = make_project(tmp_path, rows(20))
    run = start(project, JUDGE, openai.options(), "batched", in_batches=True).run
    until(lambda: openai.steps["status"] > 0)
    if not at_work:
        pause(project, run)
        until(lambda: run_info(project, run).state == "paused")
        until(lambda: runner_pid(project) is None)
    cancel(project, run)
    until(lambda: run_info(project, run).state == "cancelled")
    assert openai.cancels == ["batch_0"]
    openai.polls = 1
    ended = wait(project, resume(project, run).run)
    assert (ended.state, openai.batches) == ("complete", [("batch_0", 20), ("batch_1", 10)])
    project.close()


@pytest.mark.soak
def test_runs_show_names_the_open_batch(tmp_path: Path, openai: BatchProvider) -> None:
    openai.polls = 10**9
    project = make_project(tmp_path, rows(20))
    run = start(project, JUDGE, openai.options(), "batched", in_batches=True).run
    until(lambda: openai.steps["status"] > 0)
    until(lambda: run_costs(project, run_info(project, run)).batches[0].status)
    shown = CliRunner().invoke(root, ["runs", str(project.path), "show", str(run)]).output
    assert "batch batch_0: 20 calls, in_progress, since 20" in shown
    openai.end()
    assert wait(project, run).state == "complete"
    project.close()
