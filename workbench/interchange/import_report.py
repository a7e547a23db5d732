"""What an import reports: what became of every row, of each file and of all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from workbench.core.code_tests.broken import BrokenTest
from workbench.core.item import QuarantinedRow
from workbench.core.run import RefusedLine, VerdictsImported
from workbench.data.formats.reading import FilePlan
from workbench.data.formats.source import path_text
from workbench.data.store.importing import SHOWN, ImportCounts


class _RowCounts(Struct, frozen=True, kw_only=True):
    """What became of rows: read = imported + unchanged + quarantined.

    Attributes:
        swapped_types: The two type columns were found the wrong way round and taken the right way.
        mapping: Our field -> their column.
        mended: Rows of earlier imports that left quarantine, since they were taken now.
        reasons: Code -> number of rows in quarantine.
        quarantine: The first 20 of them, by line.
        broken: Tests that are set apart, since they say nothing of any solution; only where a file holds some.
        broken_tests: The first 20 of them.
        verifiers: Names of a log's graders, each with the run that its verdicts stand in; like what follows only where
            a file may hold what graders said.
        verdicts: How many were stored now.
        refused_verdicts: The first 20 of those that could not be stored, by line.
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
    mended: int | UnsetType = UNSET
    broken: int | UnsetType = UNSET
    broken_tests: list[BrokenTest] | UnsetType = UNSET
    verifiers: dict[str, int] | UnsetType = UNSET
    verdicts: int | UnsetType = UNSET
    verdicts_unchanged: int | UnsetType = UNSET
    verdicts_refused: int | UnsetType = UNSET
    refused_verdicts: list[RefusedLine] | UnsetType = UNSET


class FileReport(_RowCounts, frozen=True, kw_only=True):
    """What became of one file's rows."""

    file: str


class ImportReport(_RowCounts, frozen=True, kw_only=True):
    """One command's files taken together; ``files`` where there are several."""

    dataset: str
    files: list[FileReport] | UnsetType = UNSET


R = TypeVar("R", FileReport, ImportReport)


def of_file(
    plan: FilePlan,
    counts: ImportCounts,
    reasons: dict[str, int],
    quarantine: list[QuarantinedRow],
    broken: Sequence[BrokenTest] = (),
) -> FileReport:
    """The report of one file."""
    return FileReport(
        file=path_text(plan.path),
        format=plan.format,
        read=counts.read,
        imported=counts.imported,
        unchanged=counts.unchanged,
        quarantined=counts.quarantined,
        swapped_types=plan.swapped_types,
        mapping=plan.columns,
        reasons=reasons,
        quarantine=quarantine,
        mended=counts.mended or UNSET,
        broken=len(broken) or UNSET,
        broken_tests=list(broken[:SHOWN]) or UNSET,
    )


def together(dataset: str, reports: list[FileReport]) -> ImportReport:
    """The report of all files."""
    reasons: Counter[str] = Counter()
    for report in reports:
        reasons.update(report.reasons)
    broken = [test for report in reports for test in report.broken_tests or []]
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
        quarantine=[row for report in reports for row in report.quarantine][:SHOWN],
        mended=sum(report.mended or 0 for report in reports) or UNSET,
        broken=sum(report.broken or 0 for report in reports) or UNSET,
        broken_tests=broken[:SHOWN] or UNSET,
        files=reports if len(reports) > 1 else UNSET,
    )


def with_verdicts(report: R, done: Sequence[VerdictsImported]) -> R:
    """A report with what became of the verdicts of graders."""
    return replace(
        report,
        verifiers={name: run for one in done for name, run in one.verifiers.items()},
        verdicts=sum(one.imported for one in done),
        verdicts_unchanged=sum(one.unchanged for one in done),
        verdicts_refused=sum(one.refused for one in done),
        refused_verdicts=[row for one in done for row in one.refusals][:SHOWN],
    )
