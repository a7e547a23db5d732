"""``workbench build DB picks --judge NAME``."""

from __future__ import annotations

import click

from workbench.cli.building.common import seed_option, set_options, told
from workbench.cli.common import project_at, selection_of, where_option, whole_number


@click.command()
@click.option("--judge", required=True, metavar="NAME", help="The verifier whose verdicts decide.")
@click.option("--run", type=whole_number, help="Its run; by default the newest complete one.")
@click.option("--each", type=whole_number, default=2, show_default=True, help="How many of either verdict.")
@where_option
@seed_option
@set_options("picks")
@click.pass_obj
def command(
    database: str,
    /,
    judge: str,
    run: int | None,
    each: int,
    where: tuple[str, ...],
    seed: int,
    name: str,
    dry_run: bool,
    new_version: bool,
    as_json: bool,
) -> None:
    """Of each question pick completions for people to label: two that a judge calls correct, two incorrect.

    An abstention or an error counts as neither. Questions that lack either are counted, not passed over in silence.

    workbench build DB picks --judge llama-judge --where set=draw
    """
    from workbench.services.building.picks import build_picks

    with project_at(database) as project:
        report = build_picks(
            project,
            judge,
            name=name,
            run=run,
            each=each,
            selection=selection_of(where),
            seed=seed,
            dry_run=dry_run,
            new_version=new_version,
        )
    told(report, dry_run=dry_run, as_json=as_json)
