"""``workbench best-of DB``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, Protocol, Verifiers, Where, option
from workbench.core.project import Project


def _sizes(text: str) -> tuple[int, ...]:
    """The numbers of ``--n 1,2,4``."""
    from workbench.measuring.selecting import read_sizes

    return read_sizes(text)


class BestOfOptions(Options, frozen=True, kw_only=True):
    verifiers: Verifiers = ()
    sizes: Annotated[
        tuple[int, ...],
        option("Completions to pick from; 1, 2, 4, 8 … by default.", "--n", metavar="N[,N…]", read=_sizes),
    ] = ()
    protocol: Protocol = "forced"
    gold: Gold = "final"
    where: Where = ()


@verb
def command(project: Project, options: BestOfOptions) -> Output:
    """Let verifiers pick one of n completions: how often is it correct?

    By score where a verifier gives scores, else by verdict, beside a random pick and the best one possible (pass@n).
    Only questions with at least n completions count, each alike; --protocol says what becomes of undecided verdicts.
    """
    from workbench.measuring.selecting import best_of
    from workbench.measuring.selecting_text import best_of_text

    report = best_of(
        project,
        options.verifiers,
        sizes=options.sizes,
        protocol=options.protocol,
        gold=options.gold,
        selection=selection_of(options.where),
    )
    return Output(report, best_of_text)
