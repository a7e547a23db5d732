"""``workbench threshold DB VERIFIER``."""

from __future__ import annotations

from typing import Annotated, Literal

from workbench.app.cli.common import say, selection_of, trusting
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, Protocol, Trust, Where, argument, option
from workbench.core.project import Project


class ThresholdOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument("VERIFIER")]
    on: Annotated[
        tuple[str, ...],
        option(
            "Fit on these items and report on the others as well (repeatable, as --where); default: fit on all.",
            metavar="FIELD=VALUE",
        ),
    ] = ()
    method: Annotated[
        Literal["accuracy", "youden"],
        option("What to maximise: the share of right verdicts, or the true-positive minus the false-positive rate."),
    ] = "accuracy"
    save: Annotated[
        str | None, option("Start a run of this name with the threshold; stored replies are reused.", metavar="NAME")
    ] = None
    protocol: Protocol = "forced"
    gold: Gold = "final"
    where: Where = ()
    trust: Trust = False


@verb
def command(project: Project, options: ThresholdOptions) -> Output:
    """Fit the threshold that makes verdicts of a verifier's scores: correct if the score reaches it.

    Figures on the items it was fitted on flatter it: fit on one part with --on and read the row of the rest.
    """
    from msgspec import structs

    from workbench.measuring.thresholds import fit, threshold_text
    from workbench.measuring.thresholds import save as start

    report = fit(
        project,
        options.verifier,
        on=selection_of(options.on).conditions,
        method=options.method,
        protocol=options.protocol,
        gold=options.gold,
        selection=selection_of(options.where),
    )
    if (name := options.save) is not None:
        run = trusting(lambda yes: start(project, report, name, trust=yes), options.trust)
        report = structs.replace(report, saved_as=run.verifier)
        say(f"Run {run.run} of {run.verifier} has the threshold {report.threshold!r}.")
    return Output(report, threshold_text)
