"""``workbench.toml`` beside the database, and what its user has accepted.

file: read within bounds. settings: keys, theme, how people work. verifiers: tables that runs use, and adding one.
models: models that write, and prices. trust: which servers and templates may be used, kept in the user's own folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.config.file import FILE_NAME
from workbench.config.settings import Settings, load, protocol_at

if TYPE_CHECKING:
    from workbench.core.project import Project
    from workbench.core.verdict import Protocol3

__all__ = ["FILE_NAME", "Settings", "load", "protocol_of", "settings_of"]


def settings_of(project: Project) -> Settings:
    """What ``workbench.toml`` beside the database says.

    Raises:
        UsageError: The file can't be read (the message names file and field).
    """
    return load(project.path)


def protocol_of(project: Project) -> Protocol3:
    """How undecided verdicts count where no other way is asked.

    Raises:
        UsageError: ``workbench.toml`` can't be read, or names no protocol.
    """
    return protocol_at(project.path)
