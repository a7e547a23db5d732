"""``workbench sweep DB JUDGE --vary OPTION=VALUE,VALUE``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.common import key_and_value, options_of, say, selection_of, trusting
from workbench.app.cli.following import follow
from workbench.app.cli.usage_text import estimate_words
from workbench.app.cli.verb import Output, verb
from workbench.core.options import (
    Database,
    FirstItems,
    Gold,
    Options,
    Protocol,
    Trust,
    VerifierSettings,
    Where,
    argument,
    option,
)
from workbench.core.project import Project


class SweepOptions(Options, frozen=True, kw_only=True):
    database: Database
    judge: Annotated[str, argument("JUDGE")]
    vary: Annotated[tuple[str, ...], option("Settings to try; repeat for others.", metavar="OPTION=VALUE,VALUE")]
    grid: Annotated[bool, option("Try all combinations; else each option by itself.")] = False
    settings: VerifierSettings = ()
    protocol: Protocol = "forced"
    gold: Gold = "final"
    where: Where = ()
    limit: FirstItems = None
    detach: Annotated[bool, option("Start it and return; the same command later shows what it has come to.")] = False
    trust: Trust = False


@verb
def command(project: Project, options: SweepOptions) -> Output:
    """Run a judge under many settings and show how accuracy and tokens go with them.

    Each point is a run with a name of its own (JUDGE/depth-3), and all share their replies. Run it again to go on.
    """
    from workbench.measuring.studies import start_sweep, sweep_estimate, sweep_points, sweep_report
    from workbench.measuring.study_text import sweep_text

    points = sweep_points(_varied(options.vary), options.grid)
    chosen, selection = options_of(options.settings), selection_of(options.where, options.limit)
    expected = sweep_estimate(project, options.judge, points, chosen, selection)
    if expected is not None and expected.calls:
        say(estimate_words(expected))
        say("  That is each point by itself; what points have in common is asked once.")
    started = trusting(lambda yes: start_sweep(project, options.judge, points, chosen, selection, yes), options.trust)
    if not options.detach:
        for info in started:
            follow(project, info, options.database)
    runs = [info.run for info in started]
    report = sweep_report(
        project, options.judge, points, runs, protocol=options.protocol, gold=options.gold, selection=selection
    )
    if options.detach or all(point.state == "complete" for point in report.points):
        return Output(report, sweep_text)
    return Output(
        report, sweep_text, after=["Some points are not complete; the same command goes on with them."], code=1
    )


def _varied(texts: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in texts:
        name, values = key_and_value(text, "--vary")
        found.setdefault(name, []).extend(values.split(","))
    return found
