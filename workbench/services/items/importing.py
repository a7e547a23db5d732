"""Importing items: files in, a report of what became of every row out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec import UNSET, Struct, UnsetType

from workbench.errors import UsageError
from workbench.formats import peers
from workbench.formats.fields import parse_map
from workbench.formats.lines import DEFAULT_MAX_LINE
from workbench.formats.reading import AUTO, FilePlan, first_task_ids, plan_file, read_records
from workbench.formats.source import FORMATS, Progress, file_hash
from workbench.model.code_record import Record
from workbench.model.item import QuarantinedRow, Refusal
from workbench.services.project import Project
from workbench.store import importing as store
from workbench.store.connection import Database
from workbench.store.problems import UNKNOWN_PROBLEM, holding

_LONGEST_NAME = 200

__all__ = [
    "DEFAULT_MAX_LINE",
    "FORMATS",
    "FilePlan",
    "ImportReport",
    "import_files",
    "parse_map",
    "plan_import",
    "preview_import",
]


class FileReport(Struct, frozen=True, kw_only=True):
    """What became of one file's rows: read = imported + unchanged + quarantined.

    Attributes:
        swapped_types: The two type columns were found the wrong way round and taken the right way.
        mapping: Our field -> their column.
        reasons: Code -> number of rows in quarantine.
        quarantine: The first 20 of them, by line.
    """

    file: str
    format: str
    read: int
    imported: int
    unchanged: int
    quarantined: int
    swapped_types: bool
    mapping: dict[str, str]
    reasons: dict[str, int]
    quarantine: list[QuarantinedRow]


class ImportReport(Struct, frozen=True, kw_only=True):
    """One command's files taken together; ``files`` where there are several."""

    dataset: str
    format: str
    read: int
    imported: int
    unchanged: int
    quarantined: int
    swapped_types: bool
    mapping: dict[str, str]
    reasons: dict[str, int]
    quarantine: list[QuarantinedRow]
    files: list[FileReport] | UnsetType = UNSET


def plan_import(
    files: Sequence[Path],
    *,
    format: str = AUTO,
    columns: Mapping[str, str] | None = None,
    max_line: int = DEFAULT_MAX_LINE,
) -> list[FilePlan]:
    """Look at the files and decide how to read them, before anything is written.

    Args:
        columns: Our field -> their column (see ``parse_map``).
        max_line: Longest line taken, in bytes.

    Raises:
        FormatError: A file can't be read, or a required field has no column.
        UsageError: No file, or ``columns`` names a column that is not there.
    """
    if not files:
        raise UsageError("There is no file to import.")
    return [plan_file(path, format=format, columns=columns, max_line=max_line) for path in files]


def import_files(
    project: Project,
    plans: Sequence[FilePlan],
    *,
    dataset: str | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Read files into the project; a file that is there already changes nothing.

    Files of problems come before files of their solutions, whatever their order.

    Args:
        dataset: Name of the data set; None: what another tool's file calls it, else the first file's name without its
            suffixes. Files of solutions alone go to the data set that holds their problems.
        progress: Called with the number of bytes read since the last call.

    Raises:
        FormatError: A file can't be read as what it is.
        UsageError: The data set's name is none, or it can't be told which one holds the solutions' problems.
        StoreError: Another import is running.
    """
    plans = _problems_first(plans)
    name = _name(dataset, plans, project.database)
    reports = []
    with store.import_session(project.database, name) as session:
        for plan in plans:
            file = _identity(plan)
            earlier = session.earlier(file, partial(file_hash, plan.path))
            if earlier is None or UNKNOWN_PROBLEM in earlier.reasons:
                with session.file(file) as target:
                    reports.append(_read(plan, session.batch, target.counts, target.add, target.complete, progress))
            else:
                reports.append(_report(plan, earlier.counts, earlier.reasons, earlier.quarantine))
                _skip(plan, progress)
    return _together(name, reports)


def preview_import(
    project: Project | None,
    plans: Sequence[FilePlan],
    *,
    dataset: str | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """What ``import_files`` would report; nothing is written.

    Args:
        project: The project, or None when there is none yet.
    """
    plans = _problems_first(plans)
    database = project.database if project is not None else None
    name = _name(dataset, plans, database)
    rows = store.compared_only(database, name)
    reports = []
    for plan in plans:
        counts = store.ImportCounts()
        rows.begin_file()

        def add(items: list[Record], refused: list[Refusal], counts: store.ImportCounts = counts) -> list[Refusal]:
            matched = rows.add(items)
            store.count(counts, matched, len(refused))
            return [*refused, *matched.refused]

        reports.append(_read(plan, store.CHUNK, counts, add, None, progress))
    return _together(name, reports)


def default_dataset(plans: Sequence[FilePlan]) -> str:
    """What the first file calls the data set if it is another tool's, else its name without its suffixes."""
    named = peers.dataset_of(plans[0].path, plans[0].container)
    if named is not None:
        return named
    name = _text(Path(plans[0].path.name))
    return name.removesuffix(".gz").rpartition(".")[0] or name


def _problems_first(plans: Sequence[FilePlan]) -> list[FilePlan]:
    return sorted(plans, key=lambda plan: plan.needs_problems)


def _name(dataset: str | None, plans: Sequence[FilePlan], database: Database | None) -> str:
    name = dataset
    if name is None:
        name = _of_problems(plans, database) if plans[0].needs_problems else default_dataset(plans)
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"{name[:_LONGEST_NAME]!r} is no name for a data set.",
            f"Say --dataset NAME, with 1 to {_LONGEST_NAME} printable characters.",
        )
    return name


