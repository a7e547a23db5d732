"""``doctor --repair``: what follows from the rest is made anew; what was there first is kept."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from workbench.care.doctor import examine
from workbench.care.rescuing import written
from workbench.care.store import schema_findings
from workbench.core.database import column_files
from workbench.core.database.backup import backup, check
from workbench.core.database.failures import go_back
from workbench.core.database.looking import looked_at
from workbench.core.database.replacing import put_in_place
from workbench.core.database.users import beside
from workbench.core.errors import StoreError
from workbench.core.files import part_folder
from workbench.core.health import Finding, Repaired
from workbench.core.project import opened_project
from workbench.data.formats.source import path_text
from workbench.labelling.ledger import recompute

_IN_PLACE = {"schema", "item states", "columns"}
"""What is made anew while others work."""


class NotRepairedError(StoreError):
    """What is hurt stands nowhere else in the file, so that nothing can make it anew."""

    exit_code = 3


def repair(path: Path) -> Repaired:
    """Make anew what can be, whole or not at all: indexes and the file itself, states, columns.

    Raises:
        NotRepairedError: Something would be lost; nothing was changed.
        StoreError: Somebody has the database open, or it can't be written.
    """
    wrong = [finding for finding in examine(path) if not finding.ok]
    lost = [finding for finding in wrong if finding.remedy == "rescue"]
    if lost:
        raise _refused(path, lost)
    names = [finding.name for finding in wrong if finding.remedy == "repair"]
    if not names:
        return Repaired(done=[], kept=[])
    done, kept = [], list[Path]()
    if not set(names) <= _IN_PLACE:
        kept = _rebuild(path)
        done.append(f"The file was written anew ({', '.join(names)}); not a row is lost.")
    elif set(names) - {"columns"}:
        kept = [_copy(path)]
        done += schema_findings.put_right_in(path)
        if "item states" in names:
            with opened_project(path) as project:
                done.append(f"States of {recompute(project):,} tasks were derived from their events.")
    if "columns" in names or not set(names) <= _IN_PLACE:
        # Files of another history are no use to anybody.
        shutil.rmtree(column_files.folder(path), ignore_errors=True)
    if "columns" in names:
        done.append("The columns beside it were removed; they are written when they are needed.")
    return Repaired(done=done, kept=[path_text(place) for place in kept])


def _rebuild(path: Path) -> list[Path]:
    """Put a new database with every row in the place of the old one, which is kept."""
    with part_folder(path) as part:
        temporary = part / path.name
        found = written(path, temporary, path)
        if not found.is_whole:
            raise _refused(path, [])
        check(temporary)
        return list(put_in_place(temporary, path, before="repair"))


def _copy(path: Path) -> Path:
    number = 1
    while beside(path, f".before-repair-{number}").exists():
        number += 1
    place = beside(path, f".before-repair-{number}")
    # Also one that nobody opens any more, as somebody has changed its triggers.
    with looked_at(path) as database:
        backup(database, place)
    return place


def _refused(path: Path, lost: list[Finding]) -> NotRepairedError:
    named = "; ".join(f"{finding.name}: {finding.message}" for finding in lost[:3]) or "some rows can't be read"
    return NotRepairedError(
        f"{path}: {named}. That stands nowhere else in the file; nothing was changed.",
        f"{go_back(path)} (or write out all that can be read: workbench rescue {shlex.quote(str(path))} NEW.db)",
    )
