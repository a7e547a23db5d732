"""``workbench estimate DB VERIFIER``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, Protocol, Where, argument, option
from workbench.core.project import Project


class EstimateOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument()]
    predictors: Annotated[
        tuple[str, ...],
        option(
            "A verifier whose verdicts predict gold (repeatable); all others that have run if none.",
            "--predictor",
            metavar="NAME",
        ),
    ] = ()
    by: Annotated[
        str | None, option("By group and stratified by it, as in: workbench accuracy.", metavar="FIELD[,FIELD]")
    ] = None
    protocol: Protocol = "forced"
    gold: Gold = "final"
    where: Where = ()


@verb
def command(project: Project, options: EstimateOptions) -> Output:
    """Estimate a verifier's accuracy on all items it has judged when few of them have gold.

    What other verifiers say of all items is corrected by how far they are off on the labelled ones
    (prediction-powered inference). The estimate stands beside that from labels alone, with the number of labels it
    saves. Labelled items are taken for a random sample; --by gives each group's labels the weight of its items.
    """
    from workbench.measuring.estimating import estimate
    from workbench.measuring.estimating_text import estimate_text

    report = estimate(
        project,
        options.verifier,
        options.predictors,
        by=options.by,
        protocol=options.protocol,
        gold=options.gold,
        selection=selection_of(options.where),
    )
    return Output(report, estimate_text)
