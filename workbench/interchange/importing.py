"""Import items from files, and report how many rows were imported, unchanged or rejected."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from workbench.core.code import ProblemRecord, Record
from workbench.core.code_tests.broken import BrokenTest, broken_in, with_candidate
from workbench.core.database.connection import Database
from workbench.core.errors import Command, UsageError, opt
from workbench.core.item import ItemRecord, QuarantinedRow, QuestionRecord, Refusal, RefusedRow
from workbench.core.options import Database as DatabaseName
from workbench.core.options import Options, argument, option, run_job
from workbench.core.project import Project
from workbench.core.run import VerdictRow, VerdictsImported
from workbench.data.formats import kinds, peers
from workbench.data.formats.fields import TypeCounts, parse_map
from workbench.data.formats.reading import AUTO, FORMATS, FilePlan, first_task_ids, plan_file, read_grades, read_records
from workbench.data.formats.source import Progress, file_hash, path_text
from workbench.data.formats.verdict_words import GraderColumns, parse_verdicts
from workbench.data.store import datasets, import_rows
from workbench.data.store import importing as store
from workbench.data.store.problems import UNKNOWN_PROBLEM, datasets_holding
from workbench.interchange.import_report import (
    CodeCounts,
    FileReport,
    ImportReport,
    PreviewRow,
    combine_reports,
    file_report,
    with_columns,
    with_verdicts,
)
from workbench.runs.verdict_files import require_names, store_verdicts

_MAX_NAME = 200
_PREVIEW_ROWS = 3
"""Maximum rows of a preview."""
_MAX_TEXT = 200
_MAX_REFUSED, _MAX_REFUSED_BYTES = 10_000, 2_000
"""Maximum number of listed rows in quarantine, and bytes of each."""
_BATCH_BYTES = 4 << 20
"""Bytes of rows after which they are stored: memory that fits a processor's cache is reused fastest."""
_MAY_MISS = ("gold", "model", "source", "type_text", "subtype_text")
"""Fields of an item that a row may leave empty."""
_LATER = kinds.LATER | {UNKNOWN_PROBLEM}
"""Reasons of rejection that may disappear once more data is imported: the file is then read again."""


def plan_import(
    files: Sequence[Path],
    *,
    format: str = AUTO,
    columns: Mapping[str, str] | None = None,
    graders: Mapping[str, str] = {},
    source: str | None = None,
    licence: str | None = None,
    keep_equal: bool = False,
) -> list[FilePlan]:
    """Inspect the files and decide how to read them, before anything is written.

    Args:
        columns: Field of an item -> the file's column (see ``parse_map``).
        graders: Verifier -> the column of its verdicts (see ``parse_verdicts``).
        source: Default source of rows, as ``domain/name``.
        licence: Default licence of rows.
        keep_equal: Whether to keep equal rows of a file without ids as separate items; equal solutions of code always
            are separate.

    Raises:
        FormatError: A file can't be read, or a required field has no column.
        UsageError: No file is given, ``columns`` or ``graders`` names a missing column, or the name of a verifier,
            source or licence is invalid.
    """
    if not files:
        raise UsageError("There is no file to import.")
    usual = {name: value for name, value in (("source", source), ("licence", licence)) if value is not None}
    for name, value in usual.items():
        if not value.strip() or len(value) > _MAX_NAME or not value.isprintable():
            raise UsageError(f"--{name}: {value[:_MAX_NAME]!r} is not valid.", "Use up to 200 printable characters.")
    require_names(graders)
    planned = (plan_file(path, format=format, columns=columns, graders=graders, usual=usual) for path in files)
    return [replace(plan, keep_equal=keep_equal) for plan in planned]


