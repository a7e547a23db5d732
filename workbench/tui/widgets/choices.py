"""Small menus over a screen: one key or a click chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class Choice(NamedTuple):
    """One line of a menu; both are data, never markup."""

    value: str
    text: str


class ChoiceMenu(ModalScreen[str | None]):
    """Numbered choices; the number, enter or a click takes one, escape none."""

    DEFAULT_CSS = """
    ChoiceMenu { align: center middle; }
    ChoiceMenu OptionList {
        width: 60;
        max-width: 100%;
        height: auto;
        max-height: 100%;
        border: round $primary;
        background: $surface;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(number), f"choose({number})", show=False) for number in range(1, 10)),
        Binding("escape,q", "dismiss", "Cancel"),
    ]

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._title = title
        self._choices = choices

    def compose(self) -> ComposeResult:
        """Lay out."""
        menu = OptionList(*(self._option(number) for number in range(len(self._choices))), markup=False)
        menu.border_title = Content(self._title)
        menu.border_subtitle = Content("escape: cancel")
        yield menu

    def _option(self, number: int) -> Option:
        key = f" {number + 1} " if number < 9 else "   "
        return Option(Content.assemble((key, "bold $text-accent"), " ", self._choices[number].text))

    def action_choose(self, number: int) -> None:
        """Take a choice by its number, from 1."""
        if number <= len(self._choices):
            self.dismiss(self._choices[number - 1].value)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.action_choose(event.option_index + 1)
