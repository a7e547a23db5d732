"""``workbench build DB balanced``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast, get_args

import click

from workbench.app.cli.building.common import DrawSeed, DryRun, FinalGoldChoice, NewVersion, SetTitle, built
from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, Where, Whole, option
from workbench.core.project import Project
from workbench.core.sets import Fill, Preset

_PRESETS = get_args(Preset)


class BuildingBalancedOptions(Options, frozen=True, kw_only=True):
    where: Where = ()
    per_type: Annotated[Whole | None, option("Questions of each type.  [default: 250]")] = None
    quota: Annotated[
        str | None,
        option(
            "Divide each type among its subtypes: as in the paper, evenly, as they are there, or by a TOML file.",
            metavar=f"[{'|'.join(_PRESETS)}|FILE]",
        ),
    ] = None
    cap_source: Annotated[Whole | None, option("At most N questions of one source.", metavar="N")] = None
    cap_model: Annotated[Whole | None, option("At most N completions of one model.", metavar="N")] = None
    fill: Annotated[
        Fill, option("Who gives more where a subtype is short: nobody, other subtypes of its type, other types too.")
    ] = "none"
    gold: FinalGoldChoice = "people"
    seed: DrawSeed = 0
    name: SetTitle = "balanced"
    dry_run: DryRun = False
    new_version: NewVersion = False


@verb(within=True)
def command(project: Project, options: BuildingBalancedOptions) -> Output:
    """Build a balanced set: so many questions of each type, each with one correct and one incorrect completion.

    Exact, or a shortfall for each type and subtype with why; nothing is taken from elsewhere unless --fill says so.

    workbench build DB balanced --where set=picks --quota verifybench

    A file of quotas says how many questions of each subtype, or of a type as a whole:

    \b
    [questions]
    A1 = 32
    "B4 - Set" = 25
    """
    from workbench.benchmarks.building.balanced import BalancedTargets, build_balanced

    file = None if options.quota is None or options.quota in _PRESETS else Path(options.quota)
    if file is not None and not file.is_file():
        raise click.BadParameter(f"It is neither a file nor one of: {', '.join(_PRESETS)}.", param_hint="--quota")
    report = build_balanced(
        project,
        BalancedTargets(
            per_type=options.per_type,
            quota=None if file else cast("Preset", options.quota),
            file=file,
            cap_source=options.cap_source,
            cap_model=options.cap_model,
            fill=options.fill,
            gold=options.gold,
        ),
        name=options.name,
        selection=selection_of(options.where),
        seed=options.seed,
        dry_run=options.dry_run,
        new_version=options.new_version,
    )
    return built(report, dry_run=options.dry_run)
