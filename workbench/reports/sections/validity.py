"""Whether verdicts follow what they should not."""

from __future__ import annotations

from workbench.model.validity import COMPARING, Finding
from workbench.render.bars import NONE
from workbench.reports.contents import Contents
from workbench.reports.document import Block, Cell, Facts, Group, Paragraph, Row, Section, Table, heads
from workbench.reports.figures import difference, percentage


def validity_section(contents: Contents) -> Section | None:
    """What stands out, then every check with its interval."""
    found = contents.validity
    if found is None or not found.findings:
        return None
    striking = [finding for finding in found.findings if finding.stands_out]
    blocks: list[Block] = [Paragraph(note) for note in found.notes]
    if striking:
        blocks.append(Facts(tuple((_of(finding), finding.sentence) for finding in striking)))
    else:
        blocks.append(Paragraph("No check stands out."))
    every = Table(
        caption="Every check: a share in per cent, or a difference of shares in points, with its 95 % interval.",
        head=(heads("Check", "n", "Figure", "95 % interval"),),
        rows=tuple(Row(_cells(finding)) for finding in found.findings),
    )
    blocks.append(Group(title="Every check", blocks=(every,), folded=True))
    return Section("validity", "Bias and validity", tuple(blocks))


def _of(finding: Finding) -> str:
    return f"{finding.check}, {finding.verifier or 'labels'}"


def _cells(finding: Finding) -> tuple[Cell, ...]:
    shown = difference if finding.check in COMPARING else percentage
    ends = NONE if finding.ci is None else f"{shown(finding.ci[0])} to {shown(finding.ci[1])}"
    return Cell(_of(finding)), Cell(f"{finding.n:,}"), Cell(shown(finding.estimate)), Cell(ends)
