"""``workbench restore DB FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from workbench.app.cli.common import say
from workbench.app.cli.progress import showing_progress
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Database, Options, argument


class RestoreOptions(Options, frozen=True, kw_only=True):
    database: Database
    file: Annotated[Path, argument()]


@verb
def command(options: RestoreOptions) -> Output:
    """Go back to a backup, or make a new database of an archive that export --format workbench wrote.

    A backup takes the place of what stands at DB, which is kept beside it under another name, with its log; nobody may
    have DB open. The file is checked first and never changed. To go on with a file that was copied over the database
    by hand, name DB twice.

    An archive needs a name where nothing stands yet. Items, labels, verdicts, sets and figures are those of the
    database that it was written from. What is of an older version is brought up to date. Verifiers of an archive may
    name servers and templates: they are used only once you accept them here.
    """
    from workbench.care.restoring_backups import restore

    with showing_progress():
        report = restore(options.file, Path(options.database))
    if report.kept:
        say(f"What stood there is kept: {', '.join(report.kept)}")
    if report.left_out:
        say("The archive was written without: " + ", ".join(f"{n} {what}" for what, n in report.left_out.items()))
    rows = report.rows
    return Output(
        report, lambda found: [f"{found.database}: {sum(rows.values())} rows, of them {rows.get('items', 0)} items"]
    )
