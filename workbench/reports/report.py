"""The report: figures and texts in, a document out."""

from __future__ import annotations

from workbench.render.bars import counted
from workbench.reports.contents import Contents
from workbench.reports.document import Document
from workbench.reports.sections import SECTIONS


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
