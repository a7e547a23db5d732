"""The note on licences: of what is published, and of each source it comes from."""

from __future__ import annotations

from workbench.reports.card.contents import CardContents, SetContents
from workbench.reports.document import Table, heads, row
from workbench.reports.markdown import escaped, markdown_table


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
    return Table(
        caption=f"Sources of {found.name}.",
        head=(heads("Source", "Licence", "Questions", "Completions"),),
        rows=tuple(
            row(one.name or "(none)", one.licence or "unknown", f"{one.questions:,}", f"{one.items:,}")
            for one in sources
        ),
        left=2,
    )
