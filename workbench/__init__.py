"""Annotate verifier data and measure verifiers, in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.api import Project

__version__ = "0.1.0"
__all__ = ["open_project"]


def open_project(path: Path | str) -> Project:
    """Open a database for a notebook or a script; see `workbench.api.Project`.

    Raises:
        StoreError: There is none, or it can't be read.
    """
    from workbench import api

    return api.open_project(path)
