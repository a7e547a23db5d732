"""``workbench build DB``: sets in the manner of VerifyBench; one file a command."""

from __future__ import annotations

import click

from workbench.app.cli import LazyGroup
from workbench.app.cli.common import database_argument

COMMANDS: dict[str, tuple[str, str]] = {
    "picks": ("picks", "Of each question 2 + 2 completions by a judge's verdicts, for people to label."),
    "balanced": ("balanced", "So many questions of each type, each with one correct and one incorrect completion."),
    "hard": ("hard", "What judges are split on, labelled by people."),
}
"""Command name -> (module in this package, one line of help)."""


@click.group(name="build", cls=LazyGroup, package=__name__, commands=COMMANDS)
@database_argument
@click.pass_context
def command(context: click.Context, database: str) -> None:
    """Build sets in the manner of VerifyBench; each is frozen under a name and used with --where set=NAME.

    workbench build DB picks --judge NAME

    workbench build DB balanced --where set=picks --quota verifybench

    workbench build DB hard --judge A --judge B --judge C

    The same call again gives the same set. A set of that name with other members is refused, unless --new-version
    freezes it beside the earlier one. List, show and compare them with: workbench sets DB
    """
    context.obj = database
