"""Runs on model servers, in this process: requests, storage, costs, rejections, stops and retries."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.background import stored
from tests.helpers import add_items, numbered
from tests.served_runs import HereRunner, check_sums, here, options
from tests.servers.scripted import Received, Scripted, ScriptedServer, scripted
from workbench.core.database.connection import Database
from workbench.core.errors import RunError, UsageError
from workbench.core.run import RunInfo
from workbench.core.selection import Selection
from workbench.core.verdict import VerifierInput
from workbench.llm import gate
from workbench.runs import serving, session
from workbench.runs.run_status import run_costs, run_info
from workbench.runs.store import verdicts
from workbench.runs.store.verifier_inputs import inputs
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import cancel, pause, resume, start
from workbench.verifiers.judging import judged_by_server

ITEMS = 30


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[HereRunner]:
    with here(tmp_path, ITEMS) as made:
        yield made


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(lambda received: "Yes") as made:
        yield made


def refusing(status: int, what: Callable[[str], bool], message: str = "no") -> Callable[[Received], str | Scripted]:
    """Refuse the requests whose text is such; say Yes to the others."""

    def answer(received: Received) -> str | Scripted:
        if what(received.body["messages"][0]["content"]):
            return Scripted(status, body={"error": {"message": message}})
        return "Yes"

    return answer


def test_every_item_is_requested_once_and_its_calls_are_stored(runs: HereRunner, server: ScriptedServer) -> None:
    ended = runs.start(server.url)
    assert (ended.state, ended.done, ended.verdicts) == (
        "complete",
        ITEMS,
        {"correct": ITEMS, "incorrect": 0, "abstain": 0, "error": 0},
    )
    assert len(server.received) == ITEMS
    used = ended.usage
    assert used is not None
    assert (used.calls, used.answered, used.failed, used.reused) == (ITEMS, ITEMS, 0, 0)
    assert (used.prompt_tokens, used.completion_tokens, used.unpriced) == (100 * ITEMS, 20 * ITEMS, ITEMS)
    assert (used.in_flight, used.errors) == (0, {})
    sent = {received.raw for received in server.received}
    assert {body for (body,) in runs.sql("SELECT body FROM requests")} == sent
    assert runs.sql("SELECT count(DISTINCT completion_id), sum(reused) FROM verdict_calls") == [(ITEMS, 0)]
    check_sums(runs.project, ended)


def test_an_attempt_is_committed_before_it_is_sent(runs: HereRunner) -> None:
    journalled: list[int] = []

    def answer(received: Received) -> str:
        # The server's thread has its own reader: it sees what is committed.
        journalled.append(runs.sql("SELECT count(*) FROM attempts WHERE state = 'sent'")[0][0])
        return "Yes"

    with scripted(answer) as server:
        runs.start(server.url, concurrency=1)
    assert journalled == [1] * ITEMS


def test_another_parser_reuses_the_stored_replies(runs: HereRunner, server: ScriptedServer) -> None:
    runs.start(server.url)
    again = runs.start(server.url, name="again", parser="judgment")
    assert len(server.received) == ITEMS
    assert again.verdicts is not None
    assert again.verdicts["incorrect"] == ITEMS
    assert again.usage is not None
    assert (again.usage.calls, again.usage.reused, again.usage.items_reused) == (0, ITEMS, ITEMS)
    half = runs.start(server.url, name="half", calls=2)
    assert half.usage is not None
    assert (half.usage.calls, half.usage.reused, half.usage.items_reused) == (ITEMS, ITEMS, 0)


def test_votes_are_stored_with_the_verdict(runs: HereRunner) -> None:
    replies = iter(["Yes", "No", "No"] * ITEMS)
    with scripted(lambda received: next(replies)) as server:
        ended = runs.start(server.url, calls=3, concurrency=1)
    assert (ended.done, ended.verdicts) == (ITEMS, {"correct": 0, "incorrect": ITEMS, "abstain": 0, "error": 0})
    assert runs.sql("SELECT sample, sum(outcome) FROM verdicts GROUP BY sample") == [(0, 0), (1, ITEMS), (2, 0), (3, 0)]
    assert runs.sql("SELECT DISTINCT trace FROM verdict_traces") == [('{"asked":3}',)]
    assert len(list(verdict_lines(runs.project, "asker"))) == ITEMS


def test_a_rejected_call_is_an_error_of_its_item_only(runs: HereRunner) -> None:
    with scripted(refusing(400, lambda text: text.endswith(" 7."), "the prompt is too long")) as server:
        ended = runs.start(server.url, concurrency=1)
    assert ended.state == "complete"
    assert ended.reasons == {"asked": ITEMS - 1, "context_length": 1}
    (failed,) = (line for line in verdict_lines(runs.project, "asker") if line.verdict == "error")
    assert failed.completion_id == "c7"
    assert "too long" in (failed.detail or "")
    check_sums(runs.project, ended)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("completion", "detail"),
    [
        ("raise", "ValueError: no such thing"),
        ("nonsense", "the verifier returned a str instead of a Judged"),
        ("no number", "Expected `float | null`, got `str` - at `$.verdict.score`"),
        ("no plain trace", "Encoding objects of type Asker is unsupported"),
    ],
)
def test_a_verifier_fault_is_an_error_of_its_item_only(
    runs: HereRunner, server: ScriptedServer, completion: str, detail: str
) -> None:
    runs.add(completion)
    ended = runs.start(server.url)
    assert ended.state == "complete"
    assert ended.reasons == {"asked": ITEMS, "internal": 1}
    (failed,) = (line for line in verdict_lines(runs.project, "asker") if line.verdict == "error")
    assert detail in (failed.detail or "")


def test_a_verifier_without_memory_fails_the_run(runs: HereRunner, server: ScriptedServer) -> None:
    runs.add("no memory")
    assert runs.start(server.url).state == "failed"


def test_a_wrong_key_pauses_the_run_without_verdicts(runs: HereRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-very-secret-value")
    with scripted(refusing(401, lambda text: True, "wrong key sk-very-secret-value")) as server:
        ended = runs.start(server.url, api_key_env="SOME_KEY")
    assert (ended.state, ended.done) == ("paused", 0)
    assert ended.message is not None
    assert "SOME_KEY" in ended.message
    assert "very-secret" not in ended.message
    assert not any("very-secret" in line for line in _dump(runs))


def test_a_budget_is_exact_and_can_be_raised(runs: HereRunner, server: ScriptedServer) -> None:
    ended = runs.start(server.url, max_calls=12)
    assert (ended.state, ended.done, len(server.received)) == ("paused", 12, 12)
    assert "12 of 12 calls" in (ended.message or "")
    assert runs.resume(ended.run).state == "paused"
    assert len(server.received) == 12
    whole = runs.start(server.url, max_calls=1_000)
    assert (whole.run, whole.state, whole.done, len(server.received)) == (ended.run, "complete", ITEMS, ITEMS)


def test_a_verifier_that_ignores_its_reply_has_no_verdict(runs: HereRunner, server: ScriptedServer) -> None:
    runs.add("swallow")
    ended = runs.start(server.url, max_calls=0)
    assert (ended.state, ended.done) == ("paused", 0)


def test_errors_are_retried_only_on_request(runs: HereRunner) -> None:
    broken = [True]

    def answer(received: Received) -> str | Scripted:
        odd = received.body["messages"][0]["content"].endswith("5.")
        if broken[0] and odd and held.times_received(received) == 2:
            return Scripted(400, body={"error": {"message": "bad"}})
        return "Yes"

    with scripted(answer) as held:
        first = runs.start(held.url, calls=2)
        assert first.reasons == {"asked": ITEMS - 3, "bad_request": 3}
        assert len(held.received) == 2 * ITEMS
        broken[0] = False
        assert runs.resume(first.run).reasons == first.reasons
        again = runs.resume(first.run, retry_errors=True)
        assert (again.state, again.reasons) == ("complete", {"asked": ITEMS})
        assert len(held.received) == 2 * ITEMS + 3
    assert runs.sql("SELECT count(*), sum(reused) FROM verdict_calls") == [(2 * ITEMS, 3)]
    check_sums(runs.project, again)


def test_errors_are_not_retracted_while_the_run_is_active(runs: HereRunner, server: ScriptedServer) -> None:
    begun = start(runs.project, "asker", options(server.url))
    with pytest.raises(RunError, match="is active"):
        resume(runs.project, begun.run, retry_errors=True)


def test_items_added_later_are_judged_by_the_next_start(runs: HereRunner, server: ScriptedServer) -> None:
    runs.start(server.url)
    add_items(runs.project.database, numbered(4, dataset="more"))
    again = runs.start(server.url)
    assert (again.state, again.done) == ("complete", ITEMS + 4)
    assert len(server.received) == ITEMS + 2 * 2


def test_options_that_change_no_verdict_may_change_and_others_may_not(runs: HereRunner, server: ScriptedServer) -> None:
    ended = runs.start(server.url, selection=Selection((), 3), rpm=100_000)
    runs.start(f"{server.url}/", selection=Selection((), 4), timeout=7)
    assert runs.sql(
        "SELECT json_extract(config, '$.options.timeout'), json_extract(config, '$.options.rpm') FROM verifiers"
    ) == [("7", None)]
    with pytest.raises(UsageError, match=r"has another configuration: temperature is 0\.0, not 1\.0"):
        start(runs.project, "asker", options(server.url, temperature=1))
    assert run_info(runs.project, ended.run).done == 4


@pytest.mark.parametrize(("ask", "state"), [(pause, "paused"), (cancel, "cancelled")])
def test_a_stopped_run_waits_for_calls_in_flight_and_starts_none(
    runs: HereRunner, ask: Callable[[Any, int], RunInfo], state: str
) -> None:
    asked, go = threading.Event(), threading.Event()

    def answer(received: Received) -> Scripted:
        if len(held.received) == 5:
            asked.set()
        return Scripted(hold=go, body=_yes())

    def stop() -> None:
        asked.wait()
        ask(runs.project, 1)
        while not runs.sql("SELECT 1 FROM runs WHERE request IS NOT NULL"):
            pass
        go.set()

    with scripted(answer) as held:
        thread = threading.Thread(target=stop)
        thread.start()
        ended = runs.start(held.url, concurrency=5)
        thread.join()
        assert (ended.state, ended.done) == (state, len(held.received))
        assert run_costs(runs.project, ended).ambiguous == []
        check_sums(runs.project, ended)
        assert runs.resume(ended.run).state == "complete"
        assert len(held.received) == ITEMS


def test_calls_without_a_reply_when_the_grace_is_over_are_listed(
    runs: HereRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "GRACE_S", 0.0)
    never, asked = threading.Event(), threading.Event()

    def answer(received: Received) -> Scripted:
        if len(held.received) == 5:
            asked.set()
        return Scripted(hold=never)

    def stop() -> None:
        asked.wait()
        cancel(runs.project, 1)

    with scripted(answer) as held:
        thread = threading.Thread(target=stop)
        thread.start()
        ended = runs.start(held.url, concurrency=5)
        thread.join()
        received = len(held.received)
        never.set()
    costs = run_costs(runs.project, ended)
    assert (ended.state, ended.done, received) == ("cancelled", 0, 5)
    assert costs.attempts == {"unsent": 0, "sent": 5, "failed": 0, "done": 0}
    assert {call.completion_id for call in costs.ambiguous} == {f"c{number}" for number in range(5)}
    assert all(call.sent_at.endswith("Z") and held.url in call.url for call in costs.ambiguous)
    assert costs.possibly_spent.calls == 5


def test_neither_tasks_nor_items_in_memory_grow_with_the_items(
    runs: HereRunner, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_items(runs.project.database, numbered(600, dataset="more"))
    read = begun = most_tasks = most_ahead = 0

    def reading(database: Database, items: list[int]) -> list[VerifierInput]:
        nonlocal read
        read += len(items)
        return inputs(database, items)

    async def counting(*arguments: Any) -> Any:
        nonlocal begun, most_tasks, most_ahead
        begun += 1
        most_tasks, most_ahead = max(most_tasks, len(asyncio.all_tasks())), max(most_ahead, read - begun)
        return await judged_by_server(*arguments)

    monkeypatch.setattr(verdicts, "inputs", reading)
    monkeypatch.setattr(serving, "judged_by_server", counting)
    assert runs.start(server.url, concurrency=8).state == "complete"
    assert 8 <= most_tasks <= 8 + 12
    assert 8 < most_ahead < 200


def test_an_unreachable_server_pauses_the_run_without_cost(runs: HereRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_MAX_BACKOFF_S", 0.0)
    ended = runs.start("http://127.0.0.1:9/v1", concurrency=1)
    assert ended.state == "paused"
    assert "can't be reached" in (ended.message or "")
    costs = run_costs(runs.project, ended)
    assert (costs.possibly_spent.calls, costs.spent.calls, stored(runs.project, ended.run)) == (0, 0, set())


def _yes() -> dict[str, Any]:
    from tests.servers.scripted import chat_reply

    return chat_reply("Yes")


def _dump(runs: HereRunner) -> list[str]:
    """Every value of every table as text."""
    tables = [name for (name,) in runs.sql("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return [str(row) for table in tables for row in runs.sql(f"SELECT * FROM {table}")]
