"""Two annotators in a real browser, connected to a server started like a user's."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from tests.background import PATIENCE_S
from tests.helpers import add_items, make_project, numbered
from tests.served_app import at_hand, labels, server_process, until
from tests.unit.labelling.conflicting import put
from workbench.app.web.serve.addresses import Address
from workbench.core.project import Project
from workbench.labelling import coordinating, guidelines, tokens
from workbench.labelling.people import assign

playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")

QUIET = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]


class Page:
    """The app in a browser tab."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.drawn = ""
        self.requests: list[str] = []
        self.trouble: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("websocket", self._follow)
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        page.on("console", lambda message: self.trouble.append(message.text) if message.type == "error" else None)

    def _follow(self, socket: Any) -> None:
        self.requests.append(socket.url)
        socket.on("framereceived", lambda data: self._receive(data))

    def _receive(self, data: bytes | str) -> None:
        self.drawn += data.decode("utf-8", "replace") if isinstance(data, bytes) else ""

    async def shows(self, text: str) -> None:
        """Wait until the app has drawn a text."""
        await until(lambda: text in self.drawn)

    async def press_until(self, key: str, condition: Any) -> None:
        """Press a key repeatedly until a condition holds."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await self.page.keyboard.press(key)
                await asyncio.sleep(0.05)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows = [
        row | {"completion_id": f"c{place}", "question_id": f"q{place}", "question": f"Question number {place}?"}
        for place, row in enumerate(numbered(40, subtype="A1"))
    ]
    project = make_project(tmp_path, rows)
    assign(project, ["ann", "ben"], per_item=2)
    return project


@pytest_asyncio.fixture
async def chromium() -> AsyncIterator[Any]:
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=CHROMIUM, args=QUIET, timeout=1_000 * PATIENCE_S)
        yield browser
        await browser.close()


async def opened(chromium: Any, url: str) -> Page:
    """Open a page in a separate browser context."""
    context = await chromium.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(1_000 * PATIENCE_S)
    page = Page(await context.new_page())
    await page.page.goto(url)
    return page


async def wait_until_ready(page: Page, project: Project, name: str) -> None:
    """Wait until keys reach the app and the annotator's item can be labelled."""
    await page.page.wait_for_selector("body.-first-byte")
    await page.shows("Question number")
    await at_hand(project, name)


async def wait_for(page: Any, expression: str) -> None:
    """Wait until a condition holds in a page; `wait_for_function` evaluates text, which the page's policy forbids."""
    async with asyncio.timeout(PATIENCE_S):
        while not await page.evaluate(expression):
            await asyncio.sleep(0.05)


async def refused(page: Any) -> bool:
    return "a new one" in await page.content()


async def test_two_annotators_label_concurrently(project: Project, chromium: Any) -> None:
    def count(name: str) -> int:
        return sum(labeller == name for labeller, _, _ in labels(project))

    async with server_process(project) as (_, address, links):
        pages = [await opened(chromium, f"{address.url}/enter#{links[name]}") for name in ("ann", "ben")]
        for page, name in zip(pages, links, strict=True):
            await wait_until_ready(page, project, name)
            assert page.page.url == f"{address.url}/"
        ann, ben = pages
        await ann.page.keyboard.press("t")
        await ann.shows("letter, then number")
        for key in ("a", "1"):
            await ann.page.keyboard.press(key)
        await until(lambda: types(project) == [("ann", "A1")])
        await asyncio.gather(
            ann.press_until("1", lambda: count("ann") >= 5), ben.press_until("0", lambda: count("ben") >= 5)
        )
        found = labels(project)
        assert {(name, verdict) for name, _, verdict in found} == {("ann", "correct"), ("ben", "incorrect")}
        assert len(found) == len({(name, item) for name, item, _ in found})
        await close_and_open_again(project, chromium, ann, address)
        for page in pages:
            assert page.trouble == []
            assert {url.split("/")[2] for url in page.requests} == {f"127.0.0.1:{address.port}"}
            assert not [url for url in page.requests for secret in links.values() if secret in url]


