"""The note on licences: of what is published, and of each source it comes from."""

from __future__ import annotations

from workbench.benchmarks.card.contents import CardContents, SetContents
from workbench.measuring.records.card import NamedCount
from workbench.tables.document import Table
from workbench.tables.markdown import escaped, markdown_table
from workbench.tables.table import Columns, count, table, word


def licences_text(card: CardContents) -> str:
    """The note as Markdown."""
    said = card.licence or "The publisher has not said under which licence this folder may be used."
    parts = [
        f"# {escaped(f'Licences of {card.title}')}",
        escaped(f"Labels, selection and card: {said}" if card.licence else said),
        escaped(
            "Questions, reference answers and completions belong to their sources; a source without a known licence is "
            "listed as unknown, and nothing is assumed of it."
        ),
        *(markdown_table(_sources(found)).rstrip("\n") for found in card.sets),
    ]
    return "\n\n".join(parts) + "\n"


def _sources(found: SetContents) -> Table:
    sources = [source for source in found.contents.card.sources if source.items]
    columns: Columns[NamedCount] = (
        word("Source", lambda one: one.name or "(none)"),
        word("Licence", lambda one: one.licence or "unknown"),
        count("Questions", lambda one: one.questions),
        count("Completions", lambda one: one.items),
    )
    return table(f"Sources of {found.name}.", columns, sources)
