"""A line to type conditions into; the list is filtered while the user types."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.timer import Timer

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.prompt_bar import PromptBar
from workbench.core.errors import UsageError

PAUSE_S = 0.3
"""Seconds without typing before the typed conditions are applied."""


class FilterLine(ModalScreen[None]):
    """A line over the list's last line. Enter keeps the conditions, escape restores the former ones.

    Args:
        text: Its initial text.
        narrow: Filters the list by a line of conditions; raises `UsageError` if it can't be parsed.
        hint: Placeholder of an empty line.
        suggester: Completes the typed text.
    """

    DEFAULT_CSS = """
    FilterLine { align: center bottom; background: transparent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close")]

    def __init__(self, text: str, narrow: Callable[[str], None], hint: str, suggester: Suggester | None) -> None:
        super().__init__()
        self._before, self._narrow = text, narrow
        self._hint, self._suggester = hint, suggester
        self._timer: Timer | None = None
        self._text = text

    def compose(self) -> ComposeResult:
        yield PromptBar()

    def on_mount(self) -> None:
        begun = f"{self._before} " if self._before else ""
        self.query_one(PromptBar).ask("filter", "filter", begun, hint=self._hint, suggester=self._suggester)

    @on(PromptBar.Typed)
    def _typed(self, event: PromptBar.Typed) -> None:
        self._stop_timer()
        if event.text.strip() != self._text:
            self._text = event.text.strip()
            self._timer = self.set_timer(PAUSE_S, self._apply_typed)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()

    def _apply_typed(self) -> None:
        try:
            self._narrow(self._text)
        except UsageError:
            return

    @on(PromptBar.Submitted)
    def _submitted(self, event: PromptBar.Submitted) -> None:
        self._stop_timer()
        try:
            self._narrow(event.text.strip())
        except UsageError as error:
            self.query_one(PromptBar).complain(printable(str(error)))
        else:
            self.dismiss()

    def action_leave(self) -> None:
        self._stop_timer()
        self._narrow(self._before)
        self.dismiss()
