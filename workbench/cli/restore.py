"""``workbench restore DB FILE``."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.common import database_argument, json_option, print_json, say, show


@click.command()
@database_argument
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@json_option
def command(database: str, file: Path, as_json: bool) -> None:
    """Make a new database of an archive that export --format workbench wrote.

    Nothing may stand at DB yet. Items, labels, verdicts, sets and figures are those of the database that the archive
    was written from; an archive of an older version is brought up to date. Its verifiers may name servers and
    templates: they are used only once you accept them here.
    """
    from workbench.services.items.restoring import restore

    report = restore(file, Path(database))
    if report.left_out:
        say("The archive was written without: " + ", ".join(f"{n} {what}" for what, n in report.left_out.items()))
    if as_json:
        print_json(report)
        return
    show(f"{report.database}: {sum(report.rows.values())} rows, of them {report.rows.get('items', 0)} items")
