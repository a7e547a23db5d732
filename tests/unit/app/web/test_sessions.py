"""Pages and processes: takeovers, ends of sessions, and misbehaving pages."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio
from aiohttp import ClientSession

from tests.background import PATIENCE_S
from tests.helpers import make_project
from tests.served_app import FAKE_APP, Tab, origin, served, sign_in, tab, until
from tests.unit.app.web.test_frames import MALFORMED
from workbench.app.web.serve import app_process, server
from workbench.app.web.serve.addresses import Address
from workbench.app.web.serve.sessions import Ending
from workbench.core.project import Project
from workbench.labelling import tokens
from workbench.labelling.people import add_annotators


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    add_annotators(project, [*(f"p{number}" for number in range(8)), "ann", "ben"])
    return project


@pytest_asyncio.fixture
async def address(project: Project) -> AsyncIterator[Address]:
    async with served(project) as found:
        yield found


@pytest_asyncio.fixture
async def ann(project: Project, address: Address) -> AsyncIterator[ClientSession]:
    async with sign_in(project, address, "ann") as client:
        yield client


def processes() -> list[psutil.Process]:
    """Return the live stand-in processes of the app."""
    return [one for one in psutil.Process().children() if is_fake_app(one)]


def is_fake_app(process: psutil.Process) -> bool:
    try:
        return str(FAKE_APP) in process.cmdline()
    except psutil.NoSuchProcess:  # a zombie is one, too
        return False


def transport_of(page: Tab) -> Any:
    """The wire below a page's socket, for what no client does."""
    connection = page.socket._response.connection
    assert connection is not None
    return connection.transport


async def test_messages_reach_the_app_and_return(ann: ClientSession, address: Address) -> None:
    async with tab(ann, address) as page:
        await page.wait_for("I am ann")
        await page.press("é1\x1b[A")
        await page.wait_for("Dé1\x1b[A")
        await page.say(["resize", {"width": 90, "height": 30}])
        await page.wait_for('M{"type":"resize","width":90,"height":30}')
        await page.say(["blur"])
        await page.wait_for('"blur"')
        await page.say(["focus"])
        await page.wait_for('"focus"')
        await page.say(["ping", "1700"])
        await page.wait_for('["pong", "1700"]')


async def test_a_closed_page_ends_the_process(ann: ClientSession, address: Address) -> None:
    async with tab(ann, address) as page:
        await page.wait_for("I am ann")
        assert len(processes()) == 1
    await until(lambda: processes() == [])


