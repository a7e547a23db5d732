"""``workbench agreement DB`` and ``workbench agreement --from FILE``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.common import REFUSED_SOME, SHOWN, json_option, print_json, project_at, say

if TYPE_CHECKING:
    from workbench.model.agreement import Level
    from workbench.model.item import Refusal
    from workbench.services.labelling.agreement.measuring import Agreement


@click.command()
@click.argument("database", metavar="[DB]", required=False, type=click.Path(dir_okay=False))
@click.option(
    "--from",
    "file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help='JSON lines of "item", "annotator" and "value" instead of a database; - is standard input.',
)
@click.option(
    "--task",
    type=click.Choice(["correctness", "type"]),
    help="Verdicts on completions (the default), or answer types of questions.",
)
@click.option(
    "--by",
    type=click.Choice(["type", "subtype", "domain", "source", "dataset"]),
    help="Break down by this; the figures over all items are always there.",
)
@click.option("--coarse", is_flag=True, help="With --task type: the letter of the type is enough.")
@click.option(
    "--level",
    type=click.Choice(["nominal", "ordinal", "interval", "ratio"]),
    default="nominal",
    show_default=True,
    help="How values relate; verdicts and types are nominal.",
)
@click.option("--order", metavar="A,B,C", help="Values of --level ordinal, lowest first, where they are no numbers.")
@click.option(
    "--bootstrap",
    type=click.IntRange(0, 100_000),
    default=1_000,
    show_default=True,
    metavar="SAMPLES",
    help="Samples behind the intervals of alpha, AC1 and Fleiss' kappa; 0 for none.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Seed of the bootstrap.")
@json_option
def command(
    database: str | None,
    file: Path | None,
    task: Any,
    by: str | None,
    coarse: bool,
    level: Level,
    order: str | None,
    bootstrap: int,
    seed: int,
    as_json: bool,
) -> None:
    """Show how far people agree: percent, kappa, alpha, AC1, with intervals and prevalence.

    Of a database, first-pass blind labels in force count, "unsuitable" as a category; adjudications, repeats and
    checks do not. Of a file, any ratings: values are text or numbers. Exit code 3: some lines were refused.
    """
    from workbench.services.labelling.agreement.text import agreement_text

    if (database is None) == (file is None):
        raise click.UsageError("Name a database, or a file with --from.")
    refused: list[Refusal] = []
    if file is not None:
        found, refused = _of_file(file, level, order, task, by, coarse)
        report = found.with_intervals(bootstrap, seed)
    else:
        from workbench.services.labelling.agreement.measuring import agreement

        if level != "nominal" or order is not None:
            raise click.UsageError("Verdicts and types have no order: --level and --order are for --from FILE.")
        with project_at(str(database)) as project:
            report = agreement(project, task or "correctness", by=by, coarse=coarse).with_intervals(bootstrap, seed)
    if as_json:
        print_json(report)
    else:
        click.echo(agreement_text(report), nl=False)
    _tell(file, refused)


def _of_file(
    file: Path, level: Level, order: str | None, task: str | None, by: str | None, coarse: bool
) -> tuple[Agreement, list[Refusal]]:
    from workbench.services.labelling.agreement.measuring import agreement_of_file

    if task or by or coarse:
        raise click.UsageError("--task, --by and --coarse are for a database; a file has ratings of one kind.")
    words = () if order is None else tuple(word.strip() for word in order.split(","))
    return agreement_of_file(None if str(file) == "-" else file, level, order=words)


def _tell(file: Path | None, refused: list[Refusal]) -> None:
    place = "standard input" if str(file) == "-" else file
    for line in refused[:SHOWN]:
        say(f"{place}:{line.line}:{line.field or 'line'}: {line.message}")
    if len(refused) > SHOWN:
        say(f"… and {len(refused) - SHOWN:,} more.")
    if refused:
        sys.stdout.flush()
        sys.exit(REFUSED_SOME)
