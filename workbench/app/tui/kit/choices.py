"""Small menus over a screen, to choose one or several lines by keys or clicks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import ClassVar, NamedTuple, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from workbench.app.tui.kit.matrix import printable
from workbench.app.tui.kit.title_bar import Line

Answer = TypeVar("Answer")


def choose(asker: DOMNode, menu: Screen[Answer | None], then: Callable[[Answer], object]) -> None:
    """Show a menu, and call ``then`` with the answer; without one, do nothing."""

    def chosen(answer: Answer | None) -> None:
        if answer is not None:
            then(answer)

    asker.app.push_screen(menu, chosen)


class BoxScreen(ModalScreen[Answer]):
    """A question in the middle of the screen: an `OptionList`, or a container of the class ``box``."""

    DEFAULT_CSS = """
    BoxScreen { align: center middle; }
    BoxScreen OptionList, BoxScreen .box {
        width: 60;
        max-width: 100%;
        height: auto;
        max-height: 100%;
        border: round $primary;
        background: $surface;
    }
    BoxScreen .box { width: 70; padding: 0 1; }
    """


class ManyMenu(BoxScreen[tuple[str, ...] | None]):
    """A menu of several choices: space, the line's number or a click toggles a line; enter accepts.

    Args:
        title: The question.
        choices: Names: data, never markup.
        taken: Initially selected choices.
    """

    DEFAULT_CSS = "ManyMenu OptionList { width: 76; text-wrap: nowrap; text-overflow: ellipsis; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "done", "Done", priority=True),
        Binding("space", "turn", "Select", priority=True),
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
        menu.border_subtitle = Content("space: select · *: all or none · enter: done · escape: cancel")
        yield menu

    def _line(self, place: int) -> Content:
        name = self._choices[place]
        key = f" {place + 1} " if place < 9 else "   "
        mark = ("● in   ", "bold $text-success") if name in self._taken else ("○ out  ", "$text-muted")
        return Content.assemble((key, "bold $text-accent"), " ", mark, printable(name))

    def action_turn(self, place: int | None = None) -> None:
        place = self._menu.highlighted if place is None else place
        if place is not None and place < len(self._choices):
            self._taken ^= {self._choices[place]}
            self._menu.replace_option_prompt_at_index(place, self._line(place))

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_turn(event.option_index)

    def action_all(self) -> None:
        every = set(self._choices)
        self._taken = set() if self._taken == every else every
        for place in range(len(self._choices)):
            self._menu.replace_option_prompt_at_index(place, self._line(place))

    def action_done(self) -> None:
        self.dismiss(tuple(name for name in self._choices if name in self._taken))

    @property
    def _menu(self) -> OptionList:
        return self.query_one(OptionList)


class Choice(NamedTuple):
    """One line of a menu; its texts are data, never markup.

    Attributes:
        key: The key that chooses it; empty for the key of its position in the menu, see `KEYS`.
    """

    value: str
    text: str
    key: str = ""


KEYS = "0123456789abcdefghijklmnoprstuvwxyz"
"""The keys of choices in order; ``q`` closes the menu."""


class ChoiceMenu(BoxScreen[str | None]):
    """A menu of numbered choices, with letters after nine; a key, enter or a click chooses one, escape none.

    Args:
        title: The question.
        first: The number of the first choice.
        chosen: The current values, which are marked; None for a menu without marks.
        wide: As wide as the terminal allows, for choices that are sentences.
        about: Text above the choices, in as many lines as it takes.
    """

    DEFAULT_CSS = "ChoiceMenu.wide OptionList { width: 110; }"
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
        menu = OptionList(*self._options(), markup=False)
        menu.border_title = Content(self._title)
        menu.border_subtitle = Content("escape: cancel")
        yield menu

    def _options(self) -> list[Option]:
        about = [Option(Content(self._about), disabled=True)] if self._about else []
        return [*about, *(self._option(number) for number in range(len(self._choices)))]

    def _option(self, number: int) -> Option:
        choice, key = self._choices[number], f" {self._key_of(number) or ' '} "
        mark = "" if self._chosen is None else "● " if choice.value in self._chosen else "  "
        return Option(Content.assemble((key, "bold $text-accent"), " ", (mark, "bold $text-success"), choice.text))

    def _key_of(self, number: int) -> str:
        return self._choices[number].key or KEYS[number + self._first : number + self._first + 1]

    def action_press(self, key: str) -> None:
        for number, choice in enumerate(self._choices):
            if self._key_of(number) == key:
                self.dismiss(choice.value)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index - bool(self._about)].value)


class _NameLine(Line):
    """An input for a person's name; a digit as the first character chooses a person from the menu."""

    async def _on_key(self, event: events.Key) -> None:
        if event.character is not None and event.character in KEYS[:10] and not self.value:
            event.stop()
            event.prevent_default()
            if isinstance(menu := self.screen, ChoiceMenu):
                menu.action_press(event.character)
        else:
            await super()._on_key(event)


class PeopleMenu(ChoiceMenu):
    """A menu of people, each with a fixed digit; typing filters the list, enter chooses the person under the cursor.

    Args:
        fresh: Whether a name that is not in the list is accepted.
    """

    DEFAULT_CSS = """
    PeopleMenu > Vertical { width: 74; max-width: 100%; height: auto; max-height: 100%; background: $surface; }
    PeopleMenu Input { margin: 0 1; }
    PeopleMenu OptionList { width: 100%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Cancel"),
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
    ]

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        chosen: Collection[str] | None = None,
        about: str = "",
        fresh: bool = False,
    ) -> None:
        super().__init__(title, choices, chosen=chosen, about=about)
        self._every, self._fresh = tuple(choices), fresh

    def compose(self) -> ComposeResult:
        with Vertical():
            digit = "a digit, or " if self._every else ""
            anybody = ", also a new one" if self._fresh and self._every else ""
            yield _NameLine(placeholder=f"{digit}type a name{anybody}", compact=True)
            yield from super().compose()

    def on_mount(self) -> None:
        menu = self.query_one(OptionList)
        menu.can_focus = False
        menu.border_subtitle = Content("enter: here · escape: cancel")
        self.query_one(Line).focus()
        self.action_move(0)

    def _key_of(self, number: int) -> str:
        return self._choices[number].key

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        name = event.value.strip()
        said = name.casefold()
        self._choices = [one for one in self._every if said in one.value.casefold()]
        if self._fresh and name and all(one.value.casefold() != said for one in self._every):
            self._choices.append(Choice(name, f"{printable(name)}  as typed"))
        menu = self.query_one(OptionList)
        menu.set_options(self._options())
        self.action_move(0)

    def action_move(self, step: int) -> None:
        menu, first = self.query_one(OptionList), bool(self._about)
        at = (menu.highlighted if menu.highlighted is not None else first) + step
        menu.highlighted = min(max(at, first), first + len(self._choices) - 1) if self._choices else None

    @property
    def _under_cursor(self) -> str | None:
        at = self.query_one(OptionList).highlighted
        return None if at is None else self._choices[at - bool(self._about)].value

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if (name := self._under_cursor) is not None:
            self.dismiss(name)
