"""The call session: what ends a wait, what an end waits for, and how tasks share work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Iterator
from pathlib import Path

import pytest

from tests.background import PATIENCE_S
from tests.helpers import make_project, numbered
from tests.servers.scripted import Received, Scripted, ScriptedServer, chat_reply, scripted
from workbench.core.project import Project
from workbench.llm.records import Chat, Halt, PromptMessage, Sampling
from workbench.llm.server import Limits, ModelServer
from workbench.runs import session as module
from workbench.runs.lease import Lease
from workbench.runs.session import RunServers, Session, TaskSource, opened_session
from workbench.runs.store import runs


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_project(tmp_path, numbered(2))
    with made.database.write() as connection:
        for name in ("a", "b"):
            verifier = runs.add_verifier(connection, name=name, kind=name, options={}, config={}, config_hash=name)
            runs.add(connection, verifier, "1")
    yield made
    made.close()


@pytest.fixture
def held() -> threading.Event:
    """Set where the server may answer."""
    return threading.Event()


@pytest.fixture
def server(held: threading.Event) -> Iterator[ScriptedServer]:
    def answer(received: Received) -> Scripted:
        return Scripted(body=chat_reply("so"), hold=held)

    with scripted(answer) as made:
        yield made
        held.set()


def served(url: str, run: int) -> RunServers:
    server = ModelServer(profile="openai-compatible", base_url=url, model=f"m{run}", key_variable=None)
    return RunServers(run=run, servers={"judge": server}, limits=Limits(concurrency=2), prices={})


@pytest.fixture
async def session(project: Project, server: ScriptedServer) -> AsyncIterator[Session]:
    """Open a session of two runs."""
    lease = Lease.acquire(project.database)
    assert lease is not None
    async with opened_session(project.database, lease, [served(server.url, 1), served(server.url, 2)]) as made:
        yield made
    lease.end()


async def ask(session: Session, run: int, text: str = "?") -> str:
    request = Chat(messages=(PromptMessage("user", text),), sampling=Sampling())
    return (await session.clients[run - 1].ask("judge", request, 0)).reply.text


async def until(server: ScriptedServer, calls: int) -> None:
    while len(server.received) < calls:
        await asyncio.sleep(0.01)


def attempts(project: Project) -> list[tuple[int, str]]:
    rows = project.database.reader().execute("SELECT run_id, state FROM attempts ORDER BY run_id")
    return [(run, state) for run, state in rows]


async def test_ending_waits_for_calls_in_flight_and_starts_none(
    session: Session, project: Project, server: ScriptedServer, held: threading.Event
) -> None:
    async def twice(run: int) -> None:
        await ask(session, run)
        await ask(session, run, "and then?")

    tasks = [session.start(twice(run)) for run in (1, 2)]
    await until(server, 2)
    ending = asyncio.create_task(session.end())
    await asyncio.sleep(2.5 * module.POLL_S)
    assert not ending.done()
    held.set()
    await ending
    await session.flush()
    assert [str(task.exception()) for task in tasks] == ["The run stops."] * 2
    assert (attempts(project), len(server.received)) == ([(1, "done"), (2, "done")], 2)


@pytest.mark.parametrize(("at_once", "grace"), [(True, 10.0), (False, 0.0)])
async def test_an_end_at_once_and_one_that_took_too_long_leave_calls_open(
    session: Session,
    project: Project,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    at_once: bool,
    grace: float,
) -> None:
    monkeypatch.setattr(module, "GRACE_S", grace)
    task = session.start(ask(session, 1))
    await until(server, 1)
    await session.end(at_once=at_once)
    assert task.cancelled()
    assert attempts(project) == [(1, "sent")]


async def test_ending_does_not_wait_for_tasks_without_calls(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE_S", 3_600)
    task = session.start(asyncio.sleep(3_600))
    await asyncio.wait_for(session.end(), PATIENCE_S)
    assert task.cancelled()


async def test_a_wait_ends_with_the_first_error_or_a_check(session: Session) -> None:
    async def failing(error: Exception) -> None:
        raise error

    wrong = [Halt("cancelled", "stops"), Halt("budget", "used up"), Halt("auth", "wrong key")]
    with pytest.raises(Halt, match="wrong key"):
        await session.wait([session.start(failing(error)) for error in wrong])

    async def check() -> None:
        raise LookupError("pause")

    waiting = session.start(asyncio.sleep(3_600))
    with pytest.raises(LookupError, match="pause"):
        await session.wait([waiting], check)
    assert not waiting.done()


async def test_an_equal_request_is_not_sent_again(
    session: Session, project: Project, server: ScriptedServer, held: threading.Event
) -> None:
    held.set()
    await session.wait([session.start(ask(session, 1))])
    await session.wait([session.start(ask(session, 1))])
    assert (session.clients[0].journal.usage.reused, len(server.received)) == (1, 1)


async def test_tasks_share_a_feed_and_read_only_what_they_use() -> None:
    read: list[int] = []

    def chunks() -> Iterator[list[int]]:
        for start in (0, 3, 6, 9):
            read.append(start)
            yield list(range(start, start + 3)) if start != 3 else []

    async def take(found: list[int]) -> None:
        async for number in feed:
            assert max(read) <= number
            found.append(number)
            await asyncio.sleep(0)

    feed = TaskSource(chunks())
    found: list[list[int]] = [[], []]
    takers: list[Awaitable[None]] = [take(one) for one in found]
    await asyncio.gather(*takers)
    assert sorted(found[0] + found[1]) == [0, 1, 2, 6, 7, 8, 9, 10, 11]
    assert all(found)


async def test_tasks_that_continue_together_stay_together() -> None:
    """Their new attempts then share a transaction."""
    turn = 0

    async def turning() -> None:
        nonlocal turn
        while True:
            await asyncio.sleep(0)
            turn += 1

    async def take() -> None:
        async for _ in feed:
            turns.add(turn)
            await asyncio.sleep(0)

    turns: set[int] = set()
    feed = TaskSource([range(16)] * 4)
    clock = asyncio.create_task(turning())
    await asyncio.gather(*(take() for _ in range(16)))
    clock.cancel()
    assert len(turns) <= 8