class ImportOptions(Options, frozen=True, kw_only=True):
    database: DatabaseName
    files: Annotated[tuple[Path, ...], argument("FILE…", exists=True)]
    format: Annotated[str, option("Format of the files.", choices=["auto", *FORMATS])] = "auto"
    dataset: Annotated[
        str | None, option("Name of the data set.  [default: the name in the file, else the file's name]")
    ] = None
    maps: Annotated[
        tuple[str, ...],
        option(
            "Read FIELD from COLUMN, such as question=prompt or completion=choices.0.message.content; FIELD= "
            "leaves the field out (repeatable).",
            "--map",
            metavar="FIELD=COLUMN",
        ),
    ] = ()
    verdicts: Annotated[
        tuple[str, ...],
        option(
            "Import COLUMN as verdicts of verifier NAME: true, false, yes, no, 1, 0, correct, incorrect, "
            "abstain, or scores (repeatable).",
            "--verdict",
            metavar="NAME=COLUMN",
        ),
    ] = ()
    source: Annotated[
        str | None, option("Source of the questions, for rows that don't name one.", metavar="DOMAIN/NAME")
    ] = None
    licence: Annotated[str | None, option("Licence of the source, for rows that don't name one.", metavar="NAME")] = (
        None
    )
    keep_equal: Annotated[
        bool,
        option(
            "Import equal rows without ids as separate items, such as repeated samples.",
            meanings={"no": "one item", "yes": "separate samples"},
        ),
    ] = False
    run_version: Annotated[
        str,
        option(
            "Version of the graders in an evaluation log; verdicts of each version are a separate run.", metavar="TEXT"
        ),
    ] = "1"
    dry_run: Annotated[bool, option("Show accepted and rejected rows without importing them.")] = False


def plans_of(options: ImportOptions) -> list[FilePlan]:
    """Return how each file is read; for the errors see `plan_import`."""
    graders = parse_verdicts(options.verdicts)
    return run_job(plan_import, options, columns=parse_map(options.maps), graders=graders)


def run_import(
    project: Project | None, plans: Sequence[FilePlan], options: ImportOptions, progress: Progress
) -> ImportReport:
    """Import files, or with ``dry_run`` return the report without writing anything.

    Args:
        project: The project; it may be None for a dry run.
    """
    if project is None or options.dry_run:
        return preview_import(project, plans, dataset=options.dataset, progress=progress)
    return import_files(project, plans, dataset=options.dataset, version=options.run_version, progress=progress)


def import_files(
    project: Project,
    plans: Sequence[FilePlan],
    *,
    dataset: str | None = None,
    version: str = "1",
    progress: Progress | None = None,
) -> ImportReport:
    """Read files into the project; a file that was imported before changes nothing.

    Files of problems are read before files of their solutions, in any order.

    Args:
        dataset: Name of the data set; by default the name in another tool's file, else the first file's name without
            its suffixes. Files of solutions alone go to the data set that holds their problems.
        version: Version of the graders in logs: verdicts of another version are another run, and the newest one counts.
        progress: Called with the number of bytes read since the last call.

    Raises:
        FormatError: A file can't be read in its format.
        UsageError: The data set's name is invalid, the solutions' problems are in no or several data sets, or a
            column has the verdicts of a verifier that runs here.
        StoreError: Another import is running.
    """
    plans = _problems_first(plans)
    name = _dataset_name(dataset, plans, project.database)
    require_names({grader for plan in plans for grader in plan.graders}, project)
    imports: list[tuple[int, FileReport]] = []
    with store.import_session(project.database, name) as session:
        for plan in plans:
            file = _import_key(plan)
            earlier = session.earlier(file, partial(file_hash, plan.path))
            if earlier is None or not _LATER.isdisjoint(earlier.reasons):
                with session.file(file) as target:
                    report = _read_file(plan, session.batch, target.counts, target.add, target.complete, progress)
                    imports.append((target.id, report))
            else:
                imports.append((earlier.id, file_report(plan, earlier.counts, earlier.reasons, earlier.quarantine)))
                if progress is not None:
                    progress(plan.path.stat().st_size)
    return _store_all_grades(project, name, plans, imports, version)


