"""Nothing that users see is left out: every command has a scene."""

from __future__ import annotations

from tests.full_disk_commands import every_command
from tests.golden.commands import LINES, resolved
from workbench.app.cli import root
from workbench.app.verbs import GROUPS


def test_every_command_is_run() -> None:
    """One that is new needs a line in ``full_disk_commands`` or in ``golden/commands.py``."""
    shown = {resolved(text.split(" ; ")[-1])[0] for text in LINES.values()}
    assert sorted({name for name, _ in every_command(root)} - shown) == []


def test_every_group_of_commands_is_shown() -> None:
    words = {text.split()[0] for text in LINES.values()}
    assert words == {word for group in GROUPS.values() for word in group}
