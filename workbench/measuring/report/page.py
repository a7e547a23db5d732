"""The report: figures and texts in, a document out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workbench.core.text.figures import counted
from workbench.measuring.report.common import summary_section
from workbench.measuring.report.contents import Contents
from workbench.measuring.report.figures import (
    breakdown_section,
    comparison_section,
    confusion_section,
    scores_section,
    tables_section,
    validity_section,
)
from workbench.measuring.report.people import (
    data_section,
    examples_section,
    methods_section,
    people_section,
    provenance_section,
)
from workbench.tables.document import Document, Section

SECTIONS: Final[tuple[Callable[[Contents], Section | None], ...]] = (
    summary_section,
    data_section,
    breakdown_section,
    confusion_section,
    comparison_section,
    scores_section,
    validity_section,
    people_section,
    examples_section,
    methods_section,
    provenance_section,
    tables_section,
)
"""One line a section, in the order they are read."""


def report_document(contents: Contents) -> Document:
    """All sections there is something to say in."""
    made = (make(contents) for make in SECTIONS)
    verifiers = len({row.verifier for row in contents.overall.rows if row.kind == "verifier"})
    datasets = ", ".join(contents.card.counts.datasets) or "no data"
    return Document(
        title=f"Verifiers on {datasets}",
        lead=f"{counted(verifiers, 'verifier')}, {_items(contents)}. Items: {contents.selection}. "
        f"Protocol {contents.protocol}, gold {contents.gold_choice}.",
        generated_at=contents.generated_at,
        sections=tuple(section for section in made if section is not None),
    )


def _items(contents: Contents) -> str:
    counts = {row.of: sum(row.counts.values()) for row in contents.card.counts.rows if row.group is None}
    return (
        f"{counted(counts.get('completions', 0), 'completion')} with gold of "
        f"{counted(counts.get('questions', 0), 'question')}"
    )