async def test_keys_typed_before_the_page_closed_are_processed(
    ann: ClientSession, address: Address, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with tab(ann, address) as page:
            await page.wait_for("I am ann")
            await page.press("linger")
            await page.press("crash")
        await until(lambda: "ended with code 1" in caplog.text)
    await until(lambda: processes() == [])


async def test_quitting_is_distinguished_from_a_crash(
    ann: ClientSession, address: Address, caplog: pytest.LogCaptureFixture
) -> None:
    async with tab(ann, address) as page:
        await page.press("quit")
        assert await page.end() == Ending.QUIT
    with caplog.at_level(logging.WARNING):
        async with tab(ann, address) as page:
            await page.press("crash")
            assert await page.end() == Ending.ENDED
        await until(lambda: "ended with code 1" in caplog.text)
    assert "it ␛[31mcrashed" in caplog.text
    assert "Traceback" not in caplog.text


async def test_an_app_that_cannot_start_is_reported(project: Project) -> None:
    running = served(project, lambda _: ["/nowhere/python"])
    async with running as address, sign_in(project, address, "ann") as client, tab(client, address) as page:
        assert await page.end() == Ending.UNOPENED


async def test_the_newest_page_of_a_person_takes_over(ann: ClientSession, address: Address) -> None:
    async with tab(ann, address) as first:
        await first.wait_for("I am ann")
        async with tab(ann, address) as second:
            end, _ = await asyncio.gather(first.end(), second.wait_for("I am ann"))
            assert end == Ending.ELSEWHERE
            assert len(processes()) == 1
            await second.press("x")
            await second.wait_for("Dx")


async def test_many_pages_of_one_person_at_once_leave_one_process(ann: ClientSession, address: Address) -> None:
    async with AsyncExitStack() as stack:
        pages = await asyncio.gather(*(stack.enter_async_context(tab(ann, address)) for _ in range(40)))
        ends = asyncio.gather(*(page.end() for page in pages[:-1]))
        await until(lambda: sum(page.socket.closed for page in pages) >= 39)
        assert len(processes()) <= 1
        (left,) = [page for page in pages if not page.socket.closed]
        await left.press("x")
        await left.wait_for("Dx")
        assert set(ends.result() if ends.done() else []) <= {Ending.ELSEWHERE}
        ends.cancel()
        await asyncio.gather(ends, return_exceptions=True)


async def test_only_so_many_people_at_once(project: Project, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with served(project, most=2) as address, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(sign_in(project, address, f"p{number}")) for number in range(3)]
        first, second = [await stack.enter_async_context(tab(client, address)) for client in clients[:2]]
        await first.wait_for("I am p0")
        await second.wait_for("I am p1")
        async with tab(clients[2], address) as third:
            assert await third.end() == Ending.FULL
        async with tab(clients[1], address) as again:
            await again.wait_for("I am p1")
        await until(lambda: caplog.text.count("p1 has left") == 2)
        async with tab(clients[2], address) as third:
            await third.wait_for("I am p2")


async def test_many_concurrent_clients_keep_their_identity(project: Project, address: Address) -> None:
    async with AsyncExitStack() as stack:
        names = [f"p{number}" for number in range(8)]
        clients = [await stack.enter_async_context(sign_in(project, address, name)) for name in names]
        pages = await asyncio.gather(*(stack.enter_async_context(tab(client, address)) for client in clients))
        await asyncio.gather(*(page.wait_for(f"I am {name}") for name, page in zip(names, pages, strict=True)))
        assert len({process.pid for process in processes()}) == 8


async def test_a_process_that_ignores_the_end_of_its_input_is_killed(
    ann: ClientSession, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_process, "GRACE_S", 0.2)
    async with tab(ann, address) as page:
        await page.wait_for("I am ann")
        await page.press("stay")
    await until(lambda: processes() == [])


@pytest.mark.few(6)
@pytest.mark.parametrize("text", MALFORMED, ids=lambda text: text[:40])
async def test_a_malformed_message_ends_the_page_without_a_traceback(
    ann: ClientSession, address: Address, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with tab(ann, address) as page:
            await page.wait_for("I am ann")
            await page.socket.send_str(text)
            assert await page.end() == Ending.MALFORMED
        await until(lambda: processes() == [])
    assert "Traceback" not in caplog.text
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_binary_frame_is_malformed(ann: ClientSession, address: Address) -> None:
    async with tab(ann, address) as page:
        await page.socket.send_bytes(b'["stdin", "a"]')
        assert await page.end() == Ending.MALFORMED


async def test_a_large_message_is_rejected(
    ann: ClientSession, address: Address, caplog: pytest.LogCaptureFixture
) -> None:
    async with tab(ann, address) as page:
        await page.press("x" * (app_process.MAX_MESSAGE // 2))
        await page.wait_for("x" * 1_000)
    async with tab(ann, address) as page:
        with pytest.raises(ConnectionError):  # noqa: PT012
            while True:
                await page.press("x" * (10 << 20))
    await until(lambda: processes() == [])
    assert "Traceback" not in caplog.text


async def test_invalid_websocket_frames_are_rejected(ann: ClientSession, address: Address) -> None:
    async with tab(ann, address) as page:
        await page.wait_for("I am ann")
        transport_of(page).write(os.urandom(4_096))
        assert await page.end() not in (None, 1000)
    await until(lambda: processes() == [])


@pytest.mark.soak
@pytest.mark.parametrize("keys", [5, pytest.param(20, marks=pytest.mark.soak)])
async def test_a_page_that_reads_nothing_blocks_no_other(
    project: Project, ann: ClientSession, address: Address, monkeypatch: pytest.MonkeyPatch, keys: int
) -> None:
    monkeypatch.setattr(server, "HEARTBEAT_S", 3.0)
    monkeypatch.setattr(app_process, "GRACE_S", 1_000.0)
    before = psutil.Process().memory_info().rss
    async with sign_in(project, address, "ben") as ben, tab(ann, address, autoping=False) as dead:
        await dead.press("flood")
        transport_of(dead).pause_reading()
        async with tab(ben, address) as page:
            for number in range(keys):
                await page.press(f"<{number}>")
                await page.wait_for(f"D<{number}>")
        await until(lambda: processes() == [])
        assert psutil.Process().memory_info().rss - before < 32 << 20
        transport_of(dead).abort()


async def test_links_and_downloads_of_the_app_do_not_reach_the_page(ann: ClientSession, address: Address) -> None:
    async with tab(ann, address) as page:
        await page.press("tempt")
        await page.wait_for("I am ann")
        await page.wait_for("Dtempt")
        assert b"example.org" not in page.seen
        async with ann.get("/download/k") as answer:
            assert answer.status == 404
        await page.press("x")
        await page.wait_for("Dx")


async def test_a_revoked_login_ends_the_page(
    project: Project, address: Address, ann: ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "WATCH_S", 0.05)
    async with served(project) as address, sign_in(project, address, "ann") as client, tab(client, address) as page:
        await page.wait_for("I am ann")
        tokens.revoke(project, "ann")
        assert await page.end() == Ending.REVOKED
        async with client.get("/") as answer:
            assert answer.status == 403


async def test_a_new_login_in_the_browser_ends_the_page_of_the_old_one(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "WATCH_S", 0.05)
    async with served(project) as address, sign_in(project, address, "ann") as client, tab(client, address) as page:
        await page.wait_for("I am ann")
        link = tokens.new_link(project, "ben")
        async with client.post("/enter", data=link, headers={"Origin": origin(address)}) as answer:
            assert answer.status == 204
        assert await page.end() == Ending.REVOKED


async def test_the_end_of_the_server_ends_everyone(project: Project) -> None:
    async with AsyncExitStack() as stack:
        async with served(project) as address:
            pages: list[Tab] = []
            for name in ("ann", "ben"):
                client = await stack.enter_async_context(sign_in(project, address, name))
                pages.append(await stack.enter_async_context(tab(client, address)))
                await pages[-1].wait_for(f"I am {name}")
            ends = asyncio.gather(*(page.end() for page in pages))
        assert await ends == [Ending.SHUTDOWN] * 2
        assert processes() == []


async def test_idle_connections_are_dropped(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE_S", 0.2)
    async with served(project) as address, sign_in(project, address, "ann") as client, tab(client, address) as page:
        await page.wait_for("I am ann")
        idle = [await asyncio.open_connection("127.0.0.1", address.port) for _ in range(200)]
        for number, (_, writer) in enumerate(idle):
            writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: " if number % 2 else b"")
        async with asyncio.timeout(PATIENCE_S):
            while not all(reader.at_eof() or reader.exception() for reader, _ in idle):
                for _, writer in idle[1::2]:
                    writer.write(b"x")
                await asyncio.sleep(0.05)
        for _, writer in idle:
            writer.close()
        await page.press("x")
        await page.wait_for("Dx")


async def test_a_missing_body_times_out(project: Project, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.app.web.serve.server._BODY_S", 0.1)
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    head = f"POST /enter HTTP/1.1\r\nHost: 127.0.0.1:{address.port}\r\nOrigin: {origin(address)}\r\nContent-Length: 43"
    writer.write(f"{head}\r\n\r\nAA".encode())
    assert (await reader.read(100)).startswith(b"HTTP/1.1 408")
    writer.close()


async def test_the_environment_of_the_app_holds_no_keys() -> None:
    ours = {"PATH": "/bin", "SECRET_API_KEY": "k", "OPENAI_API_KEY": "k", "PYTHONSTARTUP": "x", "LC_ALL": "C.UTF-8"}
    # Labels that wait for the database are looked for where every other window keeps them.
    ours["XDG_STATE_HOME"] = "/state"
    given = app_process.environment(app_process.Size(80, 24), ours)
    assert "k" not in given.values()
    assert {name for name in given if name in ours} == {"PATH", "LC_ALL", "XDG_STATE_HOME"}


async def test_a_killed_process_is_an_end_like_any(ann: ClientSession, address: Address) -> None:
    async with tab(ann, address) as page:
        await page.wait_for("I am ann")
        processes()[0].send_signal(signal.SIGKILL)
        assert await page.end() == Ending.ENDED
