"""``workbench doctor DB``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from workbench.cli.common import database_argument, json_option, print_json, project_at, say, show
from workbench.cli.progress import showing_progress


@click.command()
@database_argument
@click.option("--repair", "repairing", is_flag=True, help="First derive all item states anew from the label events.")
@json_option
def command(database: str, repairing: bool, as_json: bool) -> None:
    """Check the database, this machine and the sandbox on it; exit 1 if something is wrong."""
    from workbench.services.care import diagnosis, repair, sandbox

    with showing_progress():
        if repairing:
            with project_at(database) as project:
                say(f"States of {repair(project)} tasks derived from their events.")
        findings = [*diagnosis(Path(database)), *sandbox()]
    healthy = all(finding.ok for finding in findings)
    if as_json:
        print_json({"ok": healthy, "findings": findings})
    else:
        for finding in findings:
            show(f"{'ok ' if finding.ok else 'BAD'}  {finding.name}: {finding.message}")
    if not healthy:
        sys.exit(1)
