"""``workbench build DB balanced``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click

from workbench.cli.building.common import final_gold_option, seed_option, set_options, told
from workbench.cli.common import project_at, selection_of, where_option, whole_number
from workbench.model.sets import Fill, Preset

_PRESETS = get_args(Preset)


@click.command()
@where_option
@click.option("--per-type", type=whole_number, help="Questions of each type.  [default: 250]")
@click.option(
    "--quota",
    metavar=f"[{'|'.join(_PRESETS)}|FILE]",
    help="Divide each type among its subtypes: as in the paper, evenly, as they are there, or by a TOML file.",
)
@click.option("--cap-source", type=whole_number, metavar="N", help="At most N questions of one source.")
@click.option("--cap-model", type=whole_number, metavar="N", help="At most N completions of one model.")
@click.option(
    "--fill",
    type=click.Choice(get_args(Fill)),
    default="none",
    show_default=True,
    help="Who gives more where a subtype is short: nobody, other subtypes of its type, other types too.",
)
@final_gold_option
@seed_option
@set_options("balanced")
@click.pass_obj
def command(
    database: str,
    /,
    where: tuple[str, ...],
    quota: Any,
    seed: int,
    name: str,
    dry_run: bool,
    new_version: bool,
    as_json: bool,
    **wanted: Any,
) -> None:
    """Build a balanced set: so many questions of each type, each with one correct and one incorrect completion.

    Exact, or a shortfall for each type and subtype with why; nothing is taken from elsewhere unless --fill says so.

    workbench build DB balanced --where set=picks --quota verifybench

    A file of quotas says how many questions of each subtype, or of a type as a whole:

    \b
    [questions]
    A1 = 32
    "B4 - Set" = 25
    """
    from workbench.services.building.balanced import BalancedTargets, build_balanced

    file = None if quota is None or quota in _PRESETS else Path(quota)
    if file is not None and not file.is_file():
        raise click.BadParameter(f"It is neither a file nor one of: {', '.join(_PRESETS)}.", param_hint="--quota")
    with project_at(database) as project:
        report = build_balanced(
            project,
            BalancedTargets(quota=None if file else quota, file=file, **wanted),
            name=name,
            selection=selection_of(where),
            seed=seed,
            dry_run=dry_run,
            new_version=new_version,
        )
    told(report, dry_run=dry_run, as_json=as_json)
