"""``workbench restore DB FILE``."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.common import database_argument, json_option, print_json, say, show
from workbench.cli.progress import showing_progress


@click.command()
@database_argument
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@json_option
def command(database: str, file: Path, as_json: bool) -> None:
    """Go back to a backup, or make a new database of an archive that export --format workbench wrote.

    A backup takes the place of what stands at DB, which is kept beside it under another name, with its log; nobody may
    have DB open. The file is checked first and never changed. To go on with a file that was copied over the database
    by hand, name DB twice.

    An archive needs a name where nothing stands yet. Items, labels, verdicts, sets and figures are those of the
    database that it was written from. What is of an older version is brought up to date. Verifiers of an archive may
    name servers and templates: they are used only once you accept them here.
    """
    from workbench.services.items.restoring_backups import restore

    with showing_progress():
        report = restore(file, Path(database))
    if report.kept:
        say(f"What stood there is kept: {', '.join(report.kept)}")
    if report.left_out:
        say("The archive was written without: " + ", ".join(f"{n} {what}" for what, n in report.left_out.items()))
    if as_json:
        print_json(report)
        return
    show(f"{report.database}: {sum(report.rows.values())} rows, of them {report.rows.get('items', 0)} items")
