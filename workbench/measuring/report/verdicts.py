"""What each verifier said of correct and of incorrect completions: its verdicts, and its scores."""

from __future__ import annotations

from workbench.core.text.heat import shade
from workbench.measuring.report.common import decimal, own
from workbench.measuring.report.contents import ConfusionCounts, Contents, Scores
from workbench.tables.document import Block, Cell, Dot, Group, Head, Histogram, Row, Scatter, Section, Table
from workbench.tables.figures import percentage


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


# -- scores ------------------------------------------------------------------------------------------


def scores_section(contents: Contents) -> Section | None:
    """Plots for each verifier that gives scores."""
    if not contents.scores:
        return None
    plots: list[Block] = []
    for found in contents.scores:
        plots.append(_spread(found))
        if found.probability:
            plots.append(_calibration(found))
    group = Group(title="Scores by gold", blocks=tuple(plots), layout="grid")
    return Section("scores", "Scores", (group,))


def _spread(found: Scores) -> Histogram:
    return Histogram(
        caption=f"{found.verifier}: scores of {found.n:,} items with gold, AUROC {decimal(found.auroc)}.",
        edges=(found.bins[0].low, *(one.high for one in found.bins)),
        first=tuple(one.correct for one in found.bins),
        second=tuple(one.incorrect for one in found.bins),
        names=("gold correct", "gold incorrect"),
        mark=found.threshold,
    )


def _calibration(found: Scores) -> Scatter:
    dots = tuple(
        Dot(f"{one.correct + one.incorrect:,}", one.mean, one.rate)
        for one in found.bins
        if one.mean is not None and one.rate is not None
    )
    return Scatter(
        caption=f"{found.verifier}: share correct (%) against the mean score, by tenths, each with its items. On the "
        "line a score is the chance of being correct.",
        x_label="mean score",
        y_label="share correct",
        dots=dots,
        diagonal=True,
    )
