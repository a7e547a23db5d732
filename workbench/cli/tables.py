"""``workbench tables DB --paper``."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli.common import (
    database_argument,
    gold_option,
    json_option,
    key_and_value,
    print_json,
    project_at,
    protocol_option_with,
    verifiers_option,
)


@click.command()
@database_argument
@click.option("--paper", is_flag=True, required=True, help="The tables of VerifyBench (arXiv 2505.15801).")
@click.option("--table", "numbers", multiple=True, type=click.IntRange(1, 5), help="Only this one (repeatable).")
@click.option("--dataset", "datasets", multiple=True, metavar="NAME", help="Only these, in this order (repeatable).")
@verifiers_option
@click.option(
    "--pair",
    "given",
    multiple=True,
    metavar="A=B",
    help="Table 3: A with and B without the reference (repeatable); judges that differ in that alone are found.",
)
@protocol_option_with("strict")
@gold_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "markdown", "latex", "csv"]),
    default="text",
    show_default=True,
    help="LaTeX needs the package booktabs.",
)
@json_option
def command(
    database: str,
    paper: bool,
    numbers: tuple[Any, ...],
    datasets: tuple[str, ...],
    verifiers: tuple[str, ...],
    given: tuple[str, ...],
    protocol: Any,
    gold: Any,
    format_: Any,
    as_json: bool,
) -> None:
    """Show the tables of the VerifyBench paper for this project's data sets and verifiers.

    1 counts; 2 accuracy by answer type and its average over items; 3 judges with and without the reference answer;
    4 pairs of completions, for verifiers that give scores; 5 answer subtypes, set against their types. Undecided
    rows count as wrong here unless --protocol says otherwise: so did the paper's.
    """
    from workbench.model.paper import PAPER_NUMBERS
    from workbench.services.reporting.paper import PaperFigures, paper_tables, tables_text

    pairs = [key_and_value(text, "--pair") for text in given]
    with project_at(database) as project:
        figures = PaperFigures(
            project, datasets=datasets, verifiers=verifiers, given=pairs, protocol=protocol, gold=gold
        )
        found = paper_tables(figures, numbers or PAPER_NUMBERS)
    if as_json:
        print_json(found)
    else:
        click.echo(tables_text(found, format_), nl=False)
