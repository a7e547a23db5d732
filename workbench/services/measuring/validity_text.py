"""Validity reports as text."""

from __future__ import annotations

from itertools import groupby
from textwrap import fill

from workbench.model.validity import ValidityReport
from workbench.render.inert import inert

_WIDTH = 100


def validity_text(report: ValidityReport) -> str:
    """One sentence a check, by verifier; what stands out is marked."""
    sources = ", ".join(f"{number} {name}" for name, number in report.gold.items())
    lines = [f"gold {report.gold_choice} ({sources}); * a difference that stands out, a share above none"]
    for verifier, findings in groupby(report.findings, key=lambda finding: finding.verifier):
        lines += ["", inert(verifier or "labels")]
        for finding in findings:
            mark = "*" if finding.stands_out else " "
            lines.append(
                fill(
                    f"{finding.check}: {inert(finding.sentence)}",
                    _WIDTH,
                    initial_indent=f"{mark} ",
                    subsequent_indent="    ",
                    break_on_hyphens=False,
                )
            )
    return "\n".join([*lines, *(f"\n{fill(note, _WIDTH)}" for note in report.notes)]) + "\n"
