"""``workbench plan DB --within 0.05``."""

from __future__ import annotations

from typing import Annotated, Literal

from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, Where, option
from workbench.core.project import Project


class PlanOptions(Options, frozen=True, kw_only=True):
    within: Annotated[float, option("Half the width wanted of an interval.", metavar="X")] = 0.05
    by: Annotated[Literal["subtype", "type"], option("The groups.")] = "subtype"
    verifier: Annotated[
        str | None, option("Whose accuracy is to be known; else that of all that have run.", metavar="NAME")
    ] = None
    per_item: Annotated[int, option("How many people label each item.")] = 2
    gold: Gold = "final"
    where: Where = ()


@verb
def command(project: Project, options: PlanOptions) -> Output:
    """Show how many more labels it takes to know accuracy to ± --within in each group.

    The intervals are those of `workbench accuracy`: Wilson's, with the design effect of completions that share a
    question. The accuracy expected is the centre of the present interval; where there is no gold yet it is 0.5.
    """
    from workbench.measuring.plan_text import plan_text
    from workbench.measuring.planning import plan

    found = plan(
        project,
        within=options.within,
        by=options.by,
        verifier=options.verifier,
        per_item=options.per_item,
        gold=options.gold,
        selection=selection_of(options.where),
    )
    return Output(found, plan_text)
