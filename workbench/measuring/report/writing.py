"""The report as a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, get_args

from workbench.core.progress import step
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.data.formats.writing import new_file
from workbench.measuring.report.gathering import gather
from workbench.measuring.report.page import report_document
from workbench.tables.document import Document
from workbench.tables.html import html
from workbench.tables.markdown import markdown

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
