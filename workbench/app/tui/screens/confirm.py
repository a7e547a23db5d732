"""A yes-or-no question before an action that is hard to undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from workbench.app.tui.keymap import Action, bindings, key_of

_MIN_SCROLLED_LINES = 10
"""Number of lines from which the text can take the focus, to be scrolled."""

_ENTER = {"confirm-no": "No", "confirm-yes": "Yes"}


class ConfirmScreen(ModalScreen[bool | None]):
    CSS_PATH = "confirm.tcss"
    AUTO_FOCUS: ClassVar[str] = "#confirm-no"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("confirm.yes", "y", "answer(True)", "Yes", "Confirm."),
        Action("confirm.no", "escape,q", "answer(False)", "No", "Cancel."),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        with Vertical(id="confirm-box") as box:
            box.border_title = Content(self._title)
            with VerticalScroll(can_focus=self._text.count("\n") >= _MIN_SCROLLED_LINES):
                yield Static(self._text, markup=False)
            with Horizontal():
                yield Button(Content(f"{key_of('confirm.no')}  No"), id="confirm-no", compact=True)
                yield Button(Content(f"{key_of('confirm.yes')}  Yes"), id="confirm-yes", variant="error", compact=True)

    def on_descendant_focus(self) -> None:
        box, at = self.query_one("#confirm-box"), self.focused
        box.border_subtitle = f"enter: {_ENTER[at.id]}" if isinstance(at, Button) and at.id in _ENTER else ""

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "confirm-yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)


def confirm(asker: DOMNode, title: str, text: str, then: Callable[[], object]) -> None:
    """Ask, and call ``then`` after a yes."""

    def answered(yes: bool | None) -> None:
        if yes:
            then()

    asker.app.push_screen(ConfirmScreen(title, text), answered)
