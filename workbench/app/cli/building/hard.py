"""``workbench build DB hard``."""

from __future__ import annotations

from typing import Annotated

import click

from workbench.app.cli.building.common import DryRun, FinalGoldChoice, NewVersion, SetTitle, built
from workbench.app.cli.common import key_and_value, selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, SeedNumber, Where, Whole, option
from workbench.core.project import Project


class BuildingHardOptions(Options, frozen=True, kw_only=True):
    judges: Annotated[
        tuple[str, ...], option("A verifier that votes (an odd number of them).", "--judge", metavar="NAME")
    ] = ()
    runs: Annotated[
        tuple[str, ...], option("A judge's run; else its newest complete one.", "--run", metavar="NAME=N")
    ] = ()
    minority: Annotated[Whole | None, option("Judges on the weaker side.  [default: 2]")] = None
    annotate: Annotated[Whole | None, option("Items for people to label.  [default: 2000]")] = None
    final: Annotated[Whole, option("Tuples of the set.")] = 1000
    where: Where = ()
    gold: FinalGoldChoice = "people"
    partial: Annotated[bool, option("Freeze the set though some items still wait for labels.")] = False
    seed: Annotated[SeedNumber | None, option("Of the draws.  [default: 0]")] = None
    name: SetTitle = "hard"
    dry_run: DryRun = False
    new_version: NewVersion = False


@verb(within=True)
def command(project: Project, options: BuildingHardOptions) -> Output:
    """Build a hard set: items that judges are split on, labelled by people. Goes as far as the labels allow.

    The first call freezes the queue NAME-queue: items with as many judges on the weaker side as --minority says, by
    verdicts of all of them (an abstention is no vote), divided among domains and sources. Have people label it:

    workbench assign DB --where set=hard-queue …

    The same call once that is done freezes the set, without what people called unsuitable. The judges are marked in
    every table from the queue on.
    """
    from workbench.benchmarks.building.hard import HardSetOptions, build_hard

    report = build_hard(
        project,
        HardSetOptions(
            judges=options.judges,
            runs=_runs(options.runs),
            minority=options.minority,
            annotate=options.annotate,
            final=options.final,
            selection=selection_of(options.where) if options.where else None,
            seed=options.seed,
            gold=options.gold,
            partial=options.partial,
        ),
        name=options.name,
        dry_run=options.dry_run,
        new_version=options.new_version,
    )
    return built(report, dry_run=options.dry_run)


def _runs(texts: tuple[str, ...]) -> dict[str, int]:
    found = {}
    for text in texts:
        name, number = key_and_value(text, "--run")
        if not number.isdecimal() or len(number) > 18:
            raise click.BadParameter(f"{number!r} is no run's number.", param_hint="--run")
        found[name] = int(number)
    return found
