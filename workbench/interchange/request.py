"""What an export is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice
from workbench.data.formats.source import path_text
from workbench.interchange.records import ExportReport

Table = Literal["items", "labels", "verdicts"]


class Request(Struct, frozen=True, kw_only=True):
    """All that a writer may need; see `workbench.interchange.exporting.export`."""

    project: Project
    path: Path
    format: str
    table: Table = "items"
    selection: Selection = Selection()
    gold: GoldChoice = "final"
    names: bool = False
    sighted: bool = False
    force: bool = False
    system: str | None = None
    per_question: int | None = None
    seed: int = 0
    checks: bool = False
    calls: bool = True

    def report(self, written: int, **more: Any) -> ExportReport:
        """The report of so many rows."""
        return ExportReport(
            written=written,
            file=path_text(self.path),
            format=self.format,
            table=self.table,
            **more,
        )
