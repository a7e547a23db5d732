"""``workbench demo [DB]``."""

from __future__ import annotations

import sys

import click

from workbench.cli.common import json_option, print_json, project_at, say
from workbench.cli.following import shown
from workbench.model.run import RunInfo

DEFAULT = "workbench-demo.db"


@click.command()
@click.argument("database", metavar="[DB]", default=DEFAULT, type=click.Path(dir_okay=False))
@json_option
def command(database: str, as_json: bool) -> None:
    """Load the sample data into DB, run the rule verifiers, and open the app on it.

    Without a terminal, or with --json, the accuracy table by answer subtype is printed instead.
    """
    from workbench.services.demo import VERIFIERS, load_sample, verify_sample
    from workbench.services.measuring.accuracy import accuracy
    from workbench.services.measuring.tables import accuracy_text

    terminal = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    with project_at(database, create=True) as project:
        say(f"Loading the sample data into {database}")
        load_sample(project)
        ended = verify_sample(project, _narrate, shown())
        if terminal:
            from workbench.services.recent import remember
            from workbench.services.settings import settings_of
            from workbench.tui.app import run

            remember(project.path, None)
            run(project, None, settings_of(project))
            return
        report = accuracy(project, verifiers=VERIFIERS, by="subtype")
    print_json(report) if as_json else click.echo(accuracy_text(report), nl=False)
    if any(run_.state != "complete" for run_ in ended):
        sys.exit(1)


def _narrate(run: RunInfo) -> None:
    detail = f": {run.message}" if run.message else ""
    say(f"  {run.verifier}: {run.done} verdicts, {run.state}{detail}")
