"""The report as a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, get_args

from workbench.formats.writing import new_file
from workbench.model.progress import step
from workbench.model.selection import Selection
from workbench.model.verdict import GoldChoice, Protocol3
from workbench.reports.document import Document
from workbench.reports.html import html
from workbench.reports.markdown import markdown
from workbench.reports.report import report_document
from workbench.services.project import Project
from workbench.services.reporting.gathering import gather

ReportFormat = Literal["html", "markdown"]
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)

_WRITERS: dict[ReportFormat, Callable[[Document], str]] = {"html": html, "markdown": markdown}


def write_report(
    project: Project,
    path: Path,
    *,
    format: ReportFormat = "html",
    verifiers: Sequence[str] = (),
    selection: Selection | None = None,
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    examples: int = 3,
    generated_at: str,
    force: bool = False,
) -> int:
    """Write the report to a file, which appears whole or not at all; its size in bytes.

    Two reports of the same database differ in nothing but ``generated_at``.

    Args:
        verifiers: Names; empty for all that have a complete run and judge completions.
        examples: Examples at most of each kind of error of each verifier.
        force: Replace an existing file.

    Raises:
        FormatError: The file exists, or can't be written.
        StoreError: The file belongs to the database itself.
        UsageError: An unknown verifier, or the selection names something unknown.
    """
    project.database.require_other(path)
    with new_file(path, force=force) as file, step("counting"):
        contents = gather(
            project,
            verifiers=verifiers,
            selection=selection,
            protocol=protocol,
            gold=gold,
            examples=examples,
            generated_at=generated_at,
        )
        return file.write(_WRITERS[format](report_document(contents)).encode())
