"""``workbench backup DB FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from workbench.app.cli.progress import showing_progress
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Database, Options, argument, option


class BackupOptions(Options, frozen=True, kw_only=True):
    database: Database
    file: Annotated[Path, argument(output="file")]
    force: Annotated[bool, option("Replace an existing file, unless it is a good copy with more in it.")] = False
    discard: Annotated[bool, option("With --force: replace even a copy with more in it, or of another project.")] = (
        False
    )


@verb
def command(options: BackupOptions) -> Output:
    """Write a checked copy of the database, also while people work on it.

    Copying the file by hand can miss what stands in its write-ahead log; this doesn't. Go back to a copy with
    workbench restore.
    """
    if options.discard and not options.force:
        raise click.UsageError("--discard is about what --force replaces: give both.")
    from workbench.care.backups import backup_of

    with showing_progress():
        size = backup_of(Path(options.database), options.file, force=options.force, discard=options.discard)
    return Output(
        {"written": click.format_filename(options.file), "bytes": size}, lambda _: [f"{options.file}: {size} bytes"]
    )
