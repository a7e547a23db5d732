"""Every command, screen and dialog has a scene."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from textual.screen import ModalScreen

from tests.full_disk_commands import every_command
from tests.golden import frozen
from tests.golden.commands import LINES, resolved
from tests.golden.printed import FIGURES
from tests.golden.walks import WALKS
from workbench.app import tui
from workbench.app.cli import root
from workbench.app.tui.destinations import DESTINATIONS
from workbench.app.tui.registry import every_screen
from workbench.app.verbs import GROUPS


def test_every_command_has_a_scene() -> None:
    """A new command needs a line in ``full_disk_commands`` or in ``golden/commands.py``."""
    lines = [*(text.split(" ; ")[-1] for text in LINES.values()), *FIGURES]
    shown = {resolved(line)[0] for line in lines}
    assert sorted({name for name, _ in every_command(root)} - shown) == []


def test_every_group_of_commands_is_frozen() -> None:
    words = {text.split()[0] for text in (*LINES.values(), *FIGURES)}
    assert words == {word for group in GROUPS.values() for word in group}


def every_dialog() -> set[type]:
    modules = pkgutil.walk_packages(tui.__path__, f"{tui.__name__}.")
    values = [value for module in modules for value in vars(import_module(module.name)).values()]
    found = {value for value in values if isinstance(value, type) and issubclass(value, ModalScreen)}
    return {kind for kind in found if kind.__module__.startswith(tui.__name__)}


def test_every_screen_and_dialog_has_a_scene() -> None:
    """A new one needs a walk to it in ``golden/walks.py``."""
    pieces = [piece for name in (*WALKS, "dialogs") for piece in frozen.read(f"walks-{name}", "wording")]
    shown = {piece.split(maxsplit=1)[0] for piece in pieces} | {one.screen for one in DESTINATIONS.values()}
    kinds = {*every_screen(), *every_dialog()}
    assert len(kinds) >= 54
    # Base classes of dialogs, call screens and forms are never opened themselves.
    assert {kind.__name__ for kind in kinds} - shown == {"BoxScreen", "CallsScreen", "VerbFormScreen"}