def types(project: Project) -> list[tuple[str, str]]:
    rows = project.database.reader().execute(
        "SELECT a.name, e.subtype FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id "
        "WHERE e.kind = 'label' AND e.task = 'type'"
    )
    return [tuple(row) for row in rows]


async def close_and_open_again(project: Project, chromium: Any, ann: Page, address: Address) -> None:
    """After a tab is closed, a new tab of the same browser shows the same item, and no label is lost."""
    at, before = await at_hand(project, "ann"), labels(project)
    await ann.page.close()
    again = Page(await ann.page.context.new_page())
    await again.page.goto(address.url)
    await again.shows(at)
    assert [row for row in labels(project) if row[0] == "ann"] == [row for row in before if row[0] == "ann"]
    ann.requests += again.requests
    ann.trouble += again.trouble


async def test_login_needs_a_valid_link(project: Project, chromium: Any) -> None:
    async with server_process(project) as (_, address, links):
        bare = await opened(chromium, address.url)
        assert await refused(bare.page)
        wrong = await opened(chromium, f"{address.url}/enter#{'A' * 43}")
        await wait_for(wrong.page, "document.body.innerText.includes('not valid')")
        assert (await wrong.page.goto(address.url)).status == 403
        used = f"{address.url}/enter#{links['ann']}"
        await (await opened(chromium, used)).page.wait_for_selector("#terminal")
        second = await opened(chromium, used)
        await wait_for(second.page, "document.body.innerText.includes('used already')")
        assert await second.page.evaluate("location.hash") == ""
    assert labels(project) == []


@pytest.mark.soak
async def test_page_of_another_local_server_cannot_control_the_app(project: Project, chromium: Any) -> None:
    async def page(_: web.Request) -> web.Response:
        return web.Response(text="<!DOCTYPE html><title>evil</title>", content_type="text/html")

    elsewhere = web.Application()
    elsewhere.router.add_get("/", page)
    runner = web.AppRunner(elsewhere)
    async with AsyncExitStack() as stack:
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        _, address, links = await stack.enter_async_context(server_process(project))
        victim = await opened(chromium, f"{address.url}/enter#{links['ann']}")
        await victim.shows("Question number")
        evil = Page(await victim.page.context.new_page())
        await evil.page.goto(f"http://127.0.0.1:{runner.addresses[0][1]}/")
        # The browser sends the cookie along (another port is the same site); only the Origin differs.
        ended = await evil.page.evaluate(
            """url => new Promise(done => {
                const socket = new WebSocket(url);
                socket.onopen = () => { socket.send('["stdin", "1"]'); done("open"); };
                socket.onclose = () => done("refused");
            })""",
            f"ws://127.0.0.1:{address.port}/ws?width=80&height=24",
        )
        assert ended == "refused"
        link = tokens.new_link(project, "ben")
        await evil.page.evaluate(
            """async ([url, body]) => {
                await fetch(url, { method: "POST", body, mode: "no-cors", credentials: "include" }).catch(() => 0);
            }""",
            [f"{address.url}/enter", link],
        )
        assert tokens.redeem_link(project, link) is not None
    assert labels(project) == []


@pytest.mark.soak
async def test_lost_connection_is_shown_and_restored(project: Project, chromium: Any) -> None:
    async with server_process(project) as (process, address, links):
        ann = await opened(chromium, f"{address.url}/enter#{links['ann']}")
        await ann.shows("Question number")
        at = await at_hand(project, "ann")
        process.kill()
        await wait_for(ann.page, "document.querySelector('#over').open")
        assert "Every label is saved" in await ann.page.inner_text("#said")
        port = str(address.port)
    ann.drawn = ""
    async with server_process(project, "--port", port):
        # The page may have reconnected already.
        await ann.page.evaluate("document.querySelector('#over').open && document.querySelector('#again').click()")
        await ann.shows(at)


