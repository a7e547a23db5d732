"""The settings in ``workbench.toml`` next to the database, and what the user has allowed a project to use.

file: reads the file within size limits. settings: keys, theme, annotation policy. verifiers: configured verifiers, and
adding one. models: models that write texts, and prices. trust: which servers and templates the user has accepted.
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
    """Return the project's protocol: how abstentions are counted, unless a command requests another protocol.

    Raises:
        UsageError: ``workbench.toml`` can't be read, or its protocol is invalid.
    """
    return protocol_at(project.path)
