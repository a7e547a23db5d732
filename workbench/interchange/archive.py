"""Archives: all of a project in one file that other programs can read, and that reads back to an equal database.

An archive is its owner's: it has people's names and all that is kept of them. It never holds the database's secret,
logins, or what is derived; checks (items whose answer is known) only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Generator
from importlib.metadata import version
from pathlib import Path

from workbench.core.database import migrations
from workbench.core.database.sets import PACKAGE
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.data.formats.writing import new_file
from workbench.interchange.model_archive import ArchiveWritten
from workbench.interchange.packing import Rows, pack
from workbench.interchange.store import archiving
from workbench.interchange.store.archive_tables import CALLS, PARTS, ArchiveTable, columns


def write_archive(
    project: Project, path: Path, *, checks: bool = False, calls: bool = True, force: bool = False
) -> ArchiveWritten:
    """Write the whole database as it stands at one moment; the file appears whole or not at all.

    Args:
        checks: With the items that are checks and what was answered to them; whoever has them knows which they are.
        calls: With the requests to model servers and their responses.

    Raises:
        FormatError: The file exists and ``force`` is not set, or can't be written.
        StoreError: The file belongs to the database itself.
        UsageError: The name ends in ``.gz``.
    """
    project.database.require_other(path)
    if path.suffix == ".gz":
        raise UsageError(f"{path}: an archive is packed already.", "Give it a name that ends in .zip.")
    parts = [part for part in PARTS if calls or part.name not in CALLS]
    conditions = archiving.Conditions(checks=checks)
    with project.database.reading() as reader, new_file(path, force=force) as file:
        left_out = _left_out(reader, checks=checks, calls=calls)
        members = (_rows(reader, part, conditions) for part in parts)
        manifest = pack(
            file, members, schema=migrations.latest_version(), code_version=version(PACKAGE), left_out=left_out
        )
    return ArchiveWritten(rows={member.name: member.lines for member in manifest.members}, left_out=left_out)


def _rows(reader: archiving.Connection, part: ArchiveTable, conditions: archiving.Conditions) -> Rows:
    def found() -> Generator[tuple[object, ...], None, None]:
        yield from archiving.rows(reader, part, conditions)

    return Rows(part.name, columns(reader, part), found())


def _left_out(reader: archiving.Connection, *, checks: bool, calls: bool) -> dict[str, int]:
    found = {
        "checks": 0 if checks else archiving.count(reader, "check_items"),
        "responses": 0 if calls else archiving.count(reader, "responses"),
        "unfinished imports": archiving.count(reader, "imports", "state = 'running'"),
    }
    return {what: number for what, number in found.items() if number}
