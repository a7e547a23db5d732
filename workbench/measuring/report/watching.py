"""The section on trainings that are watched."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.measuring.records.watching import TrainingReport
from workbench.measuring.report.contents import Contents
from workbench.measuring.watching_tables import sentences, tables_of
from workbench.tables.document import Block, Paragraph, Section


def training_section(contents: Contents) -> Section | None:
    """What is seen of each; None where none is watched."""
    blocks = [block for report in contents.trainings for block in _training(report)]
    return Section("trainings", "Trainings that are watched", tuple(blocks)) if blocks else None


def _training(report: TrainingReport) -> Iterator[Block]:
    yield from (Paragraph(sentence) for sentence in sentences(report))
    yield from tables_of(report)
