"""Small menus over a screen, to choose lines by keys or clicks; and stepping to the next of several choices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import starmap
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, overload

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.title_bar import Line

Answer = TypeVar("Answer")
Value = TypeVar("Value")


@overload
def choose(asker: DOMNode, menu: ChoiceMenu[Value], then: Callable[[Value], object]) -> None: ...


@overload
def choose(asker: DOMNode, menu: Screen[Answer | None], then: Callable[[Answer], object]) -> None: ...


def choose(asker: DOMNode, menu: Screen[Any], then: Callable[[Any], object]) -> None:
    """Show a menu, and call ``then`` with the answer; without one, do nothing."""

    def chosen(answer: object) -> None:
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


class Choice(NamedTuple, Generic[Value]):
    """One line of a menu; its texts are data, never markup.

    Attributes:
        value: What the menu returns; not None.
        key: The key that chooses it; empty for the key of its position in the menu, see `KEYS`.
        disabled: Whether it is only listed.
    """

    value: Value
    text: str
    key: str = ""
    disabled: bool = False


KEYS = "0123456789abcdefghijklmnoprstuvwxyz"
"""The keys of choices in order; ``q`` closes the menu."""


class ChoiceMenu(BoxScreen[Value | None], Generic[Value]):
    """A menu of numbered choices, with letters after nine; a key, enter or a click chooses one, escape none.

    Args:
        title: The question.
        choices: The choices, or values with their texts.
        first: The number of the first choice.
        chosen: The current values, which are marked; None for a menu without marks.
        wide: As wide as the terminal allows, for choices that are sentences.
        about: Text above the choices, in as many lines as it takes.

    Attributes:
        listed: The choices in the menu.
    """

    DEFAULT_CSS = "ChoiceMenu.wide OptionList { width: 110; }"
    SUBTITLE: ClassVar[str] = "escape: close"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"press({key!r})", show=False) for key in KEYS),
        Binding("space", "press(' ')", show=False),
        Binding("escape,q", "dismiss", "Cancel"),
    ]

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice[Value]] | Mapping[Value, str],
        *,
        first: int = 1,
        chosen: Collection[object] | None = None,
        wide: bool = False,
        about: str | Content = "",
    ) -> None:
        super().__init__(classes="wide" if wide else None)
        self._title = title
        self.listed = [*starmap(Choice, choices.items())] if isinstance(choices, Mapping) else choices
        self._first = first
        self._chosen = chosen
        self._about = about

    def compose(self) -> ComposeResult:
        menu = OptionList(*self._options(), markup=False)
        menu.border_title = Content(self._title)
        menu.border_subtitle = Content(self.SUBTITLE)
        yield menu

    def _options(self) -> list[Option]:
        about = [Option(self._about, disabled=True)] if self._about else []
        return [*about, *(self._option(number) for number in range(len(self.listed)))]

    def _option(self, number: int) -> Option:
        choice, key = self.listed[number], f" {self._key_of(number) or ' '} "
        mark = "" if self._chosen is None else "● " if choice.value in self._chosen else "  "
        words = Content.assemble((key, "bold $text-accent"), " ", (mark, "bold $text-success"), choice.text)
        return Option(words, disabled=choice.disabled)

    def _key_of(self, number: int) -> str:
        return self.listed[number].key or KEYS[number + self._first : number + self._first + 1]

    def action_press(self, key: str) -> None:
        for number in range(len(self.listed)):
            if self._key_of(number) == key:
                self.pick(number)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.pick(event.option_index - bool(self._about))

    def pick(self, number: int) -> None:
        """Return the choice in a line."""
        self.dismiss(self.listed[number].value)


class ManyMenu(ChoiceMenu[Any]):
    """A menu of several choices: space, the line's key or a click toggles a line; enter accepts.

    Args:
        title: The question.
        choices: Names: data, never markup.
        taken: Initially selected choices.
    """

    DEFAULT_CSS = "ManyMenu OptionList { width: 76; text-wrap: nowrap; text-overflow: ellipsis; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "done", "Done", priority=True),
        Binding("space", "turn", "Select", priority=True),
        Binding("*", "all", "All"),
    ]
    SUBTITLE = "space: select · *: all or none · enter: done · escape: cancel"

    def __init__(self, title: str, choices: Sequence[str], taken: Collection[str]) -> None:
        super().__init__(title, dict.fromkeys(choices, ""))
        self._taken = {name for name in choices if name in taken}

    def _option(self, number: int) -> Option:
        name, key = self.listed[number].value, f" {self._key_of(number) or ' '} "
        mark = ("● in   ", "bold $text-success") if name in self._taken else ("○ out  ", "$text-muted")
        return Option(Content.assemble((key, "bold $text-accent"), " ", mark, printable(name)))

    def pick(self, number: int) -> None:
        self._taken ^= {self.listed[number].value}
        self.query_one(OptionList).replace_option_prompt_at_index(number, self._option(number).prompt)

    def action_turn(self) -> None:
        if (number := self.query_one(OptionList).highlighted) is not None:
            self.pick(number)

    def action_all(self) -> None:
        whole = len(self._taken) == len(self.listed)
        for number, one in enumerate(self.listed):
            if whole or one.value not in self._taken:
                self.pick(number)

    def action_done(self) -> None:
        self.dismiss(tuple(one.value for one in self.listed if one.value in self._taken))


_STEPS = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10}
"""Key -> lines by which it moves the cursor."""


class PickMenu(ChoiceMenu[Value]):
    """A menu that typing filters; enter chooses the line under the cursor.

    Args:
        typed: Placeholder of the empty line.
    """

    DEFAULT_CSS = """
    PickMenu > Vertical { width: 74; max-width: 100%; height: auto; max-height: 100%; background: $surface; }
    PickMenu Input { margin: 0 1; }
    PickMenu OptionList { width: 100%; }
    PickMenu.wide > Vertical { width: 110; }
    PickMenu.wide OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Cancel"),
        *(Binding(key, f"move({step})", show=False) for key, step in _STEPS.items()),
    ]
    SUBTITLE = "enter: here · escape: cancel"

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice[Value]] | Mapping[Value, str],
        *,
        typed: str = "type to narrow the list",
        **more: Any,
    ) -> None:
        super().__init__(title, choices, **more)
        self._every, self._typed = tuple(self.listed), typed

    def compose(self) -> ComposeResult:
        with Vertical():
            yield _PickLine(placeholder=self._typed, compact=True)
            yield from super().compose()

    def on_mount(self) -> None:
        menu = self.query_one(OptionList)
        menu.can_focus = False
        self.query_one(Line).focus()
        self.action_move(0)

    def _key_of(self, number: int) -> str:
        return self.listed[number].key

    def matching(self, typed: str) -> list[Choice[Value]]:
        words = typed.casefold().split()
        return [one for one in self._every if all(word in one.text.casefold() for word in words)]

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.show_matching(event.value.strip())

    def show_matching(self, typed: str) -> None:
        self.listed = self.matching(typed)
        nothing = [Option(f"nothing matches {printable(typed)!r}", disabled=True)] if typed else []
        self.query_one(OptionList).set_options(self._options() or nothing)
        self.action_move(0)

    def action_move(self, step: int) -> None:
        """Move the cursor, past lines that can't be chosen."""
        menu, first = self.query_one(OptionList), bool(self._about)
        places = [place for place, one in enumerate(self.listed, first) if not one.disabled]
        at = (menu.highlighted or 0) + step
        beyond = [place for place in places if place >= at] if step >= 0 else [one for one in places if one <= at][::-1]
        menu.highlighted = next(iter(beyond or places[-1 if step >= 0 else 0 :]), None)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.entered(event.value.strip())

    def entered(self, typed: str) -> None:
        """Choose the line under the cursor."""
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.pick(at - bool(self._about))


