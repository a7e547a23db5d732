"""Plots as text: a bar a value, the figure beside it."""

from __future__ import annotations

from workbench.render.bars import NONE, bar
from workbench.render.inert import inert
from workbench.reports.document import Lines
from workbench.reports.figures import percentage

_WIDTH = 40
"""Cells of the longest bar."""


def lines_text(plot: Lines) -> str:
    """Every series with a bar a tick."""
    most = 1.0 if plot.shares else max((value for one in plot.series for value in one.values if value), default=1.0)
    wide = max(map(len, plot.ticks), default=0)
    parts = []
    for one in plot.series:
        parts.append(inert(one.name))
        for tick, value in zip(plot.ticks, one.values, strict=True):
            figure = percentage(value) if plot.shares else NONE if value is None else f"{value:,.0f}"
            drawn = bar((value or 0.0) / most, _WIDTH).rstrip()
            parts.append(f"  {inert(tick):>{wide}}  {figure:>7}  {drawn}".rstrip())
    return "\n".join(parts)
