"""``workbench transcripts DB --verifier NAME``."""

from __future__ import annotations

import sys

import click

from workbench.cli.common import database_argument, print_line, project_at, whole_number


@click.command()
@database_argument
@click.option("--verifier", required=True, metavar="NAME", help="Whose.")
@click.option("--run", type=whole_number, help="Exactly this run instead of the newest complete one.")
def command(database: str, verifier: str, run: int | None) -> None:
    """Print the requests and responses a verifier's verdicts rest on, one JSON line each.

    They hold the items' texts and no keys. What is printed can be served again: workbench replay FILE.
    """
    from workbench.services.running.recording import recorded

    with project_at(database) as project:
        for exchange in recorded(project, verifier, run):
            print_line(exchange)
    sys.stdout.flush()
