"""Eight annotators in browsers: the start of the app, the latency of keys, and lost labels.

Usage: python -m bench.serve [--people 8] [--labels 40]

The server is the real one, in its process, with one app process per annotator. The clients are websockets without a
browser: they share the cores with the server and all apps. A key's latency ends with the first bytes that the app draws
after it: for the key that marks a label as unsure, and for the key that labels, after which the label is stored and the
next item drawn.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import psutil
from aiohttp import ClientSession, WSMsgType
from msgspec import Struct, field

from bench.figures import median, p95, report
from tests.helpers import make_project, numbered
from tests.served_app import Tab, browser, labels, server_process, tab
from workbench.app.web.serve.addresses import Address
from workbench.core.project import Project
from workbench.labelling.people import assign

_PAUSE_S = 0.25
_QUIET_S = 0.15
_KEY_MS = 30.0
_DONE = re.compile(rb"(\d+) done")


class Person(Struct):
    """One annotator's milliseconds, and the number of labels the app reported as done."""

    paint: float = 0.0
    keys: list[float] = field(default_factory=list)
    nexts: list[float] = field(default_factory=list)
    done: int = 0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--labels", type=int, default=40, help="labels of each")
    options, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        for people in sorted({1, options.people}):
            place = Path(folder) / str(people)
            place.mkdir()
            asyncio.run(_measure(_project(place, people, options.labels), people, options.labels))


def _project(place: Path, people: int, count: int) -> Project:
    rows = [
        row | {"question_id": row["completion_id"], "question": f"What is number {place}?"}
        for place, row in enumerate(numbered(2 * count, subtype="A1"))
    ]
    project = make_project(place, rows)
    assign(project, [f"p{number}" for number in range(people)], per_item=people)
    return project


async def _measure(project: Project, people: int, count: int) -> None:
    async with AsyncExitStack() as stack:
        process, address, links = await stack.enter_async_context(server_process(project))
        clients = [await stack.enter_async_context(browser(address, link)) for link in links.values()]
        seen = await asyncio.gather(*(_work(client, address, count) for client in clients))
        memory = psutil.Process(process.pid).memory_info().rss
    stored = len(labels(project))
    keys = [ms for person in seen for ms in person.keys]
    nexts = [ms for person in seen for ms in person.nexts]
    name = f"serve_{people}"
    report(f"{name}_first_paint_median", median([person.paint for person in seen]), "ms")
    report(f"{name}_first_paint_slowest", max(person.paint for person in seen), "ms")
    report(f"{name}_key_p50", median(keys), "ms")
    report(f"{name}_key_p95", p95(keys), "ms", _KEY_MS)
    report(f"{name}_label_to_next_item_p50", median(nexts), "ms")
    report(f"{name}_label_to_next_item_p95", p95(nexts), "ms")
    report(f"{name}_labels", stored, "labels")
    report(f"{name}_labels_lost", sum(person.done for person in seen) - stored, "labels", 0)
    report(f"{name}_server_rss", memory / (1 << 20), "MB")
    project.close()


async def _work(client: ClientSession, address: Address, count: int) -> Person:
    """One annotator: opens the page, and labels item after item, slowly enough that each of them is shown."""
    person, begun = Person(), time.perf_counter()
    async with tab(client, address) as page:
        await page.wait_for("Incorrect")
        person.paint = 1_000 * (time.perf_counter() - begun)
        await _read_until_quiet(page)
        for _ in range(count):
            for _ in range(2):
                person.keys.append(await _pressed(page, "u"))
                await _read_until_quiet(page)
            page.seen = b""
            person.nexts.append(await _pressed(page, "1"))
            # The app reports the label once it is committed; then the next item is drawn.
            while b"saved" not in page.seen or b"What is number" not in page.seen:
                await _drawing(page)
            await _read_until_quiet(page)
            person.done = int(_DONE.findall(page.seen)[-1])
            await asyncio.sleep(_PAUSE_S)
    return person


async def _pressed(page: Tab, key: str) -> float:
    """Return the milliseconds from a key to the first bytes drawn after it."""
    begun = time.perf_counter()
    await page.press(key)
    await _drawing(page)
    return 1_000 * (time.perf_counter() - begun)


async def _drawing(page: Tab) -> None:
    message = await page.socket.receive()
    assert message.type is WSMsgType.BINARY, json.dumps(message.data)
    page.seen += message.data


async def _read_until_quiet(page: Tab) -> None:
    """Read the rest of the output: it does not belong to the next key."""
    while True:
        try:
            async with asyncio.timeout(_QUIET_S):
                await _drawing(page)
        except TimeoutError:
            return


if __name__ == "__main__":
    main()
