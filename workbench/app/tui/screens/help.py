"""Help: the current keys of the screen below, and what each key does on all screens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from workbench.app.tui.keymap import Action, bindings, shown_keys
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.matrix_table import Matrix
from workbench.app.tui.kit.pass_grid import PassGrid
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.registry import labels_of_keys, widget_bindings
from workbench.app.tui.screen import WorkbenchScreen

_KEYS_WIDTH = 14
_INDENT = 3
_BOX_WIDTH = 78
_AROUND = 6
_WIDGETS: tuple[tuple[str, type[Widget]], ...] = (
    ("In a table", VirtualTable),
    ("In a matrix", Matrix),
    ("In a matrix", PassGrid),
    ("In a text", Reader),
)


class HelpLine(NamedTuple):
    """One line of help: keys as shown to users, and what they do."""

    keys: str
    text: str


class HelpScreen(ModalScreen[None]):
    """The keys of a screen in groups: its own, those that work everywhere, those of its tables and texts.

    Attributes:
        of_every_key: Whether the keys of all screens are shown instead, each with the labels of its actions.
    """

    CSS_PATH = "help.tcss"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("help.close", "escape,q", "dismiss", "Close", "Go back to the screen."),
        Action("help.turn", "?,f1", "turn", "Every key", "Show the keys of all screens; again: this screen's."),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]
    of_every_key: reactive[bool] = reactive(False, init=False)

    def __init__(self, below: WorkbenchScreen) -> None:
        super().__init__()
        self.below = below

    def compose(self) -> ComposeResult:
        with Vertical(id="help-box") as box:
            box.border_title = self._title()
            with VerticalScroll():
                yield Static(self.content(), id="help-keys", markup=False)
        yield Footer(show_command_palette=False)

    def _title(self) -> Content:
        of = "all screens" if self.of_every_key else self.below.TITLE_TEXT or "this screen"
        return Content(f"Keys · {of}")

    def action_turn(self) -> None:
        self.of_every_key = not self.of_every_key

    def watch_of_every_key(self) -> None:
        self.query_one("#help-box").border_title = self._title()
        self.query_one("#help-keys", Static).update(self.content())
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def on_resize(self) -> None:
        self.query_one("#help-keys", Static).update(self.content())

    def content(self) -> Content:
        parts, width = [], min(_BOX_WIDTH, self.app.size.width) - _AROUND - _INDENT - _KEYS_WIDTH
        for title, lines in self._every_key() if self.of_every_key else self.groups():
            parts.append(Content.styled(title, "bold $text-accent"))
            for line in lines:
                keys = line.keys.ljust(_KEYS_WIDTH)
                first, *others = Content(line.text).wrap(max(1, width + _KEYS_WIDTH - len(keys)))
                parts.append(Content.assemble("  ", (keys, "bold"), " ", first))
                parts.extend(Content.assemble(" " * (_INDENT + _KEYS_WIDTH), other) for other in others)
            parts.append(Content(""))
        parts.append(
            Content.styled(
                "Every key can be moved in workbench.toml, table [keymap]; the ids are in the documentation. "
                "The command palette finds actions by name.",
                "$foreground-muted",
            )
        )
        return Content("\n").join(parts)

    def groups(self) -> Iterator[tuple[str, list[HelpLine]]]:
        own = [self._help_line(action.id, action.keys, action.help) for action in self.below.own_actions()]
        if own := [line for line in own if line.keys]:
            yield "This screen", own
        if self.below.WORDS:
            yield "Words", [HelpLine(word, text) for word, text in self.below.WORDS.items()]
        everywhere = self.below.workbench.actions_everywhere()
        yield "Everywhere", [self._help_line(action.id, action.keys, action.help) for action in everywhere]
        for title, widget in _WIDGETS:
            if any(widget is not VirtualTable or not isinstance(one, Matrix) for one in self.below.query(widget)):
                said = {action.id: action.help for action in getattr(widget, "ACTIONS", ())}
                declared = widget_bindings(widget)
                yield (
                    title,
                    [self._help_line(one.id or "", one.key, said.get(one.id, one.description)) for one in declared],
                )
        places = self.below.workbench.places
        yield "By name", [HelpLine(place.keys, f"{place.title}: {place.text}.") for place in places]

    def _every_key(self) -> Iterator[tuple[str, list[HelpLine]]]:
        found = labels_of_keys(self.below.workbench.EVERYWHERE)
        yield "On every screen", [HelpLine(" ".join(keys), " · ".join(labels)) for keys, labels in found.items()]

    def _help_line(self, name: str, keys: str, text: str) -> HelpLine:
        return HelpLine(" ".join(shown_keys(name, keys)), text)
