"""The report of an import: the fate of every row, by file and in total, as a record and as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from workbench.core.code import Problem
from workbench.core.code_tests.broken import BrokenTest, with_candidate
from workbench.core.errors import opt, some_of
from workbench.core.item import QuarantinedRow, TypeColumn, gold_source
from workbench.core.run import RefusedLine, VerdictColumn, VerdictsImported
from workbench.core.text.excerpt import shorten_line
from workbench.core.text.figures import counted
from workbench.data.formats.fields import sum_column_counts
from workbench.data.formats.reading import FilePlan
from workbench.data.formats.source import QUESTIONS, path_text
from workbench.data.formats.verdict_words import GraderColumns
from workbench.data.store.importing import SHOWN, ImportCounts

_MAX_TEXT = 60
"""Characters of a text in a preview."""


class CodeCounts(Struct, frozen=True, kw_only=True):
    """Counts of what files of code problems contain.

    Attributes:
        problems: Number of problems.
        tests: Number of tests in all suites of the problems.
        references: Number of problems with a reference solution.
        entry_points: Number of problems that name the tested function.
        candidates: Number of problems whose tests call ``candidate``, which is undefined and means the entry point.
    """

    problems: int = 0
    tests: int = 0
    references: int = 0
    entry_points: int = 0
    candidates: int = 0

    def with_problem(self, problem: Problem) -> CodeCounts:
        return CodeCounts(
            problems=self.problems + 1,
            tests=self.tests + sum(map(len, problem.suites.values())),
            references=self.references + bool(problem.canonical.strip()),
            entry_points=self.entry_points + bool(problem.entry_point),
            candidates=self.candidates + (with_candidate(problem) != problem),
        )

    def __add__(self, other: CodeCounts) -> CodeCounts:
        return CodeCounts(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})

    @property
    def words(self) -> str:
        parts = [
            f"{counted(self.problems, 'problem')} with {counted(self.tests, 'test')}",
            f"{self.references:,} with a reference solution",
            f"{self.entry_points:,} with an entry point",
        ]
        if self.candidates:
            parts.append(f"the tests of {self.candidates:,} call candidate: that is the entry point")
        return ", ".join(parts)


class _RowCounts(Struct, frozen=True, kw_only=True):
    """Counts of imported, unchanged and rejected rows: read = imported + unchanged + quarantined.

    Attributes:
        swapped_types: Whether the two type columns were swapped in the file; this has been corrected.
        mapping: Field of an item -> the file's column.
        repeated: Number of unchanged rows without ids that equal another row of their file; equal rows are one item.
        mended: Number of rows rejected by earlier imports (quarantine) that are accepted now.
        reasons: Reason code -> number of rejected rows.
        quarantine: The first 20 rejected rows, by line.
        code: Counts of code problems and their tests; only if a file has some.
        broken: Number of excluded tests, which can't distinguish any solutions; only if a file has some.
        broken_tests: The first 20 excluded tests.
        verifiers: Names of a log's graders, each with the run that holds its verdicts; like the following fields only
            if a file may hold verdicts of graders.
        verdicts: Number of verdicts stored now.
        refused_verdicts: The first 20 verdicts that could not be stored, by line.
        verdict_columns: Counts of values in the columns read as verdicts; only if there are such columns.
        kept: Columns that are not fields of items; their values are kept with the items.
        missing: Column of a field -> number of rows without a value there.
        type_columns: Columns of types that hold values that are not answer types; only if some do.
    """

    format: str
    read: int
    imported: int
    unchanged: int
    quarantined: int
    swapped_types: bool
    mapping: dict[str, str]
    reasons: dict[str, int]
    quarantine: list[QuarantinedRow]
    repeated: int | UnsetType = UNSET
    mended: int | UnsetType = UNSET
    code: CodeCounts | UnsetType = UNSET
    broken: int | UnsetType = UNSET
    broken_tests: list[BrokenTest] | UnsetType = UNSET
    verifiers: dict[str, int] | UnsetType = UNSET
    verdicts: int | UnsetType = UNSET
    verdicts_unchanged: int | UnsetType = UNSET
    verdicts_refused: int | UnsetType = UNSET
    refused_verdicts: list[RefusedLine] | UnsetType = UNSET
    verdict_columns: list[VerdictColumn] | UnsetType = UNSET
    kept: list[str] | UnsetType = UNSET
    missing: dict[str, int] | UnsetType = UNSET
    type_columns: list[TypeColumn] | UnsetType = UNSET


class FileReport(_RowCounts, frozen=True, kw_only=True):
    file: str


class PreviewRow(Struct, frozen=True, kw_only=True):
    """A row as it would be imported; its texts are abbreviated.

    Attributes:
        entry_point: The function a code problem's tests call; "" if its file doesn't name it.
        tests: Number of tests of a code problem, by suite.
    """

    line: int
    question: str
    reference: str
    completion: str | None
    gold: bool | None
    entry_point: str | UnsetType = UNSET
    tests: dict[str, int] | UnsetType = UNSET


class ImportReport(_RowCounts, frozen=True, kw_only=True):
    """All files of one command.

    Attributes:
        first: The first rows as they would be imported; only for a preview.
        files: One report for each file, if there are several.
    """

    dataset: str
    first: list[PreviewRow] | UnsetType = UNSET
    files: list[FileReport] | UnsetType = UNSET


R = TypeVar("R", FileReport, ImportReport)


def file_report(
    plan: FilePlan,
    counts: ImportCounts,
    reasons: dict[str, int],
    quarantine: list[QuarantinedRow],
    broken: Sequence[BrokenTest] = (),
    missing: Mapping[str, int] = {},
    code: CodeCounts | None = None,
) -> FileReport:
    return FileReport(
        file=path_text(plan.path),
        format=plan.format,
        **_row_counts([counts]),
        swapped_types=plan.swapped_types,
        mapping=plan.columns,
        reasons=reasons,
        quarantine=quarantine,
        code=code if code is not None and code.problems else UNSET,
        broken=len(broken) or UNSET,
        broken_tests=list(broken[:SHOWN]) or UNSET,
        kept=list(plan.kept) or UNSET,
        missing=dict(missing) or UNSET,
    )


def _row_counts(parts: Sequence[ImportCounts | FileReport]) -> dict[str, Any]:
    sums = {name: sum(getattr(part, name) or 0 for part in parts) for name in ImportCounts.__struct_fields__}
    return sums | {name: sums[name] or UNSET for name in ("repeated", "mended")}


def _sum_counts(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    return dict(sum(map(Counter, parts), Counter[str]()))


def with_columns(report: FileReport, columns: GraderColumns | None) -> FileReport:
    return report if columns is None else replace(report, verdict_columns=list(columns.counts.values()))


def combine_reports(dataset: str, reports: list[FileReport]) -> ImportReport:
    broken = [test for report in reports for test in report.broken_tests or []]
    codes = [report.code for report in reports if report.code]
    columns = [column for report in reports for column in report.verdict_columns or []]
    return ImportReport(
        dataset=dataset,
        format=reports[0].format,
        **_row_counts(reports),
        swapped_types=any(report.swapped_types for report in reports),
        mapping=reports[0].mapping,
        reasons=dict(sorted(_sum_counts(report.reasons for report in reports).items())),
        quarantine=[row for report in reports for row in report.quarantine][:SHOWN],
        code=sum(codes, CodeCounts()) if codes else UNSET,
        broken=sum(report.broken or 0 for report in reports) or UNSET,
        broken_tests=broken[:SHOWN] or UNSET,
        verdict_columns=sum_column_counts(columns) or UNSET,
        kept=list(dict.fromkeys(column for report in reports for column in report.kept or [])) or UNSET,
        missing=_sum_counts(report.missing or {} for report in reports) or UNSET,
        type_columns=sum_column_counts(one for report in reports for one in report.type_columns or []) or UNSET,
        files=reports if len(reports) > 1 else UNSET,
    )


def with_verdicts(report: R, done: Sequence[VerdictsImported]) -> R:
    return replace(
        report,
        verifiers={name: run for one in done for name, run in one.verifiers.items()},
        verdicts=sum(one.imported for one in done),
        verdicts_unchanged=sum(one.unchanged for one in done),
        verdicts_refused=sum(one.refused for one in done),
        refused_verdicts=[row for one in done for row in one.refusals][:SHOWN],
    )


def counts_line(report: ImportReport, done: str) -> str:
    """Return the numbers of rows.

    Args:
        done: What happened to accepted rows: imported, would be imported.
    """
    return (
        f"{report.dataset}: {counted(report.read, 'row')} read, {report.imported} {done}, "
        f"{report.unchanged} unchanged, {report.quarantined} quarantined ({report.format})"
    )


def import_lines(report: ImportReport, done: str) -> Iterator[str]:
    """Yield the report line by line, without the rejected rows; see `counts_line`."""
    yield counts_line(report, done)
    if report.repeated:
        equal = "equals" if report.repeated == 1 else "equal"
        yield f"{counted(report.repeated, 'row')} without ids {equal} another row of the file: equal rows are one item."
        yield f"To count samples one by one: {opt.keep_equal}, or {opt.map:completion_id=COLUMN} where they have ids."
    if report.mended:
        yield f"{report.mended} previously rejected rows are now accepted, and have left quarantine."
    columns = ", ".join(f"{field}={column}" for field, column in report.mapping.items() if field != column)
    if columns:
        yield f"Columns: {columns}"
    if gold := gold_source(report.mapping):
        yield gold
    for row in report.first or []:
        yield f"  {row.line}: {' │ '.join(_row_parts(row))}"
    if any(one.format == QUESTIONS for one in (report, *(report.files or []))):
        yield "Questions without completions: a pool to curate and draw from."
    if report.missing:
        yield "Without a value: " + some_of(f"{column} {many:,}" for column, many in report.missing.items())
    for column in report.type_columns or []:
        yield column.description
    if report.kept:
        yield f"Other columns, kept with the items: {some_of(report.kept)}"
    yield from column_lines(report.verdict_columns or [])
    if report.swapped_types:
        yield "The two type fields were swapped, as in the released file, and have been corrected."
    for code, number in report.reasons.items():
        yield f"  {code}: {number}"
    if report.code:
        yield f"  {report.code.words}"
    if report.broken:
        many = counted(report.broken, "broken test")
        yield f"  {many} excluded: they distinguish no solutions, and never count"
    for file in report.files or []:
        counts = f"{file.imported} {done}, {file.unchanged} unchanged, {file.quarantined} quarantined"
        yield f"  {file.file}: {counts}"
    if report.verifiers is not UNSET:
        refused = f"{report.verdicts_refused} rejected"
        yield f"Verdicts: {report.verdicts} imported, {report.verdicts_unchanged} unchanged, {refused}"
        yield from (f"  {name}: run {run}" for name, run in (report.verifiers or {}).items())


def column_lines(columns: Iterable[VerdictColumn]) -> Iterator[str]:
    for column in columns:
        yield f"Verdicts of {column.verifier} in {column.column}: {column.counted}"


def _row_parts(row: PreviewRow) -> Iterator[str]:
    texts = {"question": row.question, "reference": row.reference, "completion": row.completion}
    yield from (f"{field} {shorten_line(text, _MAX_TEXT)}" for field, text in texts.items() if text is not None)
    if row.tests:
        yield f"entry point {row.entry_point or '(none)'}"
        yield f"tests {', '.join(f'{name} {number:,}' for name, number in row.tests.items())}"
    if row.gold is not None:
        yield "correct" if row.gold else "incorrect"
