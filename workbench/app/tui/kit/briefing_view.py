"""A briefing: one numbered sentence per open task, and one line per verifier with its accuracy."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.matrix import fit, printable
from workbench.core.status import Matter
from workbench.core.text.figures import compact_count, interval_bar, percent, percent_interval

if TYPE_CHECKING:
    from workbench.measuring.briefing import AccuracyRanking
    from workbench.statistics.records.report import AccuracyRow

NUMBERED = 9
"""Number of tasks with a number key; the others are reached with the cursor."""
_MARGIN = 3
_NAMES, _WIDE_NAMES = 14, 28
"""Minimum and maximum cells of a verifier's name; the drawn interval takes the remaining cells and is dropped if there
are too few."""
_FIGURES = 33
"""Cells that a verifier's accuracy, its interval and its item count take."""


def matter_text(number: int, matter: Matter, width: int) -> Content:
    """Return the line of an open task: the key that opens it, and its sentence."""
    key = f"{key_of(f'home.matter-{number}')}) " if number <= NUMBERED else "   "
    first, *others = wrap(printable(matter.sentence), max(width - _MARGIN, 20), break_on_hyphens=False) or [""]
    lines = [Content.assemble((key, "bold"), first), *(Content(" " * _MARGIN + line) for line in others)]
    return Content("\n").join(lines)


def verifier_lines(standing: AccuracyRanking, width: int, most: int) -> Content:
    """Return the accuracy of verifiers as text.

    Args:
        most: Maximum number of lines.
    """
    listed = standing.verifiers[:most]
    needed = max((cell_len(printable(row.verifier)) for row in listed), default=0)
    names = min(needed, _WIDE_NAMES, max(_NAMES, width - _FIGURES - 1))
    lines = [_verifier_line(row, standing.constant, names, width) for row in listed]
    more = len(standing.verifiers) - most
    said = [f"{more:,} more"] if more > 0 else []
    if standing.constant is not None:
        said += [f"protocol {standing.protocol}", f"┊ majority-class baseline: {percent(standing.constant)} %"]
    lines.append(Content.styled(" · ".join(said) or "There are no metrics: no item has gold.", "$foreground-muted"))
    return Content("\n").join(lines)


def _verifier_line(row: AccuracyRow, constant: float | None, names: int, width: int) -> Content:
    name = Content.styled(fit(row.verifier, names), "bold")
    if row.accuracy is None or row.ci is None:
        return Content.assemble(name, (" no metrics", "$text-warning"))
    room = width - names - _FIGURES - 2
    drawn = f" {interval_bar(row.accuracy, *row.ci, room, constant)}" if room >= 4 else ""
    figures = f"{percent(row.accuracy):>5} % {percent_interval(row.ci):<14} n {compact_count(row.n)}"
    return Content.assemble(name, (drawn, "$text-accent"), f" {figures}")