def _of_problems(plans: Sequence[FilePlan], database: Database | None) -> str:
    """The data set that holds the problems of files of solutions."""
    wanted = dict.fromkeys(task_id for plan in plans for task_id in first_task_ids(plan))
    found = holding(database.reader(), wanted) if database is not None else []
    if not found:
        raise UsageError(
            f"{plans[0].path} holds solutions, and no data set holds their problems.",
            "Import the file of problems first, or both in one call.",
        )
    if len(found) > 1:
        raise UsageError(
            f"{plans[0].path}: several data sets hold these problems: {', '.join(found)}.",
            "Say which one: --dataset NAME",
        )
    return found[0]


def _text(path: Path) -> str:
    """A path as text: a file's name may be any bytes, what is stored and shown is UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")


def _identity(plan: FilePlan) -> store.ImportedFile:
    mapping = {"columns": plan.columns, "swapped_types": plan.swapped_types, "max_line": plan.max_line}
    return store.ImportedFile(path=_text(plan.path), format=plan.format, mapping=msgspec.json.encode(mapping).decode())


def _read(
    plan: FilePlan,
    batch: int,
    counts: store.ImportCounts,
    add: Callable[[list[Record], list[Refusal]], list[Refusal]],
    complete: Callable[[bytes], None] | None,
    progress: Progress | None,
) -> FileReport:
    reasons: Counter[str] = Counter()
    shown: list[QuarantinedRow] = []
    items: list[Record] = []
    refused: list[Refusal] = []

    def hand_over() -> None:
        for row in add(items, refused):
            reasons[row.code] += 1
            shown.append(QuarantinedRow(line=row.line, field=row.field, code=row.code, message=row.message))
        shown.sort(key=lambda row: row.line)
        del shown[store.SHOWN :]
        items.clear()
        refused.clear()

    with read_records(plan, progress) as (rows, digest):
        for row in rows:
            if isinstance(row, Refusal):
                refused.append(row)
            else:
                items.append(row)
            if len(items) + len(refused) >= batch:
                hand_over()
        hand_over()
        if complete is not None:
            complete(digest())
    return _report(plan, counts, dict(sorted(reasons.items())), shown)


def _report(
    plan: FilePlan, counts: store.ImportCounts, reasons: dict[str, int], quarantine: list[QuarantinedRow]
) -> FileReport:
    return FileReport(
        file=_text(plan.path),
        format=plan.format,
        read=counts.read,
        imported=counts.imported,
        unchanged=counts.unchanged,
        quarantined=counts.quarantined,
        swapped_types=plan.swapped_types,
        mapping=plan.columns,
        reasons=reasons,
        quarantine=quarantine,
    )


def _together(dataset: str, reports: list[FileReport]) -> ImportReport:
    reasons: Counter[str] = Counter()
    for report in reports:
        reasons.update(report.reasons)
    return ImportReport(
        dataset=dataset,
        format=reports[0].format,
        read=sum(report.read for report in reports),
        imported=sum(report.imported for report in reports),
        unchanged=sum(report.unchanged for report in reports),
        quarantined=sum(report.quarantined for report in reports),
        swapped_types=any(report.swapped_types for report in reports),
        mapping=reports[0].mapping,
        reasons=dict(sorted(reasons.items())),
        quarantine=[row for report in reports for row in report.quarantine][: store.SHOWN],
        files=reports if len(reports) > 1 else UNSET,
    )


def _skip(plan: FilePlan, progress: Progress | None) -> None:
    if progress is not None:
        progress(plan.path.stat().st_size)
