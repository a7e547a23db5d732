"""``workbench [open] [DB] [--as NAME] [--at SCREEN]``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from workbench.app.cli.common import project_at
from workbench.app.cli.verb import verb
from workbench.core.errors import UsageError
from workbench.core.options import DatabaseOrFile, Options, option


class OpenOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    annotator: Annotated[str | None, option("Open it as this annotator, blind.", "--as", metavar="NAME")] = None
    screen: Annotated[
        str,
        option(
            "Begin on this screen, such as annotate; with --as also work, where theirs is.",
            "--at",
            metavar="SCREEN",
            shows_default=False,
        ),
    ] = "home"


@verb(json=False)
def command(options: OpenOptions) -> None:
    """Open the app on a database; without one on the database opened last, as whom it was.

    `workbench DB` is short for `workbench open DB`. Where none was opened yet, a screen offers those of this folder.

    With --as it is an annotator's app: own queue, conflicts to settle, own history. Without it, it is the
    coordinator's: looks at an item's gold, verdicts and labels are recorded, and labels given in it count as not
    blind.
    """
    database, annotator, screen = options.database, options.annotator, options.screen
    # Under another driver of Textual (`workbench serve`) the app draws elsewhere.
    served = "TEXTUAL_DRIVER" in os.environ
    terminal = served or (sys.stdin.isatty() and sys.stdout.isatty())
    if database is None:
        if not terminal or served:
            raise UsageError(
                "Which database?", "Write: workbench open DB. New here? workbench demo, or workbench import DB FILE…"
            )
        database, annotator = _chosen(annotator)
    if not terminal:
        raise UsageError("The app needs a terminal.", "In scripts use the commands: workbench --help")
    from workbench.config.services_recent import remember
    from workbench.config.services_settings import settings_of

    with project_at(database) as project:
        project.require_writable()
        if annotator is not None:
            from workbench.labelling.people import require_annotator

            require_annotator(project, annotator)
            if screen == "work":
                from workbench.labelling.roles import begins_at

                screen = begins_at(project, annotator)
        settings = settings_of(project)
        from workbench.app.tui.app import run

        if not served:
            remember(project.path, annotator)
        run(project, annotator, settings, screen)


def _chosen(annotator: str | None) -> tuple[str, str | None]:
    """The database opened last, as whom it was; without one, what is chosen on a screen of its own."""
    from workbench.config.services_recent import recent

    known = recent()
    if known:
        last = known[0]
        return last.path, annotator or last.annotator
    from workbench.app.tui.start import StartApp, here

    chosen = StartApp(here(Path.cwd(), known)).run()
    if chosen is None:
        sys.exit(0)
    return chosen.path, annotator or chosen.annotator
