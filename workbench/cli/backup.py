"""``workbench backup DB FILE``."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.common import database_argument, force_option, json_option, print_json, project_at, show
from workbench.cli.writing import OutputPath


@click.command()
@database_argument
@click.argument("file", type=OutputPath(text=False))
@force_option
@json_option
def command(database: str, file: Path, force: bool, as_json: bool) -> None:
    """Write a checked copy of the database, also while people work on it.

    Copying the file by hand can miss what stands in its write-ahead log; this doesn't.
    """
    from workbench.services.care import backup

    with project_at(database) as project:
        size = backup(project, file, force=force)
    print_json({"written": click.format_filename(file), "bytes": size}) if as_json else show(f"{file}: {size} bytes")
