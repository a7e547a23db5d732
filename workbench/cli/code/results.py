"""``workbench code results DB``."""

from __future__ import annotations

import sys

import click

from workbench.cli.common import database_argument, print_line, project_at, selection_of, where_option, whole_number


@click.command()
@database_argument
@click.option("--verifier", metavar="NAME", help="Whose outcomes; by default every verifier's that ran solutions.")
@click.option("--run", type=whole_number, help="Exactly this run instead of the newest complete one.")
@click.option("--suite", metavar="NAME", help="Only this suite of tests.")
@where_option
def command(database: str, verifier: str | None, run: int | None, suite: str | None, where: tuple[str, ...]) -> None:
    """Print what came of every solution, one JSON line a solution and suite, in the order of import.

    A letter a test: p passed, f assertion failed, e another error, t took too long, s syntax error, x killed or never
    reported, n not run (yet).
    """
    from workbench.services.coding.results import results

    with project_at(database) as project:
        for line in results(project, verifier, run, suite, selection_of(where) if where else None):
            print_line(line)
    sys.stdout.flush()
