"""``workbench threshold DB VERIFIER``."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli.common import (
    database_argument,
    gold_option,
    json_option,
    print_json,
    project_at,
    protocol_option,
    say,
    selection_of,
    trust_option,
    trusting,
    where_option,
)


@click.command()
@database_argument
@click.argument("verifier", metavar="VERIFIER")
@click.option(
    "--on",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Fit on these items and report on the others as well (repeatable, as --where); default: fit on all.",
)
@click.option(
    "--method",
    type=click.Choice(["accuracy", "youden"]),
    default="accuracy",
    show_default=True,
    help="What to maximise: the share of right verdicts, or the true-positive minus the false-positive rate.",
)
@click.option("--save", metavar="NAME", help="Start a run of this name with the threshold; stored replies are reused.")
@protocol_option
@gold_option
@where_option
@trust_option
@json_option
def command(
    database: str,
    verifier: str,
    on: tuple[str, ...],
    method: Any,
    save: str | None,
    protocol: Any,
    gold: Any,
    where: tuple[str, ...],
    trust: bool,
    as_json: bool,
) -> None:
    """Fit the threshold that makes verdicts of a verifier's scores: correct if the score reaches it.

    Figures on the items it was fitted on flatter it: fit on one part with --on and read the row of the rest.
    """
    from msgspec import structs

    from workbench.services.measuring.thresholds import fit, threshold_text
    from workbench.services.measuring.thresholds import save as start

    with project_at(database) as project:
        report = fit(
            project,
            verifier,
            on=selection_of(on).conditions,
            method=method,
            protocol=protocol,
            gold=gold,
            selection=selection_of(where),
        )
        if save is not None:
            run = trusting(lambda yes: start(project, report, save, trust=yes), trust)
            report = structs.replace(report, saved_as=run.verifier)
            say(f"Run {run.run} of {run.verifier} has the threshold {report.threshold!r}.")
    if as_json:
        print_json(report)
    else:
        click.echo(threshold_text(report), nl=False)
