"""Backup and doctor."""

from __future__ import annotations

import shutil
import sys
from importlib import metadata
from pathlib import Path

from workbench.model.health import Finding
from workbench.services.labelling.ledger import recompute, states_differ
from workbench.services.measuring.column_check import column_finding
from workbench.services.project import Project
from workbench.store import checks
from workbench.store.backup import backup as write_backup

LITTLE_SPACE = 512 * 2**20
"""Less free disk than this many bytes is reported."""


def backup(project: Project, target: Path, *, force: bool = False) -> int:
    """Write a checked copy of the database; returns its size in bytes.

    Raises:
        StoreError: See ``workbench.store.backup``.
    """
    return write_backup(project.database, target, force=force)


def doctor(project: Project) -> list[Finding]:
    """Check the database (integrity, schema, triggers, derived states) and the environment."""
    found = [*checks.check_all(project.database), _states(project), column_finding(project)]
    return [*found, _disk(project.path), *_environment()]


def repair(project: Project) -> int:
    """Derive every item state anew from the label events; returns how many tasks have any."""
    return recompute(project)


def _states(project: Project) -> Finding:
    differing = states_differ(project)
    message = f"{differing} stored states differ from what their events say: doctor --repair" if differing else "ok"
    return Finding(name="item states", ok=not differing, message=message)


def _disk(path: Path) -> Finding:
    free = shutil.disk_usage(path.parent).free
    ok = free >= LITTLE_SPACE
    return Finding(name="free disk", ok=ok, message="ok" if ok else f"only {free / 2**20:.0f} MiB left")


def _environment() -> list[Finding]:
    found = [Finding(name="python", ok=sys.version_info >= (3, 11), message=sys.version.split()[0])]
    for name in ("textual", "math-verify", "sympy", "sqlite-utils", "numpy"):
        try:
            found.append(Finding(name=name, ok=True, message=metadata.version(name)))
        except metadata.PackageNotFoundError:
            found.append(Finding(name=name, ok=False, message="not installed"))
    return found