class _PickLine(Line):
    """An input line; as the first character, the key of a choice chooses it."""

    async def _on_key(self, event: events.Key) -> None:
        menu = self.screen
        if isinstance(menu, PickMenu) and not self.value and event.character in {one.key for one in menu.listed} - {""}:
            event.stop()
            event.prevent_default()
            menu.action_press(str(event.character))
        else:
            await super()._on_key(event)


class PeopleMenu(PickMenu[str]):
    """A menu of people, each with a fixed digit.

    Args:
        fresh: Whether a name that is not in the list is accepted.
    """

    def __init__(self, title: str, choices: Sequence[Choice[str]], *, fresh: bool = False, **more: Any) -> None:
        digit = "a digit, or " if choices else ""
        anybody = ", also a new one" if fresh and choices else ""
        super().__init__(title, choices, typed=f"{digit}type a name{anybody}", **more)
        self._fresh = fresh

    def matching(self, typed: str) -> list[Choice[str]]:
        said = typed.casefold()
        found = [one for one in self._every if said in one.value.casefold()]
        is_new = self._fresh and typed and all(one.value.casefold() != said for one in self._every)
        return [*found, Choice(typed, f"{printable(typed)}  as typed")] if is_new else found


Present = TypeVar("Present")


def following(present: Present, choices: tuple[Present, ...]) -> Present:
    return choices[(choices.index(present) + 1) % len(choices)]


def index_of(ids: Sequence[int], wanted: int) -> int | None:
    try:
        return ids.index(wanted)
    except ValueError:
        return None
