"""Runs whose server rejects every call: they pause with its message, and no item gets a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.served_runs import HereRunner, check_sums, here
from tests.servers.scripted import Received, Scripted, scripted
from workbench.core.options import TableForm
from workbench.llm.caller import ORIGIN_HEADER
from workbench.measuring.accuracy import accuracy
from workbench.measuring.accuracy_tables import accuracy_as

ITEMS = 12
WRONG = Scripted(400, body={"error": {"message": "top_k: extra fields not permitted"}})
LONG = Scripted(400, body={"error": {"message": "maximum context length is 8 tokens"}})


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[HereRunner]:
    with here(tmp_path, ITEMS) as made:
        yield made


def verdicts(runs: HereRunner) -> int:
    found: int = runs.sql("SELECT count(*) FROM verdicts")[0][0]
    return found


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "refusal",
    [
        Scripted(401, body={"error": {"message": "Incorrect API key provided"}}),
        Scripted(404, body={"error": {"message": "The model `m` does not exist"}}),
        WRONG,
        Scripted(422, body={"detail": [{"msg": "Extra inputs are not permitted"}]}),
        Scripted(200, body={"error": {"code": 400, "message": "m is not a valid model ID"}}),
    ],
)
@pytest.mark.parametrize("concurrency", [1, 20])
def test_rejection_of_every_call_pauses_the_run_with_the_message(
    runs: HereRunner, refusal: Scripted, concurrency: int
) -> None:
    with scripted(lambda _: refusal) as server:
        ended = runs.start(server.url, concurrency=concurrency)
        assert len(server.received) <= max(5, concurrency)
    assert (ended.state, ended.done, verdicts(runs)) == ("paused", 0, 0)
    words = ("Incorrect API key", "does not exist", "not permitted", "valid model ID")
    assert any(word in (ended.message or "") for word in words)
    check_sums(runs.project, ended)
    with scripted(lambda _: "Yes") as good:
        assert runs.start(good.url, concurrency=concurrency).verdicts == {
            "correct": ITEMS,
            "incorrect": 0,
            "abstain": 0,
            "error": 0,
        }


def test_at_the_end_fewer_rejections_suffice_to_pause(tmp_path: Path) -> None:
    with here(tmp_path, 2) as runs, scripted(lambda _: WRONG) as server:
        ended = runs.start(server.url)
        assert (ended.state, ended.done) == ("paused", 0)
        assert "refuses all 2 calls (HTTP 400: top_k: extra fields not permitted)" in (ended.message or "")


def test_an_error_of_one_item_affects_no_other_verdict(runs: HereRunner) -> None:
    def answer(received: Received) -> str | Scripted:
        return WRONG if "It is 3." in str(received.body) or "It is 7." in str(received.body) else "Yes"

    with scripted(answer) as server:
        ended = runs.start(server.url, concurrency=1)
    assert (ended.state, ended.verdicts) == (
        "complete",
        {"correct": ITEMS - 2, "incorrect": 0, "abstain": 0, "error": 2},
    )
    assert ended.failures == ["2 × bad_request: HTTP 400: top_k: extra fields not permitted"]


def test_requests_that_a_replay_server_lacks_are_their_own_errors(runs: HereRunner) -> None:
    lacking = [Scripted(422, body={"error": {"message": "none fits"}}, headers={ORIGIN_HEADER: "some.jsonl"})] * 6
    with scripted(lambda _: lacking.pop() if lacking else "Yes") as server:
        ended = runs.start(server.url, concurrency=1)
    assert (ended.state, (ended.verdicts or {})["error"]) == ("complete", 6)


def test_texts_that_are_all_too_long_are_their_own_errors(runs: HereRunner) -> None:
    with scripted(lambda _: LONG) as server:
        ended = runs.start(server.url, concurrency=1)
    assert (ended.state, ended.verdicts) == ("complete", {"correct": 0, "incorrect": 0, "abstain": 0, "error": ITEMS})


def failed_run(runs: HereRunner, first: int = ITEMS) -> None:
    """A run as it was stored when every item ended in an error."""
    with scripted(lambda _: "Yes") as server:
        runs.start(server.url)
    with runs.project.database.write() as connection:
        connection.execute("UPDATE completions SET imported_gold = id % 2")
        connection.execute("UPDATE verdicts SET outcome = 3, reason = 'auth' WHERE completion_id <= ?", (first,))


@pytest.mark.parametrize("protocol", ["forced", "strict", "decided"])
def test_a_verifier_that_failed_on_every_item_is_not_measured(runs: HereRunner, protocol: Any) -> None:
    failed_run(runs)
    report = accuracy(runs.project, protocol=protocol, by="model")
    for row in report.rows:
        if row.verifier == "asker":
            assert (row.n, row.accuracy, row.ci, row.mcc, row.fpr, row.balanced_accuracy) == (0, *[None] * 5)
            assert (row.error, row.coverage, row.delta, row.p) == (ITEMS, 0.0, None, None)
    (average,) = (one for one in report.averages if one.verifier == "asker")
    assert (average.micro, average.macro) == (None, None)
    assert f"asker failed on all {ITEMS} items and has no metrics." in report.notes[0]
    line = next(line for line in accuracy_as(report, TableForm()).splitlines() if line.strip().startswith("asker"))
    assert "0.000" not in line.partition("–")[0]


def test_the_share_of_failed_items_is_reported(runs: HereRunner) -> None:
    failed_run(runs, 3)
    report = accuracy(runs.project)
    assert report.notes[0] == "asker failed on 3 of 12 items (25.0 %). They count as wrong."
