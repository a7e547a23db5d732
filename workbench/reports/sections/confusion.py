"""What each verifier said of correct and of incorrect completions."""

from __future__ import annotations

from workbench.render.heat import shade
from workbench.reports.contents import ConfusionCounts, Contents
from workbench.reports.document import Cell, Group, Head, Row, Section, Table
from workbench.reports.figures import percentage
from workbench.reports.sections.common import own


def confusion_section(contents: Contents) -> Section | None:
    """A small table a verifier."""
    known = {found.verifier: found for found in contents.confusions}
    tables = tuple(_table(known[row.verifier]) for row in own(contents) if row.verifier in known)
    if not tables:
        return None
    title = "Verdicts by gold, and in small print the share of the row (%)"
    return Section("confusion", "Confusion matrices", (Group(title=title, blocks=tables, layout="grid"),))


def _table(found: ConfusionCounts) -> Table:
    rows = (("correct", found.of_correct), ("incorrect", found.of_incorrect))
    return Table(
        caption=found.verifier,
        head=((Head("Gold"), Head("correct"), Head("incorrect"), Head("undecided")),),
        rows=tuple(Row((Cell(name), *(_cell(number, sum(counts)) for number in counts))) for name, counts in rows),
    )


def _cell(number: int, whole: int) -> Cell:
    if not whole:
        return Cell("0")
    return Cell(f"{number:,}", shade(number / whole, 0.0, 1.0), percentage(number / whole))
