"""``workbench build DB hard``."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli.building.common import final_gold_option, set_options, told
from workbench.cli.common import key_and_value, project_at, selection_of, where_option, whole_number


@click.command()
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="A verifier that votes (an odd number of them).")
@click.option("--run", "runs", multiple=True, metavar="NAME=N", help="A judge's run; else its newest complete one.")
@click.option("--minority", type=whole_number, help="Judges on the weaker side.  [default: 2]")
@click.option("--annotate", type=whole_number, help="Items for people to label.  [default: 2000]")
@click.option("--final", type=whole_number, default=1000, show_default=True, help="Tuples of the set.")
@where_option
@final_gold_option
@click.option("--partial", is_flag=True, help="Freeze the set though some items still wait for labels.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Of the draws.  [default: 0]")
@set_options("hard")
@click.pass_obj
def command(
    database: str,
    /,
    runs: tuple[str, ...],
    where: tuple[str, ...],
    name: str,
    dry_run: bool,
    new_version: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Build a hard set: items that judges are split on, labelled by people. Goes as far as the labels allow.

    The first call freezes the queue NAME-queue: items with as many judges on the weaker side as --minority says, by
    verdicts of all of them (an abstention is no vote), divided among domains and sources. Have people label it:

    workbench assign DB --where set=hard-queue …

    The same call once that is done freezes the set, without what people called unsuitable. The judges are marked in
    every table from the queue on.
    """
    from workbench.services.building.hard import HardSetOptions, build_hard

    with project_at(database) as project:
        report = build_hard(
            project,
            HardSetOptions(runs=_runs(runs), selection=selection_of(where) if where else None, **asked),
            name=name,
            dry_run=dry_run,
            new_version=new_version,
        )
    told(report, dry_run=dry_run, as_json=as_json)


def _runs(texts: tuple[str, ...]) -> dict[str, int]:
    found = {}
    for text in texts:
        name, number = key_and_value(text, "--run")
        if not number.isdecimal() or len(number) > 18:
            raise click.BadParameter(f"{number!r} is no run's number.", param_hint="--run")
        found[name] = int(number)
    return found
