"""``workbench verdicts DB --verifier NAME``."""

from __future__ import annotations

import sys

import click

from workbench.cli.common import database_argument, print_line, project_at, whole_number


@click.command()
@database_argument
@click.option("--verifier", required=True, metavar="NAME", help="Whose verdicts.")
@click.option("--run", type=whole_number, help="Exactly this run instead of the newest complete one.")
def command(database: str, verifier: str, run: int | None) -> None:
    """Print a verifier's verdicts, one JSON line an item."""
    from workbench.services.verifying import verdict_lines

    with project_at(database) as project:
        for line in verdict_lines(project, verifier, run):
            print_line(line)
    sys.stdout.flush()
