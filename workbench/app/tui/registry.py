"""Every screen's actions and every widget's keys, for checks over all of them."""

from __future__ import annotations

import pkgutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from types import ModuleType

from textual.binding import Binding
from textual.widget import Widget

from workbench.app.tui import keymap, kit, screens
from workbench.app.tui.keymap import NO_KEY, Action, bindings, shown_keys
from workbench.app.tui.screen import WorkbenchScreen


def _classes_in(package: ModuleType) -> Iterator[type]:
    for module in pkgutil.iter_modules(package.__path__):
        name = f"{package.__name__}.{module.name}"
        for value in vars(import_module(name)).values():
            if isinstance(value, type) and value.__module__ == name:
                yield value


def every_screen() -> Iterator[type[WorkbenchScreen]]:
    """Yield all screen classes; importing their modules takes a moment."""
    return (found for found in _classes_in(screens) if issubclass(found, WorkbenchScreen))


def every_widget() -> Iterator[type[Widget]]:
    return (found for found in (*_classes_in(kit), *_classes_in(screens)) if issubclass(found, Widget))


def widget_bindings(widget: type[Widget]) -> list[Binding]:
    declared: list[object] = widget.__dict__.get("BINDINGS", [])
    return [binding for binding in declared if isinstance(binding, Binding) and binding.id]


def every_key(everywhere: Iterable[Action]) -> Iterator[Binding]:
    """Yield everything that a keymap can move."""
    yield from bindings(tuple(everywhere))
    for kind in every_widget():
        yield from widget_bindings(kind)


def labels_of_keys(everywhere: Iterable[Action]) -> dict[tuple[str, ...], list[str]]:
    """Return the labels of each key's actions, the most frequent first, by the keys with these labels, as hints show
    them.
    """
    labels = defaultdict[str, Counter[str]](Counter)
    for one in every_key(everywhere):
        for key in shown_keys(str(one.id), one.key):
            labels[key][one.description] += 1
    equal = defaultdict[tuple[str, ...], list[str]](list)
    for key, found in labels.items():
        if key != NO_KEY:
            equal[tuple(label for label, _ in found.most_common())].append(key)
    return {tuple(keys): [*found] for found, keys in equal.items()}


def keymap_problems(moved: Mapping[str, str], everywhere: Iterable[Action]) -> list[str]:
    """Return the problems of a keymap; see `workbench.app.tui.keymap.problems`."""
    others = {str(binding.id) for kind in every_widget() for binding in widget_bindings(kind)}
    return keymap.problems(moved, (kind.ACTIONS for kind in every_screen()), everywhere, others)
