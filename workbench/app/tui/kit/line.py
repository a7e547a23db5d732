"""A line to type into that takes as much of a paste as there is room for, and says what it left out."""

from __future__ import annotations

from typing import Any, Final

from textual.events import Paste
from textual.widgets import Input

LONGEST: Final = 2_000
"""Characters that a line takes."""


class Line(Input):
    """An input in which the lines of a pasted text come one after the other, and too long a text is cut."""

    def __init__(self, *arguments: Any, max_length: int = LONGEST, **options: Any) -> None:
        super().__init__(*arguments, max_length=max_length, **options)

    def _on_paste(self, event: Paste) -> None:
        event.stop()
        # Textual would paste too, and drop all but the first line, or everything where that is too long.
        event.prevent_default()
        start, end = sorted(self.selection)
        longest = self.max_length or LONGEST
        room = max(longest - len(self.value) + end - start, 0)
        # No more is looked at than could go in: a pasted text may have any length.
        looked_at = event.text[: 2 * room + 2]
        text = " ".join(looked_at.splitlines())
        self.replace(text[:room], start, end)
        if len(text) > room or len(looked_at) < len(event.text):
            said = f"The line takes {longest:,} characters: the rest of what was pasted was left out."
            self.notify(said, title="Cut", severity="warning", markup=False)
