"""Whether verdicts follow what they should not."""

from __future__ import annotations

from collections.abc import Callable

from workbench.core.text.figures import NONE
from workbench.measuring.records.validity import COMPARING, Finding
from workbench.measuring.report.contents import Contents
from workbench.tables.document import Block, Facts, Group, Paragraph, Section
from workbench.tables.figures import difference, percentage
from workbench.tables.table import Columns, count, table, text, word


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
    columns: Columns[Finding] = (
        word("Check", _of),
        count("n", lambda finding: finding.n),
        text("Figure", lambda finding: _shown(finding)(finding.estimate)),
        text("95 % interval", _ends),
    )
    caption = "Every check: a share in per cent, or a difference of shares in points, with its 95 % interval."
    every = table(caption, columns, found.findings)
    blocks.append(Group(title="Every check", blocks=(every,), folded=True))
    return Section("validity", "Bias and validity", tuple(blocks))


def _of(finding: Finding) -> str:
    return f"{finding.check}, {finding.verifier or 'labels'}"


def _shown(finding: Finding) -> Callable[[float | None], str]:
    return difference if finding.check in COMPARING else percentage


def _ends(finding: Finding) -> str:
    return NONE if finding.ci is None else " to ".join(map(_shown(finding), finding.ci))
