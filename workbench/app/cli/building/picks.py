"""``workbench build DB picks --judge NAME``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.building.common import DrawSeed, DryRun, NewVersion, SetTitle, built
from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, Where, Whole, option
from workbench.core.project import Project


class BuildingPicksOptions(Options, frozen=True, kw_only=True):
    judge: Annotated[str, option("The verifier whose verdicts decide.", metavar="NAME")]
    run: Annotated[Whole | None, option("Its run; by default the newest complete one.")] = None
    each: Annotated[Whole, option("How many of either verdict.")] = 2
    where: Where = ()
    seed: DrawSeed = 0
    name: SetTitle = "picks"
    dry_run: DryRun = False
    new_version: NewVersion = False


@verb(within=True)
def command(project: Project, options: BuildingPicksOptions) -> Output:
    """Of each question pick completions for people to label: two that a judge calls correct, two incorrect.

    An abstention or an error counts as neither. Questions that lack either are counted, not passed over in silence.

    workbench build DB picks --judge llama-judge --where set=draw
    """
    from workbench.benchmarks.building.picks import build_picks

    report = build_picks(
        project,
        options.judge,
        name=options.name,
        run=options.run,
        each=options.each,
        selection=selection_of(options.where),
        seed=options.seed,
        dry_run=options.dry_run,
        new_version=options.new_version,
    )
    return built(report, dry_run=options.dry_run)
