"""The real app through `workbench serve`: ownership of labels, and closed pages or killed servers."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import AsyncExitStack
from pathlib import Path

import psutil
import pytest
from aiohttp import ClientError, ClientSession

from tests.helpers import make_project, numbered
from tests.served_app import (
    SIZE,
    at_hand,
    browser,
    held,
    labels,
    log_of,
    origin,
    real_app,
    served,
    server_process,
    sign_in,
    tab,
    until,
)
from tests.servers.ports import free_ports
from workbench.app.web.serve.addresses import Address
from workbench.app.web.serve.sessions import Ending
from workbench.care.backups import diagnosis
from workbench.core.project import Project
from workbench.labelling.annotating import AnnotationSession
from workbench.labelling.people import assign


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows = [row | {"question": f"Question number {place}?"} for place, row in enumerate(numbered(40, subtype="A1"))]
    for row in rows:
        row["question_id"] = row["completion_id"]
    project = make_project(tmp_path, rows)
    assign(project, ["ann", "ben"], per_item=2)
    return project


def apps(project: Project) -> list[psutil.Process]:
    """The apps that run on the project; other tests may have left children of other kinds."""
    return [one for one in psutil.Process().children() if str(project.path) in _command(one)]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.soak
async def test_two_people_label_at_once_each_as_themselves(project: Project) -> None:
    def count(name: str) -> int:
        return sum(labeller == name for labeller, _, _ in labels(project))

    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(served(project, real_app(project.path)))
        clients = [await stack.enter_async_context(sign_in(project, address, name)) for name in ("ann", "ben")]
        hers, his = [await stack.enter_async_context(tab(client, address)) for client in clients]
        await asyncio.gather(
            hers.press_until("1", lambda: count("ann") >= 5), his.press_until("0", lambda: count("ben") >= 5)
        )
    found = labels(project)
    assert {(name, verdict) for name, _, verdict in found} == {("ann", "correct"), ("ben", "incorrect")}
    assert len(found) == len({(name, item) for name, item, _ in found})


async def test_a_closed_page_opens_again_at_the_same_item(project: Project) -> None:
    async with served(project, real_app(project.path)) as address, sign_in(project, address, "ann") as client:
        async with tab(client, address) as page:
            first = await at_hand(project, "ann")
            await page.press("1")
            await until(lambda: first not in held(project, "ann"))
            at = await at_hand(project, "ann")
        await until(lambda: not apps(project))
        assert held(project, "ann")[0] == at
        async with tab(client, address) as page:
            await page.wait_for(at)
        assert len(labels(project)) == 1


@pytest.mark.soak
async def test_a_focused_page_counts_time_from_its_first_item(project: Project) -> None:
    """The app driver sends a blur event after the page has reported focus."""

    def stored() -> list[tuple[int, int]]:
        rows = project.database.reader().execute("SELECT open_ms, focused_ms FROM label_events WHERE kind = 'label'")
        return list(rows)

    async with (
        served(project, real_app(project.path)) as address,
        sign_in(project, address, "ann") as client,
        tab(client, address) as page,
    ):
        await page.say(["focus"])
        await at_hand(project, "ann")
        await page.wait_for("Question number")
        await page.press_until("1", stored)
        ((open_ms, focused_ms), *_) = stored()
        assert focused_ms > open_ms / 2


async def test_quitting_releases_the_held_items(project: Project) -> None:
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(served(project, real_app(project.path)))
        client = await stack.enter_async_context(sign_in(project, address, "ann"))
        page = await stack.enter_async_context(tab(client, address))
        await page.wait_for("Question number")
        await page.press("\x11")
        assert await page.end() == Ending.QUIT
    assert held(project, "ann") == []


async def test_a_key_in_flight_when_the_page_closes_is_not_lost(project: Project) -> None:
    async with served(project, real_app(project.path)) as address, sign_in(project, address, "ann") as client:
        for count in range(1, 4):
            async with tab(client, address) as page:
                # Items of the previous window are still claimed if this one has not opened yet.
                await page.wait_for("Question number")
                await at_hand(project, "ann")
                await page.be_still()
                await page.press("1")
            await until(lambda: not apps(project))
            assert len(labels(project)) == count
    assert [finding for finding in diagnosis(project.path) if not finding.ok] == []


async def test_the_app_knows_no_keys_of_services(project: Project) -> None:
    async with AsyncExitStack() as stack:
        running = server_process(project, SECRET_API_KEY="sesame")
        process, address, links = await stack.enter_async_context(running)
        client = await stack.enter_async_context(browser(address, links["ann"]))
        page = await stack.enter_async_context(tab(client, address))
        await page.wait_for("Annotate")
        (app,) = psutil.Process(process.pid).children()
        known, command = app.environ(), app.cmdline()
        assert psutil.Process(process.pid).environ()["SECRET_API_KEY"] == "sesame"
    assert "SECRET_API_KEY" not in known
    assert "sesame" not in known.values()
    assert command[-2:] == ["--as=ann", "--at=work"]


@pytest.mark.soak
async def test_the_apps_end_with_a_server_that_is_killed_and_nothing_is_lost(project: Project) -> None:
    async with server_process(project) as (process, address, links), browser(address, links["ann"]) as client:
        async with client.ws_connect(f"/ws?{SIZE}", headers={"Origin": origin(address)}) as page:
            first = await at_hand(project, "ann")
            await page.send_str('["stdin", "1"]')
            await until(lambda: first not in held(project, "ann"))
            at = await at_hand(project, "ann")
            (app,) = psutil.Process(process.pid).children()
            process.send_signal(signal.SIGKILL)
        await until(lambda: not app.is_running() or app.status() == psutil.STATUS_ZOMBIE)
    assert len(labels(project)) == 1
    assert held(project, "ann")[0] == at
    with AnnotationSessionFor(project, "ann") as session:
        item = session.next()
        assert item is not None
        assert item.question_text == at


async def test_logins_survive_a_server_restart(project: Project) -> None:
    async with served(project) as address, sign_in(project, address, "ann") as client:
        cookie = next(iter(client.cookie_jar)).value
    (port,) = free_ports(1)
    async with served(project, port=port) as address, browser(address) as client:
        client.cookie_jar.update_cookies({f"workbench-{address.port}": cookie})
        async with tab(client, address) as page:
            await page.wait_for("I am ann")


async def test_sigterm_ends_the_server_and_every_app(project: Project) -> None:
    async with AsyncExitStack() as stack:
        process, address, links = await stack.enter_async_context(server_process(project))
        client = await stack.enter_async_context(browser(address, links["ann"]))
        page = await stack.enter_async_context(tab(client, address))
        await page.wait_for("Annotate")
        (app,) = psutil.Process(process.pid).children()
        process.send_signal(signal.SIGTERM)
        assert await page.end() == Ending.SHUTDOWN
        assert await process.wait() == 0
        assert not app.is_running()
    said = log_of(project)
    assert "ann is at work" in said
    assert "Traceback" not in said
    assert links["ann"] not in said


@pytest.mark.soak
async def test_hostile_clients_leave_memory_and_log_flat(project: Project) -> None:
    async with server_process(project) as (process, address, links):
        server = psutil.Process(process.pid)
        async with browser(address, links["ann"]) as client:
            await asyncio.gather(*(assault(client, address, number) for number in range(30)))
            before = server.memory_info().rss
            for _ in range(5):
                await asyncio.gather(*(assault(client, address, number) for number in range(40)))
            await until(lambda: server.num_fds() < 40)
            assert server.memory_info().rss - before < 16 << 20
            async with client.get("/") as answer:
                assert answer.status == 200
    said = log_of(project)
    assert "413 /enter" in said
    assert "Traceback" not in said
    assert "Unhandled" not in said


async def assault(client: ClientSession, address: Address, number: int) -> None:
    """Send requests that no browser sends."""
    try:
        if number % 4 == 0:
            async with client.post("/enter", data=b"A" * 1_000_000, headers={"Origin": origin(address)}) as answer:
                assert answer.status in (413, 429)
        elif number % 4 == 1:
            async with client.get("/ws?width=80&height=24", headers={"Origin": "http://evil"}) as answer:
                assert answer.status == 403
        elif number % 4 == 2:
            _, writer = await asyncio.open_connection("127.0.0.1", address.port)
            writer.write(os.urandom(100_000))
            writer.close()
        else:
            async with client.get("/" + "../" * 1_000) as answer:
                assert answer.status in (200, 400, 404)
    except (ConnectionError, ClientError):
        pass


class AnnotationSessionFor:
    """A session that is closed at the end."""

    def __init__(self, project: Project, name: str) -> None:
        self._session = AnnotationSession(project, name)

    def __enter__(self) -> AnnotationSession:
        return self._session

    def __exit__(self, *_: object) -> None:
        self._session.close()
