"""Storing labels that were given while the database's file was away."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from workbench.core import kept
from workbench.core.errors import StoreError, WorkbenchError
from workbench.core.project import Project
from workbench.labelling.labels import import_labels, put_lines


class BroughtIn(Struct, frozen=True, kw_only=True):
    """What became of labels that waited.

    Attributes:
        refused: Why some can't be stored; they stay in their file.
        file: That file.
        unread: Why nothing of it could be taken; None where it could.
    """

    stored: int = 0
    refused: tuple[str, ...] = ()
    file: Path | None = None
    unread: str | None = None

    def words(self, database: str) -> str:
        """What became of them, for who opens a database of this name."""
        if self.unread is not None:
            return f"Labels that were given while {database} was away can't be taken from {self.file}: {self.unread}"
        words = f"Of labels given while {database} was away, {self.stored:,} {_are(self.stored)} saved."
        if self.refused:
            words += f" {len(self.refused):,} can't be, and stay in {self.file}: {self.refused[0]}"
        return words


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def bring_in(project: Project) -> BroughtIn | None:
    """Store what this process has kept; None where nothing waits, or the file is still away."""
    with project.kept.held() as lines:
        if not lines:
            return None
        file = project.kept.path
        try:
            report = put_lines(project, lines)
        except StoreError as error:
            if not error.is_away:
                raise
            return None
        numbers = [int(str(refusal["line"])) for refusal in report.refusals]
        project.kept.settle([lines[number - 1] for number in numbers])
    said = tuple(str(refusal["message"]) for refusal in report.refusals)
    return BroughtIn(stored=report.imported + report.unchanged, refused=said, file=file if said else None)


def bring_in_left(project: Project) -> list[BroughtIn]:
    """Store what processes that are gone have left, if that can be done now; a file with nothing left to store goes."""
    found = []
    for path in kept.left(project.path):
        try:
            report = import_labels(project, path)
        except WorkbenchError as error:
            later = isinstance(error, StoreError) and (error.is_away or error.passes)
            # Another window may have been faster.
            if not later and path.exists():
                found.append(BroughtIn(file=path, unread=str(error)))
            continue
        said = tuple(str(refusal["message"]) for refusal in report.refusals)
        if not said:
            path.unlink(missing_ok=True)
        found.append(BroughtIn(stored=report.imported + report.unchanged, refused=said, file=path if said else None))
    return found
