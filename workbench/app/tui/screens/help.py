"""Help: the current keys of the screen below, and the meaning of each key on all screens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from workbench.app.tui.keymap import NO_KEY, Action, bindings, shown_keys
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.matrix_table import Matrix
from workbench.app.tui.kit.pass_grid import PassGrid
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.meanings import MEANINGS, Meaning, meaning_of
from workbench.app.tui.registry import default_keys, widget_bindings
from workbench.app.tui.screen import WorkbenchScreen

if TYPE_CHECKING:
    from workbench.app.tui.app import WorkbenchApp

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
        of_every_key: Whether the table of all keys and their meanings is shown instead.
    """

    CSS_PATH = "help.tcss"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("help.close", "escape,q", "dismiss", "Close", "Go back to the screen."),
        Action(
            "help.turn", "question_mark,f1", "turn", "Every key", "Show each key's meaning; again: this screen's keys."
        ),
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
        of = "meaning of all keys" if self.of_every_key else self.below.TITLE_TEXT or "this screen"
        return Content(f"Keys · {of}")

    def action_turn(self) -> None:
        self.of_every_key = not self.of_every_key

    def watch_of_every_key(self) -> None:
        self.query_one("#help-box").border_title = self._title()
        self.query_one("#help-keys", Static).update(self.content())
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def on_resize(self) -> None:
        self.query_one("#help-keys", Static).update(self.content())

    def _text_width(self) -> int:
        return min(_BOX_WIDTH, self.app.size.width) - _AROUND

    def content(self) -> Content:
        parts = []
        for title, lines in every_key(self.below.workbench) if self.of_every_key else self.groups():
            parts.append(Content.styled(title, "bold $text-accent"))
            for line in lines:
                keys = line.keys.ljust(_KEYS_WIDTH)
                first, *others = Content(line.text).wrap(max(1, self._text_width() - _INDENT - len(keys)))
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

    def _help_line(self, name: str, keys: str, text: str) -> HelpLine:
        return HelpLine(" ".join(shown_keys(name, keys)), text)


def every_key(app: WorkbenchApp) -> Iterator[tuple[str, list[HelpLine]]]:
    """Yield groups of lines, one line per meaning.

    Its keys are those of the keymap and, unless the keymap moves all its actions, the default ones.
    """
    declared = default_keys(app.EVERYWHERE) if app.settings.keymap else ()
    moved = [(meaning_of(name), key) for name, keys in declared for key in shown_keys(name, keys) if key != NO_KEY]

    def line(meaning: Meaning) -> HelpLine:
        keys = [key for one, key in moved if one == meaning] or shown_keys("", meaning.keys)
        return HelpLine(" ".join(dict.fromkeys(keys)), meaning.text)

    yield "On every screen", [line(meaning) for meaning in MEANINGS if not meaning.at_desks]
    yield "Where people label and adjudicate", [line(meaning) for meaning in MEANINGS if meaning.at_desks]
