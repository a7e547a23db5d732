"""``workbench bundle DB FILE --for NAME``."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.common import (
    database_argument,
    force_option,
    json_option,
    print_json,
    project_at,
    selection_of,
    show,
    where_option,
    whole_number,
)
from workbench.cli.writing import OutputPath


@click.command()
@database_argument
@click.argument("file", type=OutputPath(text=False))
@click.option("--for", "annotator", required=True, metavar="NAME", help="Whose items: one person's.")
@where_option
@click.option("--limit", type=whole_number, default=200, show_default=True, help="At most so many items.")
@click.option(
    "--days", type=click.IntRange(1, 365), default=14, show_default=True, help="How long the items wait for the person."
)
@force_option
@json_option
def command(
    database: str,
    file: Path,
    annotator: str,
    where: tuple[str, ...],
    limit: int,
    days: int,
    force: bool,
    as_json: bool,
) -> None:
    """Write a person's next items into a small database of its own, to be labelled anywhere.

    It holds texts, the guidelines and the assignment: no gold, models, verdicts or labels of others. There:
    workbench open FILE --as NAME. When it comes back: workbench merge DB FILE. Until then, for --days, nobody else
    is given the items.
    """
    from workbench.services.labelling.bundling import bundle

    with project_at(database) as project:
        done = bundle(
            project, file, annotator=annotator, selection=selection_of(where), limit=limit, days=days, force=force
        )
    if as_json:
        print_json(done)
        return
    show(
        f"{done.written} items for {done.annotator}, {done.types} of them with the answer type, written to {done.file}"
    )
    show(f"They wait for {done.annotator} until {done.until}.")
