"""Runs on model servers as shown by front ends: transcripts, costs, an estimate before the start."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.served_runs import VERIFIER, HereRunner, here, options
from tests.servers.scripted import Received, Scripted, ScriptedServer, chat_reply, scripted
from workbench.core.database.hashes import secret
from workbench.core.errors import StoreError, UsageError
from workbench.core.selection import Selection
from workbench.interchange.exporting import ExportOptions, Table, export
from workbench.llm.endpoint import Endpoint, PreparedRequest
from workbench.llm.records import JournaledCall, Request, Response
from workbench.runs import run_status
from workbench.runs.journal import RunJournal
from workbench.runs.run_status import estimate, run_costs
from workbench.runs.transcripts import transcript, transcripts_of

ITEMS = 10
PRICES = '[prices."m"]\ninput = 1.0\noutput = 10.0\ndate = "2026-11-01"\n'


def answer(received: Received) -> str | Scripted:
    text = received.body["messages"][0]["content"]
    if text.endswith(" 9."):
        return Scripted(400, body={"error": {"message": "too odd"}})
    return Scripted(body=chat_reply("Yes", message={"reasoning_content": "I think so."}))


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[HereRunner]:
    with here(tmp_path, ITEMS) as made:
        yield made


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(answer) as made:
        yield made


def priced(runs: HereRunner) -> None:
    (runs.project.path.parent / "workbench.toml").write_text(PRICES)


def test_a_transcript_shows_requests_and_replies_verbatim(runs: HereRunner, server: ScriptedServer) -> None:
    priced(runs)
    runs.start(server.url, calls=2)
    (found,) = transcripts_of(runs.project, VERIFIER, "c3")
    assert (found.verdict, found.reason, found.question_id, found.trace) == ("correct", "asked", "q3", {"asked": 2})
    assert [vote.verdict for vote in found.votes] == ["correct", "correct"]
    assert [(call.step, call.role, call.sample, call.reused) for call in found.calls] == [
        ("ask 0", "judge", 0, False),
        ("ask 1", "judge", 1, False),
    ]
    first = found.calls[0]
    assert first.request.encode() in {received.raw for received in server.received}
    assert json.loads(first.request)["messages"][0]["content"].endswith("It is 3.")
    assert json.loads(first.response)["choices"][0]["message"]["content"] == "Yes"
    assert (first.text, first.reasoning, first.finish_reason) == ("Yes", "I think so.", "stop")
    assert (first.prompt_tokens, first.completion_tokens) == (100, 20)
    assert first.cost == pytest.approx((100 * 1 + 20 * 10) / 1e6)


def test_transcripts_of_errors_have_a_reason_and_need_a_verdict(runs: HereRunner, server: ScriptedServer) -> None:
    runs.start(server.url, selection=Selection((), ITEMS))
    (found,) = transcripts_of(runs.project, VERIFIER, "c9")
    assert (found.verdict, found.reason, found.calls) == ("error", "bad_request", [])
    assert "too odd" in (found.detail or "")
    with pytest.raises(UsageError, match="no verdict on a completion 'c10'"):
        transcripts_of(runs.project, VERIFIER, "c10")
    with pytest.raises(UsageError, match="no verdict on this item"):
        transcript(runs.project, 1, 999)


def test_costs_have_spent_and_expected_amounts(runs: HereRunner, server: ScriptedServer) -> None:
    priced(runs)
    ended = runs.start(server.url, max_calls=5, concurrency=1)
    costs = run_costs(runs.project, ended)
    each = (100 * 1 + 20 * 10) / 1e6
    assert costs.attempts == {"unsent": 0, "sent": 0, "failed": 0, "done": 5}
    assert (costs.spent.calls, costs.spent.tokens) == (5, 600)
    assert costs.spent.cost == pytest.approx(5 * each)
    assert costs.possibly_spent.calls == 0
    assert costs.to_finish is not None
    assert costs.to_finish.calls == 5
    assert costs.to_finish.cost == pytest.approx(5 * each)


def test_a_money_budget_is_respected(runs: HereRunner, server: ScriptedServer) -> None:
    priced(runs)
    ended = runs.start(server.url, max_cost=0.0025, concurrency=2)
    assert ended.state == "paused"
    assert ended.usage is not None
    assert 0 < (ended.usage.cost or 0) <= 0.0025
    assert ended.done == len(server.received) < ITEMS


def test_an_estimate_counts_calls_tokens_and_money_without_a_call(runs: HereRunner, server: ScriptedServer) -> None:
    found = estimate(runs.project, VERIFIER, options(server.url, calls=3), None, Selection())
    assert found is not None
    assert (found.items, found.calls, found.completion_tokens, found.cost) == (ITEMS, 30, 30 * 100, None)
    assert 30 * 10 < found.prompt_tokens < 30 * 100
    priced(runs)
    found = estimate(runs.project, VERIFIER, options(server.url, calls=3), None, Selection((), 4))
    assert found is not None
    assert (found.items, found.calls) == (4, 12)
    assert found.cost == pytest.approx((found.prompt_tokens * 1 + found.completion_tokens * 10) / 1e6, rel=0.02)
    assert server.received == []
    assert estimate(runs.project, "exact", {}, None, Selection()) is None


def test_an_estimate_excludes_stored_replies(runs: HereRunner, server: ScriptedServer) -> None:
    runs.start(server.url, selection=Selection((), 4))
    found = estimate(runs.project, VERIFIER, options(server.url), None, Selection())
    assert found is not None
    assert (found.items, found.calls) == (ITEMS - 4, ITEMS - 4)
    nothing = estimate(runs.project, VERIFIER, options(server.url), None, Selection((), 4))
    assert nothing is not None
    assert (nothing.items, nothing.calls, nothing.prompt_tokens) == (0, 0, 0)


def test_no_export_carries_the_secret_or_a_call(runs: HereRunner, server: ScriptedServer, tmp_path: Path) -> None:
    runs.start(server.url)
    key = secret(runs.project.database.reader())
    assert len(key) == 32
    tables: tuple[Table, ...] = ("items", "verdicts")
    for table in tables:
        path = tmp_path / f"{table}.csv"
        export(runs.project, ExportOptions(file=path, format="csv", table=table))
        content = path.read_bytes()
        assert key not in content
        assert key.hex().encode() not in content
        assert b"I think so." not in content


@pytest.mark.few(4)
@pytest.mark.parametrize("config", ["", "[]", '{"options": {"model": 7}, "config": {}}', '{"options": {}}'])
def test_a_foreign_configuration_is_rejected_with_a_message(
    runs: HereRunner, server: ScriptedServer, config: str
) -> None:
    runs.start(server.url)
    with runs.project.database.write() as connection:
        connection.execute("UPDATE verifiers SET config = ?", (config,))
    with pytest.raises(StoreError, match=r"configuration of .* can't be read"):
        run_status.runs(runs.project)


def test_calls_are_prepared_ahead_of_their_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[int] = []
    before_the_first_reply: list[tuple[int, int]] = []
    prepare, done = Endpoint.prepare, RunJournal.done

    def counting(self: Endpoint, request: Request, sample: int) -> PreparedRequest:
        prepared.append(sample)
        return prepare(self, request, sample)

    def noting(self: RunJournal, attempt: int, call: JournaledCall, response: Response) -> None:
        before_the_first_reply.append((len(prepared), len(asked.received)))
        done(self, attempt, call, response)

    monkeypatch.setattr(Endpoint, "prepare", counting)
    monkeypatch.setattr(RunJournal, "done", noting)
    with here(tmp_path, 40) as runs, scripted(lambda _: "Yes", latency_s=1.0) as asked:
        runs.start(asked.url, concurrency=16)
        assert len(asked.received) == 40
    assert before_the_first_reply[0] == (18, 16), "two more are ready, and wait for a place"
