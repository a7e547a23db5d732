"""``workbench.toml`` next to the database, and what its user has accepted.

file: reading within size limits. settings: keys, theme, annotation policy. verifiers: tables that runs use, and adding
one.
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
    """Load the settings in ``workbench.toml`` next to the database.

    Raises:
        UsageError: The file can't be read (the message names file and field).
    """
    return load(project.path)


def protocol_of(project: Project) -> Protocol3:
    """Return how abstentions are counted unless a command asks for another protocol.

    Raises:
        UsageError: ``workbench.toml`` can't be read, or names no protocol.
    """
    return protocol_at(project.path)
