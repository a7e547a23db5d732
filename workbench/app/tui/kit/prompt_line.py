"""A line to type into, over the last line of the screen: a note, a search, conditions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.timer import Timer
from textual.widgets import Input, Static

from workbench.app.tui.keymap import Action, bindings, key_of
from workbench.app.tui.kit.cells import printable, show_line
from workbench.app.tui.kit.title_bar import Line
from workbench.core.errors import UsageError

_PAUSE_S = 0.2
"""Seconds without typing before the typed text is passed on."""
_MAX_TITLE = 24
"""Cells of a title next to its line; a longer one is above it."""


class CompletingInput(Line):
    """An input whose suggestion is accepted with tab (or with the right arrow, at its end)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings((Action("prompt.complete", "tab", "cursor_right", "Complete", "Accept the suggestion.", False),))
    ]


class PromptLine(ModalScreen[str | None]):
    """Asks for one line: enter returns it, escape returns None.

    Args:
        title: The question.
        text: The initial text.
        entered: Called with the line after enter; returns False to keep it open. A `UsageError` is shown below the
            line, which then stays open, too.
        typed: Called with the text after every typing pause; a `UsageError` is ignored until enter.
        left: Called after escape; by default ``typed`` gets what it has not got yet.
        hint: Placeholder of an empty line.
        suggester: Completes the typed text. Without one, typing replaces the initial text.
    """

    DEFAULT_CSS = """
    PromptLine {
        align: center bottom;
        background: transparent;
        & > Vertical { height: auto; background: $panel; }
        & Container { height: 1; layout: horizontal; }
        & Container.long { height: 2; layout: vertical; }
        & Static { width: auto; height: 1; padding: 0 1; color: $text-accent; text-style: bold; }
        & Input { width: 1fr; height: 1; border: none; padding: 0; background: $panel; }
        & .long Input { padding-left: 1; }
        & .trouble { display: none; width: 1fr; height: auto; max-height: 4; color: $text-error; text-style: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close")]

    def __init__(
        self,
        title: str,
        text: str = "",
        *,
        entered: Callable[[str], object] = lambda _: None,
        typed: Callable[[str], object] = lambda _: None,
        left: Callable[[], object] | None = None,
        hint: str = "enter: done · escape: close",
        suggester: Suggester | None = None,
    ) -> None:
        super().__init__()
        self._title, self._text, self._told = title, text, text
        self._entered, self._typed, self._left = entered, typed, left or self._tell
        self._hint = f"{hint}  ({key_of('prompt.complete')} completes)" if suggester else hint
        self._suggester = suggester
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        with Vertical():
            with Container(classes="long" if cell_len(self._title) > _MAX_TITLE else None):
                yield Static(self._title, markup=False, classes="title")
                yield CompletingInput(
                    self._text, self._hint, suggester=self._suggester, select_on_focus=not self._suggester, compact=True
                )
            yield Static(markup=False, classes="trouble")

    def complain(self, text: str) -> None:
        show_line(self.query_one(".trouble", Static), printable(text))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        if event.value != self._text:
            self._text = event.value
            self.complain("")
            self._stop_timer()
            self._timer = self.set_timer(_PAUSE_S, self._tell)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()

    def _tell(self) -> None:
        if self._text != self._told:
            self._told = self._text
            with suppress(UsageError):
                self._typed(self._text.strip())

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self._stop_timer()
        text = event.value.strip()
        try:
            closes = self._entered(text)
        except UsageError as error:
            self.complain(str(error))
        else:
            if closes is not False:
                self.dismiss(text)

    def action_leave(self) -> None:
        self._stop_timer()
        self._left()
        self.dismiss(None)


def filter_line(text: str, narrow: Callable[[str], None], hint: str, suggester: Suggester) -> PromptLine:
    """Return a line of conditions, which filter a list while they are typed; escape restores the former ones.

    Args:
        text: The present conditions.
        narrow: Filters the list by a line of conditions; raises `UsageError` if it can't be parsed.
    """
    begun, restore = f"{text} " if text else "", lambda: narrow(text)
    return PromptLine("filter", begun, entered=narrow, typed=narrow, left=restore, hint=hint, suggester=suggester)
