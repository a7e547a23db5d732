"""``workbench audit-figures``."""

from __future__ import annotations

from typing import Annotated, get_args

from workbench.app.cli.verb import Output, verb
from workbench.auditing.records import Family
from workbench.core.options import Options, option
from workbench.core.project import Project


class AuditFiguresOptions(Options, frozen=True, kw_only=True):
    only: Annotated[
        tuple[str, ...],
        option(
            f"Only this family of figures; several by naming it again: {', '.join(get_args(Family))}.",
            "--family",
            metavar="NAME",
        ),
    ] = ()


@verb
def audit_figures_command(project: Project, options: AuditFiguresOptions) -> Output:
    """Count every figure of a project a second time, and say which differ.

    The second implementation is slow and obvious (pandas, scipy, loops), reads the database itself and shares no line
    with the first. Accuracy tables by type, subtype and model under every protocol, counts and joint errors,
    comparisons, agreement, k of n, estimates from few labels, pass@k and rankings, and calibration are compared; what
    is not counted again is named. Where a figure differs by more than 1e-9, the command ends with exit code 3.
    """
    from workbench.auditing.auditing import audit
    from workbench.auditing.tables import audit_text

    report = audit(project, options.only)
    return Output(report, audit_text, code=3 if any(one.differences for one in report.families) else 0)
