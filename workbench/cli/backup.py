"""``workbench backup DB FILE``."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.common import database_argument, json_option, print_json, show
from workbench.cli.progress import showing_progress
from workbench.cli.writing import OutputPath


@click.command()
@database_argument
@click.argument("file", type=OutputPath(text=False))
@click.option("--force", is_flag=True, help="Replace an existing file, unless it is a good copy with more in it.")
@click.option(
    "--discard", is_flag=True, help="With --force: replace even a copy with more in it, or of another project."
)
@json_option
def command(database: str, file: Path, force: bool, discard: bool, as_json: bool) -> None:
    """Write a checked copy of the database, also while people work on it.

    Copying the file by hand can miss what stands in its write-ahead log; this doesn't. Go back to a copy with
    workbench restore.
    """
    if discard and not force:
        raise click.UsageError("--discard is about what --force replaces: give both.")
    from workbench.services.care import backup_of

    with showing_progress():
        size = backup_of(Path(database), file, force=force, discard=discard)
    print_json({"written": click.format_filename(file), "bytes": size}) if as_json else show(f"{file}: {size} bytes")
