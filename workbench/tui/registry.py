"""Every screen's actions, for what looks at all of them at once."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module

from textual.binding import Binding
from textual.widget import Widget

from workbench.tui import keymap, screens
from workbench.tui.actions import Action
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.widgets.reader import Reader
from workbench.tui.widgets.virtual_table import VirtualTable

WIDGETS: dict[str, type[Widget]] = {"Table": VirtualTable, "Text": Reader}
"""Widgets that have keys of their own, by the name help gives them."""


def every_screen() -> Iterator[type[WorkbenchScreen]]:
    """All screen classes; importing their modules takes a moment."""
    for module in pkgutil.iter_modules(screens.__path__):
        for kind in vars(import_module(f"{screens.__name__}.{module.name}")).values():
            if isinstance(kind, type) and issubclass(kind, WorkbenchScreen) and kind.__module__.endswith(module.name):
                yield kind


def widget_bindings(widget: type) -> list[Binding]:
    """The keys of a widget that a keymap can move."""
    declared: list[object] = getattr(widget, "BINDINGS", [])
    return [binding for binding in declared if isinstance(binding, Binding) and binding.id]


def keymap_problems(moved: Mapping[str, str], everywhere: Iterable[Action]) -> list[str]:
    """What is wrong with a keymap; see `workbench.tui.keymap.problems`."""
    others = {str(binding.id) for widget in WIDGETS.values() for binding in widget_bindings(widget)}
    return keymap.problems(moved, (kind.ACTIONS for kind in every_screen()), everywhere, others)
