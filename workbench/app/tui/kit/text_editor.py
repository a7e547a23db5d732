"""A multi-line text editor; control characters are made visible, and nothing in the text is markup."""

from __future__ import annotations

import re

from rich.text import Text
from textual.events import Paste
from textual.widgets import TextArea

from workbench.core.text.inert import inert

_STEERS = re.compile(r"[^\t\x20-\x7e]")


class TextEditor(TextArea):
    """A text area with a maximum length; the rest of a longer pasted text is dropped with a notice.

    Args:
        longest: Maximum number of characters.
    """

    def __init__(self, longest: int, *, id: str | None = None) -> None:
        super().__init__(id=id, show_line_numbers=True, placeholder="reading …")
        self._longest = longest

    def get_line(self, line_index: int) -> Text:
        """Return a line for drawing: each invisible or control character is replaced by a sign of its own width."""
        return Text(_STEERS.sub(_visible_sign, self.document.get_line(line_index)), end="", no_wrap=True)

    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        # Textual would paste too.
        event.prevent_default()
        room = max(self._longest - len(self.text) + len(self.selected_text), 0)
        text = event.text[:room].replace("\r\n", "\n").replace("\r", "\n")
        if self.read_only:
            return
        self.replace(text, *self.selection, maintain_selection_offset=False)
        if len(event.text) > room:
            said = f"A text may have {self._longest:,} characters: the rest of the pasted text was dropped."
            self.notify(said, title="Cut", severity="warning", markup=False)


def _visible_sign(match: re.Match[str]) -> str:
    return match[0] if (shown := inert(match[0])) == match[0] else shown if len(shown) == 1 else "␚"
