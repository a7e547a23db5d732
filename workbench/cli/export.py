"""``workbench export DB FILE``."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.common import (
    database_argument,
    force_option,
    json_option,
    print_json,
    project_at,
    say,
    selection_of,
    where_option,
)
from workbench.model.verdict import GoldChoice
from workbench.services.items.exporting import FORMATS, TABLES, ExportFormat, Table, export


@click.command()
@database_argument
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--format", "format_", type=click.Choice(FORMATS), required=True)
@click.option("--table", type=click.Choice(TABLES), default="items", show_default=True, help="What to write.")
@click.option("--dataset", help="Only this data set.")
@where_option
@click.option(
    "--gold",
    type=click.Choice(("final", "people", "imported")),
    default="final",
    show_default=True,
    help="Whose labels; imported gives back the file's own labels and types.",
)
@click.option("--names", is_flag=True, help="Write annotators' names instead of pseudonyms.")
@click.option(
    "--sighted",
    is_flag=True,
    help="For label-studio and argilla: also gold, model, source and types, which annotators must not see.",
)
@force_option
@json_option
def command(
    database: str,
    file: Path,
    format_: ExportFormat,
    table: Table,
    dataset: str | None,
    where: tuple[str, ...],
    gold: GoldChoice,
    names: bool,
    sighted: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write items, labels or verdicts to a file; compressed when its name ends in .gz.

    verifybench is the released schema: an imported file comes back byte for byte, with people's labels where there
    are some (--gold imported leaves them out). verifybench-fixed has the two type fields the right way round. csv,
    parquet and jsonl hold everything. label-studio and argilla write items with people's labels as those tools read
    them; import and labels import read them back. CSV cells are data: a spreadsheet may take one that begins with
    =, +, - or @ for a formula.
    """
    with project_at(database) as project:
        report = export(
            project,
            file,
            format=format_,
            table=table,
            dataset=dataset,
            selection=selection_of(where),
            gold=gold,
            names=names,
            sighted=sighted,
            force=force,
        )
    if report.without_gold:
        say(f"{report.without_gold} items have no {gold} label: their gold_correct is empty.")
    if as_json:
        print_json({"written": report.written, "file": click.format_filename(file), "format": format_, "table": table})
    else:
        click.echo(f"{report.written} rows written to {file}")
