"""Annotators who label in real browser windows: their screens, and the notices they get about each label."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from rich.cells import cell_len

from tests.background import PATIENCE_S
from tests.web.test_browser import Page, playwright

ROWS, COLUMNS = 60, 240
_SEEN_S = 0.25
_OPENED_S = 2.0
_AGAIN_LOOKS = 100
_PARTS = re.compile(
    r"\x1b\[(?P<place>\d+;\d+)H|\x1b\[\??[\d;:]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.|(?P<text>[^\x1b]+)"
)
_AT = re.compile(r"Question number (\d+)\?")
_TOLD = re.compile(r"(saved ✓) (correct|incorrect)|(! not saved)")


class Screen:
    """The content of a terminal as Textual draws it: positions and texts, no scrolling."""

    def __init__(self) -> None:
        self._cells = [[" "] * COLUMNS for _ in range(ROWS)]
        self._selected_row = self._column = 0

    def feed(self, drawn: str) -> None:
        """Draw the next text."""
        for part in _PARTS.finditer(drawn):
            if part["place"]:
                row, column = map(int, part["place"].split(";"))
                self._selected_row, self._column = min(row, ROWS) - 1, column - 1
            elif part["text"]:
                self._add_job(part["text"])

    def text(self) -> str:
        """Return all lines."""
        return "\n".join("".join(row).rstrip() for row in self._cells).rstrip()

    @property
    def title(self) -> str:
        """Return the first line."""
        return "".join(self._cells[0]).strip()

    def _add_job(self, text: str) -> None:
        for character in text:
            if character == "\n":
                self._selected_row, self._column = min(self._selected_row + 1, ROWS - 1), 0
            elif character >= " " and self._column < COLUMNS:
                self._cells[self._selected_row][self._column] = character
                for offset in range(1, cell_len(character)):
                    if self._column + offset < COLUMNS:
                        self._cells[self._selected_row][self._column + offset] = ""
                self._column += cell_len(character)


class Notice(NamedTuple):
    """A window's notice about a label, ``saved`` or ``not saved``, and the times between which it appeared."""

    name: str
    question: int
    verdict: str
    how: str
    after: str
    before: str


class Window:
    """An annotator's window.

    Attributes:
        notices: The notice about every label, in order.
        opened: How often the app has been opened in this window.
    """

    def __init__(self, page: Page, name: str) -> None:
        self.page = page
        self.name = name
        self.notices: list[Notice] = []
        self.screen = Screen()
        self._read_cases = 0
        self._turn = 0
        self._is_new = True
        self.opened = 1
        page.page.on("websocket", lambda _: self._restart())

    def _restart(self) -> None:
        self.screen = Screen()
        self._read_cases = len(self.page.drawn)
        self._is_new = True
        self.opened += 1

    def look(self) -> str:
        """Return the current screen."""
        drawn = self.page.drawn
        self.screen.feed(drawn[self._read_cases :])
        self._read_cases = len(drawn)
        return self.screen.text()

    @property
    def title(self) -> str:
        """Return the first line of the current screen."""
        self.look()
        return self.screen.title

    @property
    def at(self) -> int | None:
        """Return the number of the question on the screen."""
        found = _AT.search(self.look())
        return int(found[1]) if found else None

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait until a condition holds."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not condition():
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"{self.name}: {what} did not come:\n{self.look()}\n{await self.dialog()}") from None

    async def shows(self, text: str) -> None:
        """Wait until a text is on the screen, wherever its lines break."""
        await self.until(lambda: text in " ".join(self.look().split()), text)

    async def label(self) -> Notice:
        """Label the item on the screen; return the window's notice."""
        await self.until(lambda: self.at is not None, "an item")
        # A key pressed before the item could be seen does not apply to it.
        await asyncio.sleep(_OPENED_S if self._is_new else _SEEN_S)
        self._is_new = False
        question = self.at
        assert question is not None
        self._turn += 1
        key, verdict = ("1", "correct") if self._turn % 2 else ("0", "incorrect")
        # A notice about an earlier failure looks like the next one.
        waited = _AGAIN_LOOKS if "! not saved" in self.title else 0
        after = _now()
        await self.page.page.keyboard.press(key)
        match: re.Match[str] | None = None

        def is_stated() -> bool:
            nonlocal match, waited
            match, waited = _TOLD.search(self.title), waited - 1
            if match is None:
                return False
            return waited <= 0 if match[3] else match[2] == verdict and self.at != question

        await self.until(is_stated, f"what became of question {question}")
        assert match is not None
        how = "not saved" if match[3] else "saved"
        found = Notice(self.name, question, verdict, how, after, _now())
        self.notices.append(found)
        return found

    async def dialog(self) -> str | None:
        """Return the page's message over the app, or None."""
        page: Any = self.page.page
        try:
            if not await page.evaluate("document.querySelector('#over')?.open ?? false"):
                return None
            return str(await page.inner_text("#said"))
        except playwright.Error:
            # The page is being opened again.
            return None

    async def open_again(self) -> None:
        """Press the button of the dialog, and wait until the app is open."""
        before = self.opened
        await self.page.page.click("#again")
        await self.until(lambda: self.opened > before, "the app")

    async def reload(self) -> None:
        """Reload the page, and wait until the app is open."""
        before = self.opened
        await self.page.page.reload()
        await self.until(lambda: self.opened > before, "the app")

    async def until_dialog(self, text: str) -> None:
        """Wait until the page shows a message over the app."""
        async with asyncio.timeout(PATIENCE_S):
            while text not in (await self.dialog() or ""):
                await asyncio.sleep(0.05)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
