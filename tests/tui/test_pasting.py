"""Pasted texts: text beyond the limit is cut with a notice; no line is dropped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.events import Paste
from textual.widgets import Input

from tests.tui.labelling import desk, labels, make, rows
from tests.tui.stage import settle
from workbench.app import tui
from workbench.app.web.serve import app_process
from workbench.core.project import Project

LONG = "word " * 100_000


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make(tmp_path)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("before", "pasted", "after", "cut"),
    [
        ("", LONG, LONG[:2000].strip(), True),
        ("I say: ", LONG, f"I say: {LONG}"[:2000].strip(), True),
        ("", "one\r\ntwo\nthree", "one two three", False),
        ("", "x" * 2000, "x" * 2000, False),
        ("", "\n" * 3 + "x", "x", False),
        ("x" * 2000, "y", "x" * 2000, True),
        ("", "\x1b]0;title\x07[b]", None, False),
    ],
    ids=["long", "behind", "lines", "full", "empty lines", "no room", "controls"],
)
async def test_pasted_note_is_cut_at_the_limit(
    project: Project, before: str, pasted: str, after: str | None, cut: bool
) -> None:
    async with desk(project) as it:
        await it.press("c")
        line = it.app.screen.query_one(Input)
        line.value = before
        line.cursor_position = len(before)
        it.app.post_message(Paste(pasted))
        await settle(it.pilot)
        assert any("was dropped" in str(notice.message) for notice in it.app._notifications) is cut
        await it.press("enter", "1")
        ((note,),) = rows(project, "SELECT note FROM label_events")
        assert note == after if after is not None else "[b]" in note


@pytest.mark.few(2)
@pytest.mark.parametrize("key", ["slash", "c"])
async def test_every_input_line_is_cut_with_a_notice(project: Project, key: str) -> None:
    async with desk(project) as it:
        await it.press(key)
        it.app.post_message(Paste(LONG))
        await settle(it.pilot)
        assert 1_000 < len(it.app.focused.value) <= 2_000  # type: ignore[union-attr]
        assert any("was dropped" in str(notice.message) for notice in it.app._notifications)


async def test_text_pasted_outside_an_input_labels_nothing(project: Project) -> None:
    async with desk(project) as it:
        it.app.post_message(Paste("1 0 1 x"))
        await settle(it.pilot)
        assert labels(project) == []
        assert any("Nothing was pasted" in str(notice.message) for notice in it.app._notifications)


def test_every_input_of_the_app_limits_pasted_text() -> None:
    folder = Path(tui.__file__).parent
    made = {path.name for path in folder.rglob("*.py") if re.search(r"\b(Input|TextArea)\(", path.read_text())}
    assert made == set()
    assert "class Line(Input)" in (folder / "kit" / "title_bar.py").read_text()


def test_browser_page_may_paste_more_than_the_limit() -> None:
    """The text reaches the app truncated, still as pasted text; the page stays connected."""
    for size in (10, 1 << 20, 3 << 20):
        notices_text = app_process.parse(f'["stdin", "\\u001b[200~{"x" * size}\\u001b[201~"]')
        assert isinstance(notices_text, app_process.KeysFrame)
        assert notices_text.keys.startswith(b"\x1b[200~x")
        assert notices_text.keys.endswith(b"x\x1b[201~")
        assert len(notices_text.keys) < 70_000
    assert app_process.parse('["stdin", "12"]') == app_process.KeysFrame(b"12")
