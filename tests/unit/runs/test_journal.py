"""The run journal: when entries are committed, who waits for them, and locked databases."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.helpers import make_project, numbered
from workbench.core.errors import StoreError
from workbench.core.project import Project
from workbench.core.run import RunUsage
from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import Halt, JournaledCall, Response, Usage
from workbench.runs import journal as journals
from workbench.runs import lease as leases
from workbench.runs.journal import RunJournal, add_outcome, add_reply
from workbench.runs.lease import Lease, LeaseLost
from workbench.runs.store import calls, runs
from workbench.runs.store.calls import MadeCall
from workbench.verifiers.base import Judged

YES = Judged(verdict=Verdict(outcome=Outcome.CORRECT))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_project(tmp_path, numbered(20))
    with made.database.write() as connection:
        verifier = runs.add_verifier(connection, name="v", kind="v", options={}, config={}, config_hash="")
        runs.add(connection, verifier, "1")
    yield made
    made.close()


@pytest.fixture
async def journal(project: Project) -> AsyncIterator[RunJournal]:
    lease = Lease.acquire(project.database)
    assert lease is not None
    made = RunJournal(project.database, lease, 1, count(1))
    yield made
    made.close()


def call(number: int) -> JournaledCall:
    name = str(number).encode()
    return JournaledCall(
        key=b"key" + name,
        server="http://server",
        request=b"hash" + name,
        body=b"{}",
        profile="p",
        model="m",
        sample=0,
        url="http://server",
    )


REPLY = Response(profile="p", task="chat", body=b"yes", usage=Usage(prompt_tokens=3), ms=1.0)


def rows(project: Project, statement: str) -> list[tuple[object, ...]]:
    return project.database.reader().execute(statement).fetchall()


async def test_a_started_attempt_is_committed_and_numbered(project: Project, journal: RunJournal) -> None:
    first = await journal.begin(1, call(1))
    second = await journal.begin(2, call(2))
    assert rows(project, "SELECT id, completion_id, state, url FROM attempts") == [
        (first, 1, "sent", "http://server"),
        (second, 2, "sent", "http://server"),
    ]
    assert journal.usage.calls == 2


async def test_a_reply_is_visible_at_once_and_committed_by_its_verdict(project: Project, journal: RunJournal) -> None:
    attempt = await journal.begin(1, call(1))
    journal.done(attempt, call(1), REPLY)
    assert journal.recall(call(1).key) == REPLY
    assert rows(project, "SELECT count(*) FROM responses") == [(0,)]
    await journal.record(1, YES, [MadeCall(call(1).key, "ask", "judge", False)])
    assert rows(project, "SELECT a.state, v.outcome, c.step FROM attempts a, verdicts v, verdict_calls c") == [
        ("done", 1, "ask")
    ]
    assert journal.recall(call(1).key) == REPLY
    assert calls.response(project.database.reader(), call(1).key) == REPLY


async def test_a_content_rejection_is_known_after_a_restart(project: Project) -> None:
    lease = Lease.acquire(project.database)
    assert lease is not None
    before = RunJournal(project.database, lease, 1, count(1))
    other = structs.replace(call(5), url="http://refuses-all")
    refused = [(1, call(1), "context_length"), (2, call(2), "server"), (3, call(3), "content_filter")]
    for item, one, code in (*refused, (5, other, "context_length")):
        before.fail(await before.begin(item, one), code, 400, f"too long {item}")  # type: ignore[arg-type]
    before.done(await before.begin(4, call(4)), call(4), REPLY)
    await before.record(3, YES, [])
    before.close()
    assert before.refused(call(1).key) is None

    def known() -> dict[int, str]:
        after = RunJournal(project.database, lease, 1, count(10))
        after.close()
        found = {item: after.refused(one.key) for item, one in ((n, call(n)) for n in range(1, 6))}
        return {item: f"{one.code} {one.detail}" for item, one in found.items() if one is not None}

    # One failed for another reason, one's item has its verdict, one's server has answered nothing.
    assert known() == {1: "context_length too long 1"}
    with project.database.write() as connection:
        calls.forget_refused(connection, 1)
    assert known() == {}
    assert rows(project, "SELECT count(*) FROM attempts WHERE state = 'failed'") == [(4,)]


async def test_an_abandoned_attempt_is_not_stored(project: Project, journal: RunJournal) -> None:
    task = asyncio.create_task(journal.begin(1, call(1)))
    await asyncio.sleep(0)
    task.cancel()
    await journal.flush()
    assert rows(project, "SELECT * FROM attempts") == []
    assert journal.usage.calls == 0


async def test_more_than_a_group_is_committed_in_order(
    project: Project, journal: RunJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "MAX_GROUP_ENTRIES", 3)
    numbers = await asyncio.gather(*(journal.begin(item, call(item)) for item in range(1, 11)))
    assert rows(project, "SELECT id, completion_id FROM attempts ORDER BY id") == list(
        zip(numbers, range(1, 11), strict=True)
    )


async def test_a_locked_database_blocks_only_the_writer(project: Project, journal: RunJournal) -> None:
    with closing(sqlite3.connect(project.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        task = asyncio.create_task(journal.begin(1, call(1)))
        done, _ = await asyncio.wait([task], timeout=0.1)
        assert not done
        other.execute("ROLLBACK")
    await task
    assert (journal.usage.calls, rows(project, "SELECT count(*) FROM attempts")) == (1, [(1,)])


async def test_a_permanently_locked_database_is_an_error_at_the_end(
    project: Project, journal: RunJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "_FINAL_WAIT_S", 0.0)
    journal._lease.ending = True
    with closing(sqlite3.connect(project.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            await journal.begin(1, call(1))
        other.execute("ROLLBACK")
    with pytest.raises(StoreError, match="locked"):
        journal.beat()
    assert journal.broken


async def test_a_runner_that_was_replaced_stores_nothing(project: Project, journal: RunJournal) -> None:
    leases.lock_path(project.path).unlink()
    heard = await asyncio.gather(journal.record(1, YES, []), journal.begin(2, call(2)), return_exceptions=True)
    assert [type(found) for found in heard] == [LeaseLost, LeaseLost]
    with pytest.raises(LeaseLost):
        journal.fail(1, "server", 500, "late")
    assert rows(project, "SELECT * FROM verdicts") == rows(project, "SELECT * FROM attempts") == []


async def test_a_stopping_run_starts_no_attempt_and_stores_replies(project: Project, journal: RunJournal) -> None:
    attempt = await journal.begin(1, call(1))
    journal.begin_no_more()
    with pytest.raises(Halt):
        await journal.begin(2, call(2))
    journal.done(attempt, call(1), REPLY)
    await journal.flush()
    assert rows(project, "SELECT state FROM attempts") == [("done",)]


async def test_the_heart_beats_without_anything_to_store(
    project: Project, journal: RunJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases.lock_path(project.path).write_bytes(b"")
    monkeypatch.setattr(journals, "_BEAT_S", 0.0)
    journal.beat()
    while leases.look(project.path)[0].pid is None:
        await asyncio.sleep(0)


async def test_the_wal_is_checkpointed_during_the_run(
    project: Project, journal: RunJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "_WRITE_BACK_S", 0.0)
    before = project.path.stat().st_size
    long = structs.replace(REPLY, body=b"y" * 1_000_000)
    journal.done(await journal.begin(1, call(1)), call(1), long)
    while project.path.stat().st_size < before + 500_000:
        await journal.flush()


async def test_lost_attempts_are_distinguished_from_calls_in_flight(project: Project, journal: RunJournal) -> None:
    lost = await journal.begin(1, call(1))
    lease = Lease.acquire(project.database) or journal._lease
    later = RunJournal(project.database, lease, 1, count(2))
    flying = await later.begin(2, call(2))
    later.close()
    reader = project.database.reader()
    assert [found.attempt for found in calls.open_attempts(reader, 1, lost=True)] == [lost]
    assert [found.attempt for found in calls.open_attempts(reader, 1, lost=False)] == [lost, flying]
    assert later.spent().calls == 1
    assert later.spent().possibly_paid == 1


_OUTCOMES = st.builds(
    calls.AttemptOutcome,
    attempt=st.integers(1, 9),
    state=st.sampled_from(["done", "failed", "unsent"]),
    code=st.sampled_from(["timeout", "server", "transport"]),
)


@given(st.lists(_OUTCOMES), st.lists(st.builds(Usage, prompt_tokens=st.none() | st.integers(0, 9))))
def test_sums_add_up_whatever_happens(outcomes: list[calls.AttemptOutcome], replies: list[Usage]) -> None:
    used = RunUsage()
    for outcome in outcomes:
        used.calls += 1
        add_outcome(used, outcome)
    for reply in replies:
        add_reply(used, reply)
    assert used.open == 0
    assert used.calls + used.unsent == len(outcomes)
    assert sum(used.errors.values()) == used.failed + used.unsent
    assert used.unsure <= used.failed
    assert used.unpriced == len(replies)
    assert used.prompt_tokens == sum(reply.prompt_tokens or 0 for reply in replies)


def test_sums_are_stored_as_they_are(project: Project) -> None:
    used = RunUsage(calls=3, cost=0.5, errors={"server": 2}, warnings=["é"], at_once=None)
    with project.database.write() as connection:
        calls.put(connection, 1, used)
        calls.put(connection, 1, used)
    assert calls.get(project.database.reader(), 1) == used
    assert calls.get(project.database.reader(), 2) is None
