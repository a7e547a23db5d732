"""A line to type into, with the error below it; one to filter a list while the user types; a dialog to type a note."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.timer import Timer
from textual.widgets import Input, Static

from workbench.app.tui.keymap import Action, bindings, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.title_bar import Line
from workbench.core.errors import UsageError


class CompletingInput(Line):
    """An input whose suggestion is accepted with tab (or with the right arrow, at its end)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings((Action("prompt.complete", "tab", "cursor_right", "Complete", "Accept the suggestion.", False),))
    ]


class PromptBar(Vertical):
    """Asks for one line; hidden until `ask` is called.

    Attributes:
        asking: The current question's id; empty if there is none.
    """

    DEFAULT_CSS = """
    PromptBar {
        display: none;
        height: auto;
        background: $panel;
        & > Horizontal { height: 1; }
        & Static { width: auto; height: 1; padding: 0 1; color: $text-accent; text-style: bold; }
        & Input { width: 1fr; height: 1; border: none; padding: 0; background: $panel; }
        & > .trouble {
            display: none; width: 1fr; height: auto; max-height: 4; color: $text-error; text-style: none;
        }
    }
    """

    @dataclass
    class Submitted(Message):
        """A line was entered.

        Attributes:
            asked: The question's id.
        """

        asked: str
        text: str

    @dataclass
    class Typed(Message):
        """The line has changed; enter has not been pressed yet.

        Attributes:
            asked: The question's id.
        """

        asked: str
        text: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.asking = ""

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static(markup=False, classes="title")
            yield CompletingInput(select_on_focus=False, compact=True)
        yield Static(markup=False, classes="trouble")

    def ask(self, what: str, title: str, text: str = "", *, hint: str = "", suggester: Suggester | None = None) -> None:
        """Show the line and take the focus.

        Args:
            what: The question's id, sent back with the answer.
            title: The text before the line.
            text: Its initial text.
            hint: Placeholder of an empty line.
        """
        self.asking = what
        self.query_one(".title", Static).update(title)
        line = self.query_one(CompletingInput)
        line.suggester = suggester
        line.placeholder = f"{hint}  ({key_of('prompt.complete')} completes)" if hint and suggester else hint
        line.value = text
        line.cursor_position = len(text)
        self.complain("")
        self.display = True
        line.focus()

    def complain(self, text: str) -> None:
        trouble = self.query_one(".trouble", Static)
        trouble.update(Content(text))
        trouble.display = bool(text)

    def close(self) -> None:
        self.asking = ""
        self.display = False

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Submitted(self.asking, event.value))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.complain("")
        if self.asking:
            self.post_message(self.Typed(self.asking, event.value))


# -- One line for a note, over the screen.


_PAUSE_S = 0.5


class NoteInput(ModalScreen[str | None]):
    """A dialog for a note: enter returns it, escape returns None. After every typing pause ``keep`` gets the text."""

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
        self._timer = self.set_timer(_PAUSE_S, self._keep_note)

    def _keep_note(self) -> None:
        self._timer = None
        if self._keep is not None:
            self._keep(self._note)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._keep_note()
        self.dismiss(None)


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
