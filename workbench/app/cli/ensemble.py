"""``workbench ensemble DB``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, Protocol, Where, Whole, option
from workbench.core.project import Project


class EnsembleOptions(Options, frozen=True, kw_only=True):
    verifiers: Annotated[
        tuple[str, ...], option("A member (repeatable); all that have run if none.", "--verifier", metavar="NAME")
    ] = ()
    k: Annotated[Whole | None, option("Only this number of acceptances instead of every one.", metavar="K")] = None
    weighted: Annotated[bool, option("Weigh votes by what they have been worth, too (logistic regression).")] = False
    folds: Annotated[int, option("Parts of the questions.", ge=2, le=1_000)] = 5
    by: Annotated[str | None, option("Break down, as in: workbench accuracy.", metavar="FIELD[,FIELD]")] = None
    protocol: Protocol = "forced"
    gold: Gold = "final"
    where: Where = ()


@verb
def command(project: Project, options: EnsembleOptions) -> Output:
    """Let verifiers vote: accept where k of n do, or where weighted votes say so.

    Each ensemble is compared with the best single verifier. What is best is chosen, and weights are fitted, on four
    fifths of the questions and judged on the rest, in turn (--folds), for the single verifier too. Abstaining and
    failing are no votes: a rule abstains where the votes that are missing could still turn it.
    """
    from workbench.measuring.combining import ensemble
    from workbench.measuring.combining_text import ensemble_text

    report = ensemble(
        project,
        options.verifiers,
        k=options.k,
        weighted=options.weighted,
        folds=options.folds,
        by=options.by,
        protocol=options.protocol,
        gold=options.gold,
        selection=selection_of(options.where),
    )
    return Output(report, ensemble_text)