@pytest.mark.soak
async def test_second_window_of_an_annotator_takes_over(project: Project, chromium: Any) -> None:
    async with server_process(project) as (_, address, links):
        first = await opened(chromium, f"{address.url}/enter#{links['ann']}")
        await first.shows("Question number")
        second = Page(await first.page.context.new_page())
        await second.page.goto(address.url)
        await second.shows("Question number")
        await wait_for(first.page, "document.querySelector('#over').open")
        assert "another window" in await first.page.inner_text("#said")
        first.drawn = ""
        await first.page.click("#again")
        await first.shows("Question number")
        await wait_for(second.page, "document.querySelector('#over').open")


@pytest.mark.soak
async def test_flags_answers_guidelines_and_conflicts_reach_their_readers(project: Project, chromium: Any) -> None:
    """Ann flags an item and gets an answer, both see new guidelines, and the adjudicator starts with the conflicts."""
    assign(project, ["ann", "ben"], per_item=2, adjudicator="dora")
    add_items(project.database, [{"question_id": "new", "completion_id": "new", "question": "Question number 41?"}])
    assign(project, ["ann", "ben"], per_item=2, adjudicator="dora")
    put(project, "ann", 40, "correct")
    put(project, "ben", 40, "incorrect")
    async with server_process(project) as (_, address, links):
        assert set(links) == {"ann", "ben", "dora"}
        ann, ben, dora = [
            await opened(chromium, f"{address.url}/enter#{links[name]}") for name in ("ann", "ben", "dora")
        ]
        await wait_until_ready(ann, project, "ann")
        await wait_until_ready(ben, project, "ben")
        await dora.shows("Correct or not?")
        await ben.page.keyboard.press("G")
        await ben.shows("Judge the")
        await until(lambda: guidelines.of_version(project, guidelines.VERSION).read_by == ("ben",))
        await ben.page.keyboard.press("G")
        await ann.page.keyboard.press("!")
        await ann.shows("What should the coordinator know?")
        await ann.page.keyboard.type("Units too?")
        await ann.page.keyboard.press("Enter")
        await until(lambda: [flag.asked for flag in coordinating.flags(project)] == ["Units too?"])
        (flag,) = coordinating.flags(project)
        coordinating.answer(project, flag.completion, "Only where asked.", by="lead")
        version = guidelines.add_case(project, "a unit not asked for is ignored", by="lead").version
        await ann.shows("an answer: d")
        for page in (ann, ben, dora):
            await page.shows("new guidelines: G")
        assert "an answer" not in ben.drawn + dora.drawn
        await ann.page.keyboard.press("d")
        await ann.shows("Only where asked.")
        await until(lambda: [one.heard for one in coordinating.flags(project, "answered")] == [True])
        await ann.page.keyboard.press("Escape")
        await ben.page.keyboard.press("G")
        await ben.shows("New in version")
        await until(lambda: guidelines.of_version(project, version).read_by == ("ben",))
        await ben.page.keyboard.press("G")
        await asyncio.gather(
            ann.press_until("1", lambda: any(name == "ann" for name, *_ in event_authors(project))),
            ben.press_until("0", lambda: any(name == "ben" for name, *_ in event_authors(project))),
            dora.press_until("1", lambda: any(name == "dora" for name, *_ in event_authors(project))),
        )
        assert {(name, kind, seen) for name, kind, seen in event_authors(project)} == {
            ("ann", "label", None),
            ("ben", "label", version),
            ("dora", "adjudication", None),
        }
        for page, name in ((ann, "ann"), (ben, "ben"), (dora, "dora")):
            others = {"ann", "ben", "dora"} - {name}
            assert name in page.drawn
            assert not [other for other in others if f"  {other} \u00b7" in page.drawn]
            assert page.trouble == []


def event_authors(project: Project) -> list[tuple[str, str, str | None]]:
    """Return the authors of events in the app, with their roles and guideline versions."""
    rows = project.database.reader().execute(
        "SELECT a.name, e.kind, e.guideline FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id "
        "WHERE e.kind IN ('label', 'adjudication') AND e.content_hash IS NOT NULL"
    )
    return [tuple(row) for row in rows]
