"""Verifiers' scores: how they are spread, and what they are worth as chances."""

from __future__ import annotations

from workbench.reports.contents import Contents, Scores
from workbench.reports.document import Block, Dot, Group, Histogram, Scatter, Section
from workbench.reports.sections.common import decimal


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
