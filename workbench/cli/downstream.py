"""``workbench downstream DB FILE``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from workbench.cli.common import (
    REFUSED_SOME,
    database_argument,
    gold_option,
    json_option,
    print_json,
    project_at,
    protocol_option,
    say_some,
    selection_of,
    where_option,
)


@click.command()
@database_argument
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--by", metavar="FIELD[,FIELD]", help="Accuracy by group, too, as in: workbench accuracy.")
@protocol_option
@gold_option
@where_option
@json_option
def command(
    database: str, file: Path, by: str | None, protocol: Any, gold: Any, where: tuple[str, ...], as_json: bool
) -> None:
    """Show how verifiers' accuracy goes with what models trained with them score.

    FILE holds JSON lines, or CSV with these columns: "verifier", "benchmark", "score", optionally "step", "seed" and
    "n" (items of the benchmark). Verifiers are compared at the training steps they all have; seeds are averaged. Exit
    code 3: some lines were refused.
    """
    from workbench.services.measuring.downstream import downstream
    from workbench.services.measuring.downstream_text import downstream_text

    with project_at(database) as project:
        report = downstream(project, file, by=by, protocol=protocol, gold=gold, selection=selection_of(where))
    if as_json:
        print_json(report)
    else:
        click.echo(downstream_text(report), nl=False)
    say_some([f"{file}:{line.line}:{line.field or 'line'}: {line.message}" for line in report.refusals])
    if report.refused:
        sys.stdout.flush()
        sys.exit(REFUSED_SOME)
