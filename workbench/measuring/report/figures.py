"""Accuracy by answer type, subtype, domain and more: tables with colours, plots, and all figures in full."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.breakdown import group_name
from workbench.core.taxonomy import UNTYPED
from workbench.measuring.accuracy_tables import accuracy_tables
from workbench.measuring.report.common import (
    ColourScale,
    by_cell,
    is_baseline,
    own,
    plots,
    ranked,
    selected_by_note,
    sizes,
    verifier_name,
)
from workbench.measuring.report.contents import Contents
from workbench.measuring.report.summary import accuracy_plot
from workbench.statistics.records.comparison import LEVEL
from workbench.statistics.records.report import AccuracyReport, AccuracyRow
from workbench.tables.document import Block, Cell, Group, Head, Row, Section, Table
from workbench.tables.figures import difference

_OPEN = ("subtype", "domain")
"""Breakdowns that are not folded away."""

_MARK = "*"
"""Stands at a q-value below `LEVEL`."""

_ABREAST = 5
"""Verifiers side by side in one table; baselines come beside them."""

_MOST_GROUPS = 60
_WORDS = {
    "type": "answer type",
    "subtype": "answer subtype",
    "model": "the model that wrote the completion",
    "length": "length of the completion (characters)",
    "dataset": "data set",
}

_IN_FULL = ("type", "subtype", "domain")


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


def words(by: str) -> str:
    """What items are grouped by, for a reader."""
    return _WORDS.get(by, by)


def across(contents: Contents, report: AccuracyReport) -> Table:
    """Verifiers down, answer types across, and both averages."""
    cells, size = by_cell(report), sizes(report)
    groups = [group for group in size if group is not None]
    scale = ColourScale(report.rows)
    averages = {row.verifier: row.macro for row in report.averages}
    rows = [Row((Cell("n"), *(Cell(f"{size.get(group, 0):,}") for group in (*groups, None)), Cell("")), "aside")]
    for row in ranked(contents):
        line = [scale.cell(found, delta(found)) for group in groups for found in [cells.get((row.verifier, group))]]
        line += [scale.cell(cells.get((row.verifier, None))), ColourScale.plain(averages.get(row.verifier))]
        rows.append(Row((Cell(verifier_name(row)), *line), "aside" if is_baseline(row) else ""))
    heads = [Head(group_name(group, "type")) for group in groups]
    return Table(
        caption="Accuracy (%) by answer type, and in small print the difference from all items in points. Micro is the "
        f"average over items, macro over types. Protocol {report.protocol}, gold {report.gold_choice}.",
        head=((Head("Verifier"), *heads, Head("Micro"), Head("Macro")),),
        rows=tuple(rows),
        notes=(scale.note, *_said(contents, report), *selected_by_note(report.rows)),
    )


def down(contents: Contents, by: str, report: AccuracyReport) -> list[Table]:
    """Groups down, verifiers across; several tables where there are more verifiers than stand side by side."""
    verifiers = own(contents)
    baselines = [row for row in ranked(contents) if is_baseline(row)]
    parts = [verifiers[first : first + _ABREAST] for first in range(0, len(verifiers), _ABREAST)]
    return [_part(contents, by, report, [*part, *baselines], number) for number, part in enumerate(parts)]


def _part(contents: Contents, by: str, report: AccuracyReport, verifiers: list[AccuracyRow], number: int) -> Table:
    cells, size = by_cell(report), sizes(report)
    scale = ColourScale(report.rows)
    groups = [group for group in size if group is not None]
    shown = set(sorted(groups, key=lambda group: -size[group])[:_MOST_GROUPS])
    rows: list[Row] = []
    for group in groups:
        if group in shown:
            rows += _type_row(contents, group, verifiers, rows) if by == "subtype" else []
            line = [cells.get((row.verifier, group)) for row in verifiers]
            # What has no type is part of none: it stands beside the types.
            inside = by == "subtype" and group != UNTYPED
            name = f"{'   ' if inside else ''}{group_name(group, by)}"
            own_cells = (Cell(name), Cell(f"{size[group]:,}"), *(scale.cell(row, delta(row)) for row in line))
            rows.append(Row(own_cells, "total" if by == "subtype" and not inside else ""))
    everything = [scale.cell(cells.get((row.verifier, None))) for row in verifiers]
    rows.append(Row((Cell("all"), Cell(f"{size.get(None, 0):,}"), *everything), "total"))
    left_out = len(groups) - len(shown)
    return Table(
        caption=f"Accuracy (%) by {words(by)}, and in small print the difference from "
        f"{'the type' if by == 'subtype' else 'all items'} in points. "
        f"Protocol {report.protocol}, gold {report.gold_choice}.",
        head=((Head("Group"), Head("n"), *(Head(verifier_name(row)) for row in verifiers)),),
        rows=tuple(rows),
        notes=(
            scale.note,
            *(_said(contents, report) if number == 0 else ()),
            *((f"{left_out:,} smaller groups are left out here.",) if left_out else ()),
        ),
    )


def _type_row(contents: Contents, subtype: str, verifiers: Sequence[AccuracyRow], rows: list[Row]) -> list[Row]:
    """The row of a subtype's type, before the first of its subtypes."""
    report = contents.by.get("type")
    kind = subtype[:1]
    name = group_name(kind, "type")
    if report is None or any(row.kind == "total" and row.cells[0].text == name for row in rows):
        return []
    cells, size = by_cell(report), sizes(report)
    if kind not in size:
        return []
    line = [cells.get((row.verifier, kind)) for row in verifiers]
    return [
        Row(
            (Cell(name), Cell(f"{size[kind]:,}"), *(ColourScale.plain(row.accuracy if row else None) for row in line)),
            "total",
        )
    ]


def delta(row: AccuracyRow | None) -> str:
    """A difference, marked where chance alone would seldom give it."""
    if row is None or row.delta is None or is_baseline(row):
        return ""
    marked = row.q is not None and row.q < LEVEL
    return f"{difference(row.delta)}{_MARK if marked else ''}"


def _said(contents: Contents, report: AccuracyReport) -> tuple[str, ...]:
    """How the marks came about, and what else is said of this table alone."""
    notes = tuple(note for note in report.notes if note not in contents.overall.notes)
    if report.tests is None:
        return notes
    return (
        f"{_MARK} q < {LEVEL} after Benjamini and Hochberg over the {report.tests.hypotheses:,} tests of this table "
        f"({report.tests.method}).",
        *notes,
    )


def tables_section(contents: Contents) -> Section | None:
    """The accuracy tables in full."""
    groups: list[Block] = [
        Group(title=f"Accuracy by {by}", blocks=accuracy_tables(contents.by[by]), folded=True)
        for by in _IN_FULL
        if by in contents.by
    ]
    return Section("appendix", "Appendix: figures in full", tuple(groups)) if groups else None
