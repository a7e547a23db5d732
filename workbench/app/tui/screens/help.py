"""Help: the current keys of the screen below in a list that can be searched; a chosen line is run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.widget import Widget

from workbench.app.tui.keymap import Action, bindings, moved_keys, shown_keys
from workbench.app.tui.kit.choices import Choice, PickMenu
from workbench.app.tui.kit.matrix_table import Matrix
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.registry import labels_of_keys, widget_bindings
from workbench.app.tui.screen import WorkbenchScreen

_KEYS_WIDTH = 14
_TEXT_WIDTH = 65
_WIDGETS: tuple[tuple[str, type[Widget]], ...] = (
    ("In a table", VirtualTable),
    ("In a matrix", Matrix),
    ("In a text", Reader),
)
_EVERY: Final = "every"
_CLOSE: Final = "close"
OPEN: Final = "open:"
"""Before the name of the screen that a chosen line opens."""
_REMARK: Final = (
    "Every key can be moved in workbench.toml, table [keymap]; the ids are in the documentation. The command palette "
    "finds actions by name."
)


class HelpScreen(PickMenu[str]):
    """The keys of a screen in groups: its own, those that work everywhere, those of its tables and texts.

    It returns Textual's name of the key to press, or `OPEN` and the name of a screen; None if nothing was chosen.

    Attributes:
        of_every_key: Whether the keys of all screens are shown instead, each with the labels of its actions.
    """

    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("help.close", "escape,q", "dismiss", "Close", "Go back to the screen."),
        Action("help.turn", "?,f1", "press('?')", "Every key", "Show the keys of all screens; again: this screen's."),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]
    of_every_key = False

    def __init__(self, below: WorkbenchScreen) -> None:
        self.below = below
        super().__init__(
            f"Keys · {below.TITLE_TEXT or 'this screen'}", self._lines(), typed="type to find a key; enter runs it"
        )

    def action_press(self, key: str) -> None:
        if key == "?":
            self.of_every_key = not self.of_every_key
            self._every = tuple(self._lines())
            self.show_matching("")
        elif key == "q":
            self.dismiss(None)

    def _lines(self) -> Sequence[Choice[str]]:
        return [line for title, lines in self.groups() for line in (_heading(title), *lines)]

    def groups(self) -> Iterator[tuple[str, list[Choice[str]]]]:
        turned = "this screen" if self.of_every_key else "all screens"
        here = [Choice(_EVERY, _text("", f"Show the keys of {turned}."), "?")]
        yield "Help", [*here, Choice(_CLOSE, _text("", "Go back to the screen."), "q")]
        if self.of_every_key:
            found = labels_of_keys(self.below.workbench.EVERYWHERE)
            told = [_only(" ".join(keys), " · ".join(labels)) for keys, labels in found.items()]
            yield "On every screen", told
            return
        own = [_line(action.id, action.keys, action.help) for action in self.below.own_actions()]
        if own := [line for line in own if line.value]:
            yield "This screen", own
        if self.below.WORDS:
            yield "Words", [_only(word, text) for word, text in self.below.WORDS.items()]
        everywhere = (*self.below.workbench.actions_everywhere(), *self.below.workbench.LETTERS)
        yield "Everywhere", [_line(action.id, action.keys, action.help) for action in everywhere]
        for title, widget in _WIDGETS:
            if any(widget is not VirtualTable or not isinstance(one, Matrix) for one in self.below.query(widget)):
                said = {action.id: action.help for action in getattr(widget, "ACTIONS", ())}
                declared = widget_bindings(widget)
                yield title, [_line(str(one.id), one.key, said.get(one.id, one.description)) for one in declared]
        places = self.below.workbench.places
        opening = [Choice(OPEN + one.name, _text(one.keys, f"{one.title}: {one.text}.")) for one in places]
        yield "By name", opening
        yield _REMARK, []


def _heading(title: str) -> Choice[str]:
    return Choice("", "\n".join(wrap(title, _TEXT_WIDTH)), disabled=True)


def _text(keys: str, text: str) -> str:
    """Return a line of help; its further lines begin below the text."""
    indent = " " * (_KEYS_WIDTH + 1)
    return "\n".join(wrap(f"{keys:<{_KEYS_WIDTH}} {text}", _TEXT_WIDTH, subsequent_indent=indent))


def _only(keys: str, text: str) -> Choice[str]:
    return Choice("", _text(keys, text), disabled=True)


def _line(name: str, keys: str, text: str) -> Choice[str]:
    """Return the line of an action, with the keys that the keymap gives it."""
    shown = shown_keys(name, keys)
    return Choice(next(iter(moved_keys(name, keys)), ""), _text(" ".join(shown), text), disabled=not shown)
