"""The full form: every real row and every row of the sample is read to its end in a browser."""

from __future__ import annotations

import asyncio
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project
from tests.mathematics import canonical, first_lost, must_be_seen
from tests.served_app import server_process, until
from tests.unit.core.text.test_faithful import must_show
from tests.web.test_browser import Page, chromium, opened
from workbench.core.project import Project
from workbench.labelling.people import assign

__all__ = ["chromium"]

SAMPLE = Path(__file__).parents[2] / "sample_data"
WHOLE = {"question": "Q", "answer": "R", "completion": "C"}
"""The texts of a row, and the keys that open them."""
READINGS = 3
_PATIENCE = 8
"""Tenths of a second without a frame after which a pane counts as read."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[=>()][A-Z0-9]?)")


async def settled(page: Page) -> bool:
    """Wait until nothing more is drawn; return whether anything was."""
    first = seen = len(page.drawn)
    for _ in range(_PATIENCE):
        await asyncio.sleep(0.1)
        if seen == len(page.drawn) > first:
            break
        seen = len(page.drawn)
    return seen > first


async def read(page: Page, key: str) -> str:
    """Return everything drawn while the text behind a key is opened and paged through."""
    page.drawn = ""
    await page.page.keyboard.press(key)
    await settled(page)
    await page.page.keyboard.press("Home")
    await settled(page)
    await page.page.keyboard.press("PageDown")
    while await settled(page):
        await page.page.keyboard.press("PageDown")
    seen = _ESCAPES.sub("", page.drawn)
    await page.page.keyboard.press("Escape")
    await settled(page)
    return seen


async def unseen(page: Page, row: dict[str, Any]) -> list[tuple[str, str]]:
    """Return each text of a row that was not seen completely, with the missing part; read it again on slow machines."""
    left = dict(WHOLE)
    lost: dict[str, str] = {}
    seen = dict.fromkeys(WHOLE, "")
    for _ in range(READINGS):
        for name, key in left.items():
            seen[name] += await read(page, key)
            lost[name] = lost_of(row[name], canonical(seen[name]))
        left = {name: key for name, key in left.items() if lost[name]}
    return [(name, lost[name]) for name in left]


def next_up(project: Project) -> str | None:
    """Return the id of the annotator's next completion; None at the end."""
    row = (
        project.database.reader()
        .execute(
            "SELECT c.key FROM assignments AS s JOIN completions AS c ON c.id = s.subject "
            "WHERE s.task = 'correctness' AND s.state = 'leased' ORDER BY s.claimed_at, s.position LIMIT 1"
        )
        .fetchone()
    )
    return None if row is None else str(row[0])


def is_over(project: Project, completion: str) -> bool:
    """Return whether the annotator has another completion."""
    return next_up(project) != completion


def lost_of(text: str, seen: str) -> str:
    """Return the part of a text that was not seen, as prose or as one formula; thoughts are folded."""
    text = text.rpartition("</think>")[2]
    return first_lost(must_show(text), seen) and first_lost(must_be_seen(text), seen)


@pytest.mark.soak
@pytest.mark.real_data
@pytest.mark.timeout(3600)
async def test_every_row_can_be_read_completely(tmp_path: Path, real_rows: list[dict[str, Any]], chromium: Any) -> None:
    own = [json.loads(line) for line in (SAMPLE / "tuples.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = real_rows + own
    project = make_project(tmp_path, [{**row, "reference": row["answer"]} for row in rows])
    assign(project, ["ann"], per_item=1)
    by_id = {row["completion_id"]: row for row in rows}
    lost, done = [], 0
    async with server_process(project) as (_, address, links):
        page = await opened(chromium, f"{address.url}/enter#{links['ann']}")
        await page.page.wait_for_selector("body.-first-byte")
        await settled(page)
        while completion := next_up(project):
            row = by_id[completion]
            lost += [(completion, *place) for place in await unseen(page, row)]
            if done % 20 == 0:
                await page.page.screenshot(path=tmp_path / f"{done}.png")
            done += 1
            page.drawn = ""
            await page.page.keyboard.press("1")
            await until(partial(is_over, project, completion))
            await settled(page)
    assert page.trouble == []
    assert (lost, done) == ([], len(rows))
