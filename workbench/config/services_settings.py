"""A project's settings, for the front ends."""

from __future__ import annotations

from workbench.config import FILE_NAME, Settings, load
from workbench.core.project import Project

__all__ = ["FILE_NAME", "Settings", "settings_of"]


def settings_of(project: Project) -> Settings:
    """What ``workbench.toml`` beside the database says.

    Raises:
        UsageError: The file can't be read (the message names file and field).
    """
    return load(project.path)
