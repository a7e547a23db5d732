"""Actions and their keys: the registry, and checks of a keymap against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import NamedTuple

from textual.binding import Binding, InvalidBinding
from textual.keys import format_key

from workbench.core.errors import did_you_mean

# -- The action registry: key bindings, footer, command palette and help are all made from it.


NO_KEY = "no-key"
"""Placeholder for the key of an action without one: a keymap finds actions by their bindings."""


class Action(NamedTuple):
    """One thing a person can do on a screen.

    Attributes:
        id: ``screen.verb``; the keymap in workbench.toml names it.
        keys: Default keys, comma-separated; a key does the same on every screen that uses it. Empty: a keymap
            may assign one.
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


_declared: dict[str, str] = {}
"""Action id -> default keys, of the modules that have been imported."""


def bindings(actions: tuple[Action, ...]) -> list[Binding]:
    _declared.update((action.id, action.keys) for action in actions)
    return [
        Binding(
            action.keys or NO_KEY, action.run, action.label, show=action.footer, priority=action.priority, id=action.id
        )
        for action in actions
    ]


def key_names(keys: str) -> list[str]:
    """Split a comma-separated list into Textual's key names: ``"?,f1"`` -> ``["question_mark", "f1"]``."""
    try:
        return [binding.key for binding in Binding.make_bindings([Binding(keys, "")])]
    except InvalidBinding:
        return []


_moved: dict[str, str] = {}
"""The keymap in force."""


def move_keys(keymap: Mapping[str, str]) -> None:
    """Set the keymap whose keys hints show: action id -> keys, as in ``workbench.toml``."""
    _moved.clear()
    _moved.update(keymap)


def shown_keys(name: str, keys: str) -> list[str]:
    """Return the keys of an action as hints show them (``^t`` for ``ctrl+t``), with the keymap in force.

    Args:
        name: The action's id.
        keys: Its default keys.
    """
    return list(map(_display_key, moved_keys(name, keys)))


def moved_keys(name: str, keys: str) -> list[str]:
    """Return Textual's names of the keys of an action, with the keymap in force."""
    return key_names(_moved.get(name, keys))


def _display_key(key: str) -> str:
    *modifiers, name = key.split("+")
    return "+".join([*modifiers, format_key(name)]).replace("ctrl+", "^")


def key_of(name: str) -> str:
    """Return the first key of an action as a hint shows it."""
    if name not in _declared:
        # A hint about another screen, which declares its actions when it is imported.
        screen = name.partition(".")[0].replace("-", "_")
        import_module(f"workbench.app.tui.{'app' if screen == 'app' else f'screens.{screen}'}")
    return next(iter(shown_keys(name, _declared[name])), "")


def keymap_over_widgets(
    keymap: Mapping[str, str], actions: Iterable[Action], widgets: Iterable[Binding]
) -> dict[str, str]:
    """Return a keymap extended so that texts and tables no longer use the keys it gives to an action.

    Args:
        keymap: Action id -> keys, as in ``workbench.toml``.
        actions: The screen's actions.
        widgets: The default bindings of texts and tables; those that the keymap sets stay as set.
    """
    moved = {
        key
        for action in actions
        for key in {*key_names(keymap.get(action.id, action.keys))} - {*key_names(action.keys)}
    }
    found = {}
    for binding in widgets:
        keys = key_names(binding.key)
        if binding.id and moved.intersection(keys):
            found[binding.id] = ",".join(key for key in keys if key not in moved) or NO_KEY
    return found | dict(keymap)


def problems(
    keymap: Mapping[str, str], screens: Iterable[tuple[Action, ...]], everywhere: Iterable[Action], others: set[str]
) -> list[str]:
    """Return the problems of a keymap.

    Args:
        keymap: Action id -> keys, as in ``workbench.toml``.
        screens: The actions of every screen.
        everywhere: The actions that work on every screen.
        others: Further ids that a keymap may contain (keys of tables and texts).
    """
    groups = [tuple(everywhere), *screens]
    known = {action.id for group in groups for action in group} | others
    found = []
    for name, keys in keymap.items():
        if name not in known:
            found.append(f"{name!r} is not an action. {did_you_mean(name, sorted(known))}".rstrip())
        elif not key_names(keys):
            found.append(f"{name!r} has no key.")
    for group in groups:
        found += _find_clashes(keymap, group if group is groups[0] else groups[0] + group)
    return list(dict.fromkeys(found))


def _find_clashes(keymap: Mapping[str, str], actions: tuple[Action, ...]) -> list[str]:
    taken: dict[str, Action] = {}
    found = []
    for action in actions:
        for key in key_names(keymap.get(action.id, action.keys)):
            other = taken.setdefault(key, action)
            shared = {*key_names(other.keys)} & {*key_names(action.keys)}
            if other is not action and not shared and {other.id, action.id} & keymap.keys():
                found.append(f"The key {key!r} is given to both {other.id!r} and {action.id!r}.")
    return found
