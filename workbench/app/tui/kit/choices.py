"""Small menus over a screen, of which one line or several can be taken, by keys or clicks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.app.tui.kit.matrix import printable


class ManyMenu(ModalScreen[tuple[str, ...] | None]):
    """Space, the line's number or a click takes a line or leaves it; enter ends with all that are taken.

    Args:
        title: What is asked.
        choices: Names: data, never markup.
        taken: Those that are taken to begin with.
    """

    DEFAULT_CSS = """
    ManyMenu { align: center middle; }
    ManyMenu OptionList {
        width: 76;
        max-width: 100%;
        height: auto;
        max-height: 100%;
        border: round $primary;
        background: $surface;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "done", "Done", priority=True),
        Binding("space", "turn", "In or out", priority=True),
        *(Binding(str(number), f"turn({number - 1})", show=False) for number in range(1, 10)),
        Binding("asterisk", "all", "All"),
        Binding("escape,q", "dismiss", "Cancel"),
    ]

    def __init__(self, title: str, choices: Sequence[str], taken: Collection[str]) -> None:
        super().__init__()
        self._title, self._choices = title, choices
        self._taken = {name for name in choices if name in taken}

    def compose(self) -> ComposeResult:
        menu = OptionList(*(Option(self._line(place)) for place in range(len(self._choices))), markup=False)
        menu.border_title = Content(self._title)
        menu.border_subtitle = Content("space: in or out · *: all or none · enter: done · escape: cancel")
        yield menu

    def _line(self, place: int) -> Content:
        name = self._choices[place]
        key = f" {place + 1} " if place < 9 else "   "
        mark = ("● in   ", "bold $text-success") if name in self._taken else ("○ out  ", "$text-muted")
        return Content.assemble((key, "bold $text-accent"), " ", mark, printable(name))

    def action_turn(self, place: int | None = None) -> None:
        """Take the line or leave it; without a number, the one under the cursor."""
        place = self._menu.highlighted if place is None else place
        if place is not None and place < len(self._choices):
            self._taken ^= {self._choices[place]}
            self._menu.replace_option_prompt_at_index(place, self._line(place))

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_turn(event.option_index)

    def action_all(self) -> None:
        """Take every line, or none where all are taken."""
        every = set(self._choices)
        self._taken = set() if self._taken == every else every
        for place in range(len(self._choices)):
            self._menu.replace_option_prompt_at_index(place, self._line(place))

    def action_done(self) -> None:
        """End with what is taken, in the order of the lines."""
        self.dismiss(tuple(name for name in self._choices if name in self._taken))

    @property
    def _menu(self) -> OptionList:
        return self.query_one(OptionList)


class Choice(NamedTuple):
    """One line of a menu; its texts are data, never markup.

    Attributes:
        key: Takes it; empty for that of its place, see `KEYS`.
    """

    value: str
    text: str
    key: str = ""


KEYS = "0123456789abcdefghijklmnoprstuvwxyz"
"""The keys of choices in their order; ``q`` closes the menu."""


class ChoiceMenu(ModalScreen[str | None]):
    """Numbered choices, beyond nine with letters; the key, enter or a click takes one, escape none.

    Args:
        title: What is asked.
        first: The number of the first choice.
        chosen: Values that hold already, which are marked; None where nothing can hold.
        wide: As wide as the terminal allows, for choices that are sentences.
        about: What is to be read before choosing; it stands above the choices, in as many lines as it takes.
    """

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
    ChoiceMenu.wide OptionList { width: 110; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"press({key!r})", show=False) for key in KEYS),
        Binding("escape,q", "dismiss", "Cancel"),
    ]

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        first: int = 1,
        chosen: Collection[str] | None = None,
        wide: bool = False,
        about: str = "",
    ) -> None:
        super().__init__(classes="wide" if wide else None)
        self._title = title
        self._choices = choices
        self._first = first
        self._chosen = chosen
        self._about = about

    def compose(self) -> ComposeResult:
        about = [Option(Content(self._about), disabled=True)] if self._about else []
        menu = OptionList(*about, *(self._option(number) for number in range(len(self._choices))), markup=False)
        menu.border_title = Content(self._title)
        menu.border_subtitle = Content("escape: cancel")
        yield menu

    def _option(self, number: int) -> Option:
        choice, key = self._choices[number], f" {self._key_of(number) or ' '} "
        mark = "" if self._chosen is None else "● " if choice.value in self._chosen else "  "
        return Option(Content.assemble((key, "bold $text-accent"), " ", (mark, "bold $text-success"), choice.text))

    def _key_of(self, number: int) -> str:
        """The key of a choice: its own, else that of its place while there are any."""
        return self._choices[number].key or KEYS[number + self._first : number + self._first + 1]

    def action_press(self, key: str) -> None:
        """Take a choice by the key it shows."""
        for number, choice in enumerate(self._choices):
            if self._key_of(number) == key:
                self.dismiss(choice.value)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index - bool(self._about)].value)
