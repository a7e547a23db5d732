"""``workbench sweep DB JUDGE --vary OPTION=VALUE,VALUE``."""

from __future__ import annotations

import sys
from typing import Any

import click

from workbench.cli.common import (
    database_argument,
    gold_option,
    json_option,
    key_and_value,
    option_option,
    options_of,
    print_json,
    project_at,
    protocol_option,
    say,
    selection_of,
    trust_option,
    trusting,
    where_option,
    whole_number,
)
from workbench.cli.following import follow
from workbench.cli.usage_text import estimate_words


@click.command()
@database_argument
@click.argument("judge", metavar="JUDGE")
@click.option(
    "--vary", multiple=True, metavar="OPTION=VALUE,VALUE", required=True, help="Settings to try; repeat for others."
)
@click.option("--grid", is_flag=True, help="Try all combinations; else each option by itself.")
@option_option
@protocol_option
@gold_option
@where_option
@click.option("--limit", type=whole_number, help="Only the first so many of these items.")
@click.option("--detach", is_flag=True, help="Start it and return; the same command later shows what it has come to.")
@trust_option
@json_option
def command(
    database: str,
    judge: str,
    vary: tuple[str, ...],
    grid: bool,
    options: tuple[str, ...],
    protocol: Any,
    gold: Any,
    where: tuple[str, ...],
    limit: int | None,
    detach: bool,
    trust: bool,
    as_json: bool,
) -> None:
    """Run a judge under many settings and show how accuracy and tokens go with them.

    Each point is a run with a name of its own (JUDGE/depth-3), and all share their replies. Run it again to go on.
    """
    from workbench.services.running.study_text import sweep_text
    from workbench.services.running.sweeping import start_sweep, sweep_estimate, sweep_points, sweep_report

    points = sweep_points(_varied(vary), grid)
    chosen, selection = options_of(options), selection_of(where, limit)
    with project_at(database) as project:
        expected = sweep_estimate(project, judge, points, chosen, selection)
        if expected is not None and expected.calls:
            say(estimate_words(expected))
            say("  That is each point by itself; what points have in common is asked once.")
        started = trusting(lambda yes: start_sweep(project, judge, points, chosen, selection, yes), trust)
        if not detach:
            for info in started:
                follow(project, info, database)
        runs = [info.run for info in started]
        report = sweep_report(project, judge, points, runs, protocol=protocol, gold=gold, selection=selection)
    if as_json:
        print_json(report)
    else:
        click.echo(sweep_text(report), nl=False)
    if not detach and any(point.state != "complete" for point in report.points):
        say("Some points are not complete; the same command goes on with them.")
        sys.exit(1)


def _varied(texts: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in texts:
        name, values = key_and_value(text, "--vary")
        found.setdefault(name, []).extend(values.split(","))
    return found