def preview_import(
    project: Project | None, plans: Sequence[FilePlan], *, dataset: str | None = None, progress: Progress | None = None
) -> ImportReport:
    """Return the report of ``import_files`` without writing anything.

    Args:
        project: The project, or None if it doesn't exist yet.
    """
    plans = _problems_first(plans)
    database = project.database if project is not None else None
    name = _dataset_name(dataset, plans, database)
    rows = store.dry_import_rows(database, name)
    reports = []
    first: list[PreviewRow] = []
    for plan in plans:
        counts = store.ImportCounts()
        rows.begin_file()

        def add(items: list[Record], refused: list[Refusal], counts: store.ImportCounts = counts) -> list[Refusal]:
            taken = (one for one in items if isinstance(one, ItemRecord | ProblemRecord))
            first.extend(islice(map(_preview_row, taken), _PREVIEW_ROWS - len(first)))
            matched = rows.add(items)
            store.count(counts, matched, len(refused))
            return [*refused, *matched.refused]

        reports.append(with_columns(_read_file(plan, store.CHUNK, counts, add, None, progress), _count_grades(plan)))
    return replace(combine_reports(name, reports), first=first)


def refused_rows(project: Project) -> list[RefusedRow]:
    """Return the rejected rows (quarantine), the newest import's first, 10,000 at most."""
    return import_rows.refused(project.database.reader(), _MAX_REFUSED, _MAX_REFUSED_BYTES)


def _preview_row(record: ItemRecord | ProblemRecord) -> PreviewRow:
    if isinstance(record, ProblemRecord):
        problem = record.problem
        return PreviewRow(
            line=record.line,
            question=problem.prompt[:_MAX_TEXT],
            reference=problem.canonical[:_MAX_TEXT],
            completion=None,
            gold=None,
            entry_point=problem.entry_point or "",
            tests={name: len(suite) for name, suite in problem.suites.items()},
        )
    return PreviewRow(
        line=record.line,
        question=record.question[:_MAX_TEXT],
        reference=record.reference[:_MAX_TEXT],
        completion=None if isinstance(record, QuestionRecord) else record.completion[:_MAX_TEXT],
        gold=record.gold,
    )


def _count_grades(plan: FilePlan) -> GraderColumns | None:
    columns = plan.grader_columns()
    if columns is not None:
        deque(read_grades(plan, columns), maxlen=0)
    return columns


def default_dataset(plans: Sequence[FilePlan]) -> str:
    """Return the data set's name in another tool's file, else the first file's name without its suffixes."""
    first = plans[0]
    named = first.kind.dataset_of(first.path) if first.kind else peers.dataset_of(first.path, first.container)
    if named is not None:
        return named
    name = path_text(Path(first.path.name))
    return name.removesuffix(".gz").rpartition(".")[0] or name


def _problems_first(plans: Sequence[FilePlan]) -> list[FilePlan]:
    return sorted(plans, key=lambda plan: plan.needs_problems)


def _dataset_name(dataset: str | None, plans: Sequence[FilePlan], database: Database | None) -> str:
    name = dataset
    if name is None:
        name = _dataset_of_problems(plans, database) if plans[0].needs_problems else default_dataset(plans)
    datasets.require_name(name)
    why = datasets.excluded_notes(database.reader()).get(name) if database is not None else None
    if why is not None:
        raise UsageError(
            f"The data set {name!r} was excluded: {why}.",
            f"Rename it to import this one under its name, or include it again: {Command('datasets DB')}",
        )
    return name


def _dataset_of_problems(plans: Sequence[FilePlan], database: Database | None) -> str:
    wanted = dict.fromkeys(task_id for plan in plans for task_id in first_task_ids(plan))
    found = datasets_holding(database.reader(), wanted) if database is not None else []
    if not found:
        raise UsageError(
            f"{plans[0].path} contains solutions, but no data set contains their problems.",
            "Import the file of problems first, or both in one command.",
        )
    if len(found) > 1:
        raise UsageError(
            f"{plans[0].path}: several data sets hold these problems: {', '.join(found)}.",
            f"Name one: {opt.dataset:NAME}",
        )
    return found[0]


def _import_key(plan: FilePlan) -> store.ImportKey:
    mapping: dict[str, object] = {
        "columns": plan.columns,
        "swapped_types": plan.swapped_types,
    }
    if plan.usual:
        mapping["usual"] = plan.usual
    if plan.keep_equal:
        mapping["keep_equal"] = True
    return store.ImportKey(path=path_text(plan.path), format=plan.format, mapping=msgspec.json.encode(mapping).decode())


