"""The action registry: key bindings, footer, command palette and help are all made from it."""

from __future__ import annotations

from typing import NamedTuple

from textual.binding import Binding


class Action(NamedTuple):
    """One thing a person can do on a screen.

    Attributes:
        id: ``screen.verb``; the keymap in workbench.toml names it.
        keys: Default keys, comma-separated.
        run: The Textual action, such as ``label('correct')`` or ``app.open_screen('browse')``.
        label: One or two words for the footer.
        help: One sentence for the help screen and the command palette.
        footer: Whether the footer shows it.
        priority: Whether the key works even when a widget has the focus and wants it.
    """

    id: str
    keys: str
    run: str
    label: str
    help: str
    footer: bool = True
    priority: bool = False


def bindings(actions: tuple[Action, ...]) -> list[Binding]:
    """Key bindings that carry the actions' ids, so that a keymap can move them."""
    return [
        Binding(action.keys, action.run, action.label, show=action.footer, priority=action.priority, id=action.id)
        for action in actions
    ]
