"""What an export is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from workbench.formats.source import path_text
from workbench.model.exporting import ExportReport
from workbench.model.selection import Selection
from workbench.model.verdict import GoldChoice
from workbench.services.project import Project

Table = Literal["items", "labels", "verdicts"]


class Request(Struct, frozen=True, kw_only=True):
    """All that a writer may need; see `workbench.services.items.exporting.export`."""

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
