"""Importing items: files in, a report of what became of every row out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from workbench.core.code_record import ProblemRecord, Record
from workbench.core.code_tests.broken import BrokenTest, broken_in
from workbench.core.database.connection import Database
from workbench.core.errors import UsageError
from workbench.core.item import QuarantinedRow, Refusal
from workbench.core.project import Project
from workbench.core.run import VerdictsImported
from workbench.data.formats import peers
from workbench.data.formats.fields import parse_map
from workbench.data.formats.lines import DEFAULT_MAX_LINE
from workbench.data.formats.logs import kinds as logs
from workbench.data.formats.reading import AUTO, FORMATS, FilePlan, first_task_ids, plan_file, read_records
from workbench.data.formats.source import QUESTIONS, Progress, file_hash, path_text
from workbench.data.store import importing as store
from workbench.data.store import quarantine
from workbench.data.store.problems import UNKNOWN_PROBLEM, holding
from workbench.interchange.grading import store_grades
from workbench.interchange.import_report import FileReport, ImportReport, of_file, together, with_verdicts

_LONGEST_NAME = 200
_LATER = logs.LATER | {UNKNOWN_PROBLEM}
"""Why rows were refused that can be taken once more is there: their file is read again."""

__all__ = [
    "DEFAULT_MAX_LINE",
    "FORMATS",
    "QUESTIONS",
    "FilePlan",
    "ImportReport",
    "import_files",
    "parse_map",
    "plan_import",
    "preview_import",
]


def plan_import(
    files: Sequence[Path],
    *,
    format: str = AUTO,
    columns: Mapping[str, str] | None = None,
    source: str | None = None,
    licence: str | None = None,
    max_line: int = DEFAULT_MAX_LINE,
) -> list[FilePlan]:
    """Look at the files and decide how to read them, before anything is written.

    Args:
        columns: Our field -> their column (see ``parse_map``).
        source: Where rows are from that name no source, as ``domain/name``.
        licence: Their source's licence, where a row names none.
        max_line: Longest line taken, in bytes.

    Raises:
        FormatError: A file can't be read, or a required field has no column.
        UsageError: No file, or ``columns`` names a column that is not there, or a source or licence is no name.
    """
    if not files:
        raise UsageError("There is no file to import.")
    usual = _usual(source, licence)
    return [plan_file(path, format=format, columns=columns, usual=usual, max_line=max_line) for path in files]


def _usual(source: str | None, licence: str | None) -> dict[str, str]:
    said = {name: value for name, value in (("source", source), ("licence", licence)) if value is not None}
    for name, value in said.items():
        if not value.strip() or len(value) > _LONGEST_NAME or not value.isprintable():
            raise UsageError(f"--{name}: {value[:_LONGEST_NAME]!r} is none.", "Use up to 200 printable characters.")
    return said


def import_files(
    project: Project,
    plans: Sequence[FilePlan],
    *,
    dataset: str | None = None,
    version: str = "1",
    progress: Progress | None = None,
) -> ImportReport:
    """Read files into the project; a file that is there already changes nothing.

    Files of problems come before files of their solutions, whatever their order.

    Args:
        dataset: Name of the data set; None: what another tool's file calls it, else the first file's name without its
            suffixes. Files of solutions alone go to the data set that holds their problems.
        version: Of the graders of logs: verdicts of another version are another run, and the newest one counts.
        progress: Called with the number of bytes read since the last call.

    Raises:
        FormatError: A file can't be read as what it is.
        UsageError: The data set's name is none, or it can't be told which one holds the solutions' problems.
        StoreError: Another import is running.
    """
    plans = _problems_first(plans)
    name = _name(dataset, plans, project.database)
    imports: list[tuple[int, FileReport]] = []
    with store.import_session(project.database, name) as session:
        for plan in plans:
            file = _identity(plan)
            earlier = session.earlier(file, partial(file_hash, plan.path))
            if earlier is None or not _LATER.isdisjoint(earlier.reasons):
                with session.file(file) as target:
                    report = _read(plan, session.batch, target.counts, target.add, target.complete, progress)
                    imports.append((target.id, report))
            else:
                imports.append((earlier.id, of_file(plan, earlier.counts, earlier.reasons, earlier.quarantine)))
                _skip(plan, progress)
    return _graded(project, name, plans, imports, version)


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
    return together(name, reports)


def default_dataset(plans: Sequence[FilePlan]) -> str:
    """What the first file calls the data set if it is another tool's, else its name without its suffixes."""
    first = plans[0]
    named = first.log.dataset_of(first.path) if first.log else peers.dataset_of(first.path, first.container)
    if named is not None:
        return named
    name = path_text(Path(first.path.name))
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


def _identity(plan: FilePlan) -> store.ImportKey:
    mapping: dict[str, object] = {
        "columns": plan.columns,
        "swapped_types": plan.swapped_types,
        "max_line": plan.max_line,
    }
    if plan.usual:
        mapping["usual"] = plan.usual
    return store.ImportKey(path=path_text(plan.path), format=plan.format, mapping=msgspec.json.encode(mapping).decode())


def _graded(
    project: Project,
    dataset: str,
    plans: Sequence[FilePlan],
    imports: Sequence[tuple[int, FileReport]],
    version: str,
) -> ImportReport:
    """The report of all files, once what logs' graders said is stored.

    The items stand by now: where this is broken off, the same import again finds them there and goes on here.
    """
    done: list[VerdictsImported] = []
    reports: list[FileReport] = []
    for plan, (import_id, report) in zip(plans, imports, strict=True):
        if not plan.is_graded:
            reports.append(report)
            continue
        refused = quarantine.lines(project.database.reader(), import_id)
        done.append(store_grades(project, plan, dataset, refused, version=version))
        reports.append(with_verdicts(report, done[-1:]))
    whole = together(dataset, reports)
    return with_verdicts(whole, done) if done else whole


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
    broken: list[BrokenTest] = []

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
                broken += broken_in(row.problem) if isinstance(row, ProblemRecord) else []
            if len(items) + len(refused) >= batch:
                hand_over()
        hand_over()
        if complete is not None:
            complete(digest())
    return of_file(plan, counts, dict(sorted(reasons.items())), shown, broken)


def _skip(plan: FilePlan, progress: Progress | None) -> None:
    if progress is not None:
        progress(plan.path.stat().st_size)
