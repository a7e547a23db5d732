"""The exact requests a verifier would send about an item; nothing is sent."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult

from workbench.render.bars import counted
from workbench.services.running.configuring import preview
from workbench.services.running.previewing import PreviewedCall
from workbench.tui.actions import Action
from workbench.tui.finding import FindingScreen, finding_actions
from workbench.tui.widgets.call_text import REQUEST, planned_text
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.prompt_bar import PromptBar
from workbench.tui.widgets.reader import Reader
from workbench.tui.widgets.title_bar import TitleBar

_ITEM = "item"


class PreviewScreen(FindingScreen):
    """One request after the other, as text or to the byte.

    Args:
        kind: The kind of verifier.
        options: Its options.
        calls: What it would ask about the first item.
    """

    TITLE_TEXT = "Preview"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("preview.next", "right_square_bracket", "next", "Next call", "Go to the next request."),
        Action("preview.raw", "r", "raw", "Raw", "Show the bodies to the byte, and back."),
        Action("preview.item", "i", "item", "Item", "Show the requests about another item."),
        *finding_actions("preview"),
    )

    def __init__(self, kind: str, options: Mapping[str, str], calls: list[PreviewedCall]) -> None:
        super().__init__()
        self._kind, self._options = kind, options
        self._calls = calls
        self._item = ""
        self._raw = False

    def compose(self) -> ComposeResult:
        """Lay out."""
        yield TitleBar(self.TITLE_TEXT, "")
        yield Reader(id="preview-text")
        yield PromptBar()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Show what is there."""
        self.reader.focus()
        self._show()

    def _show(self) -> None:
        item = printable(self._item) or "the first item"
        self.say(f"{item} · {counted(len(self._calls), 'call')}, one a step · nothing is sent")
        self.reader.set_title("to the byte" if self._raw else "as text")
        self.reader.show(planned_text(self._calls, raw=self._raw))

    def action_next(self) -> None:
        """Go to the next request."""
        self.reader.jump(REQUEST)

    def action_raw(self) -> None:
        """Text or bytes."""
        self._raw = not self._raw
        self._show()

    def action_item(self) -> None:
        """Ask for an item's id."""
        self.query_one(PromptBar).ask(_ITEM, "id of the item", self._item)

    def answered(self, asked: str, text: str) -> None:
        """Read what would be asked about that item."""
        work = partial(preview, self.project, self._kind, self._options, text or None)
        self.in_background(work, partial(self._read, text), group="preview")

    def _read(self, item: str, calls: list[PreviewedCall]) -> None:
        self._item, self._calls = item, calls
        self.close_prompt()
        self._show()
