"""``workbench export DB FILE``."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.common import database_argument, json_option, print_json, project_at, say, selection_of, where_option
from workbench.services.exporting import FORMATS, TABLES, ExportFormat, Table, export


@click.command()
@database_argument
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--format", "format_", type=click.Choice(FORMATS), required=True)
@click.option("--table", type=click.Choice(TABLES), default="items", show_default=True, help="What to write.")
@click.option("--dataset", help="Only this data set.")
@where_option
@click.option("--names", is_flag=True, help="Write annotators' names instead of pseudonyms.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@json_option
def command(
    database: str,
    file: Path,
    format_: ExportFormat,
    table: Table,
    dataset: str | None,
    where: tuple[str, ...],
    names: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write items, labels or verdicts to a file; compressed when its name ends in .gz.

    verifybench is the released schema, byte for byte; verifybench-fixed has the two type fields the right way
    round. csv, parquet and jsonl hold everything, the final label as gold_correct. CSV cells are data: a
    spreadsheet may take one that begins with =, +, - or @ for a formula.
    """
    with project_at(database) as project:
        report = export(
            project,
            file,
            format=format_,
            table=table,
            dataset=dataset,
            selection=selection_of(where),
            names=names,
            force=force,
        )
    if report.without_gold:
        say(f"{report.without_gold} items have no final label: their gold_correct is empty.")
    if as_json:
        print_json({"written": report.written, "file": str(file), "format": format_, "table": table})
    else:
        click.echo(f"{report.written} rows written to {file}")
