"""``workbench pairs DB VERIFIER``."""

from __future__ import annotations

from typing import Annotated, Literal

from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, Where, argument, option
from workbench.core.project import Project


class PairsOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument("VERIFIER")]
    by: Annotated[
        Literal["type", "subtype", "domain", "source", "dataset"] | None,
        option("Break down by this; the row over all pairs is always there."),
    ] = None
    gold: Gold = "final"
    where: Where = ()


@verb
def command(project: Project, options: PairsOptions) -> Output:
    """Show how often a verifier scores a question's correct completion above its incorrect one.

    It needs questions with exactly one correct and one incorrect completion; a tie is wrong.
    """
    from workbench.measuring.pairing import pairs, pairs_text

    report = pairs(project, options.verifier, by=options.by, gold=options.gold, selection=selection_of(options.where))
    return Output(report, pairs_text)