def _store_all_grades(
    project: Project, dataset: str, plans: Sequence[FilePlan], imports: Sequence[tuple[int, FileReport]], version: str
) -> ImportReport:
    """Store the verdicts of logs' graders, and return the report of all files.

    The items are stored before: after an interruption the same import finds them and continues with the verdicts.
    """
    done: list[VerdictsImported] = []
    reports: list[FileReport] = []
    for plan, (import_id, report) in zip(plans, imports, strict=True):
        if not plan.is_graded:
            reports.append(report)
            continue
        refused = import_rows.lines(project.database.reader(), import_id)
        columns = plan.grader_columns()
        done.append(store_grades(project, plan, dataset, refused, version=version, columns=columns))
        reports.append(with_columns(with_verdicts(report, done[-1:]), columns))
    whole = combine_reports(dataset, reports)
    return with_verdicts(whole, done) if done else whole


def _read_file(
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
    code = CodeCounts()
    missing = Counter[str]()
    types = TypeCounts(plan.columns)
    size = 0

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
            size += len(row.raw)
            if isinstance(row, Refusal):
                refused.append(row)
            else:
                items.append(row)
                missing.update(_missing_columns(row, plan.columns))
                if isinstance(row, ItemRecord):
                    types.add(row.type_text, row.subtype_text)
                if isinstance(row, ProblemRecord):
                    code = code.with_problem(row.problem)
                    broken += broken_in(with_candidate(row.problem))
            if len(items) + len(refused) >= batch or size >= _BATCH_BYTES:
                hand_over()
                size = 0
        hand_over()
        if complete is not None:
            complete(digest())
    report = file_report(plan, counts, dict(sorted(reasons.items())), shown, broken, missing, code)
    unknown = [one for one in types.counts.values() if one.unknown]
    later = () if plan.format == "verifybench" else (one.column for one in unknown)
    kept = list(dict.fromkeys((*plan.kept, *later)))
    return replace(report, type_columns=unknown or UNSET, kept=kept or UNSET)


def _missing_columns(record: Record, columns: Mapping[str, str]) -> list[str]:
    if not isinstance(record, ItemRecord) or isinstance(record, QuestionRecord):
        return []
    return [columns[field] for field in _MAY_MISS if field in columns and getattr(record, field) is None]


# -- Results of a log's own graders, stored as verdicts of imported verifiers.


def store_grades(
    project: Project,
    plan: FilePlan,
    dataset: str,
    refused: Collection[int],
    *,
    version: str,
    columns: GraderColumns | None = None,
) -> VerdictsImported:
    """Store the grades of a file whose items are stored; existing grades are kept.

    Args:
        refused: Numbers of rejected lines. Their ids may belong to other items, so their grades are rejected, too.
        version: Version of the graders.
        columns: Reads the columns of verdicts.

    Raises:
        FormatError: The file can't be read in its format.
    """
    return store_verdicts(project, _grade_rows(plan, dataset, refused, columns), version=version)


def _grade_rows(
    plan: FilePlan, dataset: str, refused: Collection[int], columns: GraderColumns | None
) -> Iterator[tuple[int, VerdictRow | Refusal]]:
    for item, grades in read_grades(plan, columns):
        for grade in grades:
            if isinstance(grade, Refusal):
                yield item.line, grade
            elif item.line in refused:
                message = f"the row is in quarantine, and with it the verdict of {grade.verifier}"
                yield item.line, Refusal(line=item.line, code="conflict", field="verdict", message=message, raw=b"")
            else:
                row = VerdictRow(
                    completion_id=item.completion_key,
                    question_id=item.question_key,
                    dataset=dataset,
                    verifier=grade.verifier,
                    verdict=grade.verdict,
                    score=grade.score,
                    reason=grade.reason,
                    candidate_final=grade.answer,
                    detail=grade.detail,
                )
                yield item.line, row
