"""Help: the keys of the screen below, as they are now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from workbench.app.tui.keymap import Action, bindings
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.matrix import CellGrid
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.registry import widget_bindings
from workbench.app.tui.screen import WorkbenchScreen

_KEYS_WIDTH = 14
_WIDGETS: dict[str, type[Widget]] = {"In a table": VirtualTable, "In a matrix": CellGrid, "In a text": Reader}


class HelpLine(NamedTuple):
    """One line of help: keys as a person knows them, and what they do."""

    keys: str
    text: str


class HelpScreen(ModalScreen[None]):
    """The keys of a screen in groups: its own, those that work everywhere, those of its tables and texts."""

    CSS_PATH = "help.tcss"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("help.close", "escape,question_mark,f1,q", "dismiss", "Close", "Go back to the screen."),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]

    def __init__(self, below: WorkbenchScreen) -> None:
        super().__init__()
        self.below = below

    def compose(self) -> ComposeResult:
        with Vertical(id="help-box") as box:
            box.border_title = Content(f"Keys · {self.below.TITLE_TEXT or 'this screen'}")
            with VerticalScroll():
                yield Static(self.content(), id="help-keys", markup=False)
        yield Footer(show_command_palette=False)

    def content(self) -> Content:
        """All groups as text."""
        parts = []
        for title, lines in self.groups():
            parts.append(Content.styled(title, "bold $text-accent"))
            for line in lines:
                parts.append(Content.assemble("  ", (line.keys.ljust(_KEYS_WIDTH), "bold"), " ", Content(line.text)))
            parts.append(Content(""))
        parts.append(
            Content.styled(
                "Every key can be moved in workbench.toml, table [keymap]; the ids are in the documentation. "
                "The command palette finds the same by name.",
                "$foreground-muted",
            )
        )
        return Content("\n").join(parts)

    def groups(self) -> Iterator[tuple[str, list[HelpLine]]]:
        """Titles and lines, with the keymap in force."""
        own = [self._line(action.id, action.keys, action.help) for action in self.below.own_actions()]
        if own:
            yield "This screen", own
        everywhere = self.below.workbench.EVERYWHERE
        yield "Everywhere", [self._line(action.id, action.keys, action.help) for action in everywhere]
        for title, widget in _WIDGETS.items():
            if self.below.query(widget):
                said = {action.id: action.help for action in getattr(widget, "ACTIONS", ())}
                declared = widget_bindings(widget)
                yield title, [self._line(one.id or "", one.key, said.get(one.id, one.description)) for one in declared]

    def _line(self, name: str, keys: str, text: str) -> HelpLine:
        return HelpLine(" ".join(self.below.workbench.shown_keys(name, keys)), text)
