"""One line for a note, over the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input

from workbench.app.tui.kit.line import Line

_PAUSE_S = 0.5


class NoteInput(ModalScreen[str | None]):
    """Returns the note at enter; escape returns None. What was typed is handed to ``keep`` after every pause."""

    DEFAULT_CSS = """
    NoteInput { align: center bottom; }
    NoteInput Input { width: 100%; border: round $primary; background: $surface; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close")]

    def __init__(self, note: str, title: str = "Note", keep: Callable[[str], None] | None = None) -> None:
        super().__init__()
        self._note = note
        self._title = title
        self._keep = keep
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out."""
        line = Line(self._note)
        line.border_title = Content(self._title)
        line.border_subtitle = Content("enter: done · escape: close")
        yield line

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        if event.value == self._note:
            return
        self._note = event.value
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_PAUSE_S, self._keep_now)

    def _keep_now(self) -> None:
        self._timer = None
        if self._keep is not None:
            self._keep(self._note)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        """Close; what was typed is kept as a draft."""
        if self._timer is not None:
            self._timer.stop()
            self._keep_now()
        self.dismiss(None)
