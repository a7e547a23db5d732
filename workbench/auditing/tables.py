"""An audit for a terminal: families, then what differs."""

from __future__ import annotations

from textwrap import fill

from workbench.auditing.records import AuditDifference, AuditedFamily, AuditReport
from workbench.core.text.figures import NONE, counted
from workbench.core.text.inert import inert
from workbench.tables.table import Columns, column, count, listed, text, word

_WIDTH = 100
_FAMILIES: Columns[AuditedFamily] = (
    word("family", lambda one: one.family),
    count("figures", lambda one: one.figures),
    count("differ", lambda one: one.differences),
    column("largest", lambda one: one.largest, lambda off: NONE if off is None else f"{off:.1e}"),
    text("", lambda one: one.reason or ""),
)
_DIFFERENCES: Columns[AuditDifference] = (
    word("family", lambda one: one.family),
    word("figure", lambda one: inert(one.figure)),
    text("shown", lambda one: "absent" if one.absent == "shown" else _exact(one.shown)),
    text("plain", lambda one: "absent" if one.absent == "plain" else _exact(one.plain)),
)


def _exact(value: float | None) -> str:
    return NONE if value is None else f"{value:.12g}"


def audit_text(report: AuditReport) -> str:
    """Whether both agree, family by family, and what was not counted again."""
    figures = sum(one.figures for one in report.families)
    differ = sum(one.differences for one in report.families)
    many = f"{differ:,} differ" if differ else "none differs"
    said = f"{counted(figures, 'figure')} counted twice: {many} by more than {report.tolerance:g}."
    blocks = [said, listed(_FAMILIES, report.families)]
    if report.differences:
        blocks.append(listed(_DIFFERENCES, report.differences))
    blocks.append(_uncovered(report))
    return "\n\n".join(blocks) + "\n"


def _uncovered(report: AuditReport) -> str:
    kinds = [fill(one, _WIDTH, initial_indent="- ", subsequent_indent="  ") for one in report.uncovered]
    return "\n".join([f"Not counted again, {counted(len(kinds), 'kind')} of figures:", *kinds])
