"""``workbench report DB -o FILE``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from workbench.cli.common import (
    database_argument,
    force_option,
    gold_option,
    json_option,
    print_json,
    project_at,
    protocol_option,
    say,
    selection_of,
    verifiers_option,
    where_option,
)
from workbench.cli.writing import OutputPath, shown, to_stdout


@click.command()
@database_argument
@click.option(
    "-o",
    "--output",
    "file",
    required=True,
    metavar="FILE",
    type=OutputPath(),
    help="Where to write it; - is standard output.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["html", "markdown"]),
    help="By default what the file's name says: .md is Markdown, all else HTML.",
)
@verifiers_option
@protocol_option
@gold_option
@where_option
@click.option(
    "--examples",
    type=click.IntRange(0, 50),
    default=3,
    show_default=True,
    metavar="N",
    help="Examples of each kind of error of each verifier, at most.",
)
@force_option
@json_option
@to_stdout("file")
def command(
    database: str,
    file: Path,
    format_: Any,
    verifiers: tuple[str, ...],
    protocol: Any,
    gold: Any,
    where: tuple[str, ...],
    examples: int,
    force: bool,
    as_json: bool,
) -> None:
    """Write one self-contained page: data card, tables, plots, confusion matrices, comparisons, examples, methods.

    The page needs no network and no script, and runs nothing of what the data holds. It shows questions, final
    answers and the ends of completions as examples; --examples 0 leaves them out. Apart from its date the same
    database gives the same bytes.
    """
    from workbench.services.reporting.writing import write_report

    with project_at(database) as project:
        size = write_report(
            project,
            file,
            format=format_ or ("markdown" if file.suffix == ".md" else "html"),
            verifiers=verifiers,
            selection=selection_of(where),
            protocol=protocol,
            gold=gold,
            examples=examples,
            generated_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            force=force,
        )
    if as_json:
        print_json({"written": click.format_filename(file), "bytes": size})
    else:
        say(f"{shown(file)}: {size:,} bytes")
