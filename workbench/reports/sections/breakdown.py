"""Accuracy by answer type, subtype, domain and more."""

from __future__ import annotations

from workbench.model.breakdown import group_name
from workbench.model.report import AccuracyReport
from workbench.reports.contents import Contents
from workbench.reports.document import Block, Group, Section
from workbench.reports.sections.common import by_cell, own, plots, sizes
from workbench.reports.sections.heat_maps import across, down, words
from workbench.reports.sections.summary import accuracy_plot

_OPEN = ("subtype", "domain")
"""Breakdowns that are not folded away."""


def breakdown_section(contents: Contents) -> Section | None:
    """A heat map for everything items differ in."""
    blocks: list[Block] = []
    for by, report in contents.by.items():
        if by == "type":
            blocks += [across(contents, report), _type_plots(contents, report)]
        else:
            blocks += _tables(contents, by, report)
    return Section("breakdown", "Accuracy by group", tuple(blocks)) if blocks else None


def _tables(contents: Contents, by: str, report: AccuracyReport) -> list[Group]:
    """The tables of a breakdown: those of the best verifiers open, all others folded away."""
    first, *rest = down(contents, by, report)
    title = f"By {words(by)}"
    if by not in _OPEN:
        return [Group(title=title, blocks=(first, *rest), folded=True)]
    folded = [Group(title=f"{title}: further verifiers", blocks=tuple(rest), folded=True)] if rest else []
    return [Group(title=title, blocks=(first,)), *folded]


def _type_plots(contents: Contents, report: AccuracyReport) -> Group:
    cells = by_cell(report)
    drawn = [
        accuracy_plot(
            f"{group_name(group, 'type')}: accuracy (%) with its 95 % interval.",
            [cells[row.verifier, group] for row in own(contents) if (row.verifier, group) in cells],
            report,
            group,
        )
        for group in sizes(report)
        if group is not None
    ]
    return plots("Answer types with intervals", drawn, folded=len(own(contents)) > 12)
