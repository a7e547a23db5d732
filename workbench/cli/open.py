"""``workbench open DB [--as NAME] [--at SCREEN]``."""

from __future__ import annotations

import os
import sys

import click

from workbench.cli.common import project_at
from workbench.errors import UsageError


@click.command()
@click.argument("database", metavar="[DB]", required=False, default=None, type=click.Path(dir_okay=False))
@click.option("--as", "annotator", metavar="NAME", default=None, help="Open it as this annotator, blind.")
@click.option("--at", "screen", metavar="SCREEN", default="home", help="Begin on this screen, such as annotate.")
def command(database: str | None = None, annotator: str | None = None, screen: str = "home") -> None:
    """Open the app on a database.

    With --as it is an annotator's app: own queue, conflicts to settle, own history. Without it, it is the
    coordinator's: looks at an item's gold, verdicts and labels are recorded, and labels given in it count as not
    blind.
    """
    if database is None:
        raise UsageError(
            "Which database?", "Write: workbench open DB. New here? workbench demo, or workbench import DB FILE…"
        )
    # Under another driver of Textual (`workbench serve`) the app draws elsewhere.
    if "TEXTUAL_DRIVER" not in os.environ and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The app needs a terminal.", "In scripts use the commands: workbench --help")
    from workbench.services.settings import settings_of

    with project_at(database) as project:
        if annotator is not None:
            from workbench.services.labelling.people import require_annotator

            require_annotator(project, annotator)
        settings = settings_of(project)
        from workbench.tui.app import run

        run(project, annotator, settings, screen)
