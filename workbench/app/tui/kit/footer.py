"""The footer: shows as many keys as fit; back and help are always there, however narrow the terminal is."""

from __future__ import annotations

from typing import ClassVar, Final, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import events
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget

KEPT: Final = ("Back", "Close", "Keys")
"""Labels of keys that are never left out."""

_LEAST: Final = ("Commands", "Go to", "Quit")
"""Labels of keys that are left out first, in this order; the help screen lists all keys."""

_PADDING: Final = 3
"""Cells that a key takes in addition to its name and its label."""

_DIM: Final = Style(dim=True)


class FooterKey(NamedTuple):
    """A key in the footer.

    Attributes:
        key: The key's name in Textual, simulated by a click.
        name: The key as it is shown.
        label: Its action in a word or two.
        enabled: Whether the action is available at the moment.
    """

    key: str
    name: str
    label: str
    enabled: bool

    @property
    def width(self) -> int:
        return cell_len(self.name) + cell_len(self.label) + _PADDING


class Footer(Widget, can_focus=False):
    """Shows the keys that fit; others are left out, and are in the help screen.

    One widget draws the whole line. Screens with twenty keys are opened again and again, and a widget for each key
    would take longer than all other widgets of a screen together.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"footer--key", "footer--label"}
    DEFAULT_CSS = """
    Footer {
        dock: bottom;
        height: 1;
        color: $footer-foreground;
        background: $footer-background;
        .footer--key { color: $footer-key-foreground; background: $footer-key-background; text-style: bold; }
        .footer--label { color: $footer-description-foreground; background: $footer-description-background; }
    }
    """

    keys: reactive[tuple[FooterKey, ...]] = reactive(())
    """The current keys in order; the command palette's key is the last one, at the right edge."""

    def __init__(self, *, show_command_palette: bool = True) -> None:
        super().__init__()
        self._show_command_palette = show_command_palette

    def on_mount(self) -> None:
        self.screen.call_next(self._read)
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_updated)

    def _bindings_updated(self, screen: Screen[object]) -> None:
        if screen.app.app_focus and self.is_attached and screen is self.screen:
            self.call_after_refresh(self._read)

    def _read(self) -> None:
        if not self.is_attached:
            return  # its screen has been left
        by_action: dict[str, FooterKey] = {}
        palette: list[FooterKey] = []
        ranks = {self.screen: 0, self.app: 2}  # a widget's own keys are between
        active = sorted(self.screen.active_bindings.values(), key=lambda one: ranks.get(one.node, 1))
        for _, binding, enabled, _ in active:
            found = FooterKey(binding.key, self.app.get_key_display(binding), binding.description, enabled)
            if binding.id == "app.palette":
                palette = [found]
            elif binding.show:
                by_action.setdefault(binding.action, found)
        self.keys = (*by_action.values(), *(palette if self._show_command_palette else ()))

    @property
    def shown(self) -> list[tuple[int, FooterKey]]:
        left_out = left_out_of([(key.label, key.width) for key in self.keys], self.size.width)
        column, found = 0, []
        for place, key in enumerate(self.keys):
            if place not in left_out:
                at_right = key.label == _LEAST[0]
                found.append((max(column, self.size.width - key.width) if at_right else column, key))
                column += key.width
        return found

    def render(self) -> Text:
        key_style, label_style = (self.get_component_rich_style(name) for name in ("footer--key", "footer--label"))
        line = Text(no_wrap=True, end="")
        for column, key in self.shown:
            line.append(" " * (column - cell_len(line.plain)))
            dim = Style.null() if key.enabled else _DIM
            line.append(f" {key.name} ", key_style + dim)
            line.append(f"{key.label} ", label_style + dim)
        return line

    def on_click(self, event: events.Click) -> None:
        for column, key in self.shown:
            if column <= event.x < column + key.width:
                if key.enabled:
                    self.app.simulate_key(key.key)
                else:
                    self.app.bell()


def left_out_of(keys: list[tuple[str, int]], room: int) -> set[int]:
    """Choose the keys to leave out of the footer so that the others fit.

    Args:
        keys: Label and width in cells of each key, in order.
        room: Available cells.

    Returns:
        The indexes of the omitted keys: the least important ones first, then keys from the end; never one of `KEPT`.
    """
    last_first = sorted(range(len(keys)), reverse=True)
    least = [place for label in _LEAST for place in last_first if keys[place][0] == label]
    others = [place for place in last_first if keys[place][0] not in (*_LEAST, *KEPT)]
    missing, left_out = sum(width for _, width in keys) - room, set[int]()
    for place in (*least, *others):
        if missing <= 0:
            break
        left_out.add(place)
        missing -= keys[place][1]
    return left_out
