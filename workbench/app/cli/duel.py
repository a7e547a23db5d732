"""``workbench duel DB A B``."""

from __future__ import annotations

import shlex
from typing import Annotated

from workbench.app.cli.common import options_of, selection_of, trusting
from workbench.app.cli.following import follow
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Database, FirstItems, Options, Trust, VerifierSettings, Where, argument, option
from workbench.core.project import Project


class DuelOptions(Options, frozen=True, kw_only=True):
    database: Database
    a: Annotated[str, argument("A")]
    b: Annotated[str, argument("B")]
    settings: VerifierSettings = ()
    name: Annotated[str | None, option("The name of this duel; duel/A/B by default.")] = None
    where: Where = ()
    limit: FirstItems = None
    trust: Trust = False


@verb
def command(project: Project, options: DuelOptions) -> Output:
    """Have a model compare, blind, what two judges reasoned about the items both have judged.

    It is asked in both orders (-o base_url=… -o model=…); a win counts only in both. Run it again to go on.
    """
    from workbench.measuring.duelling import duel_report, start_duel
    from workbench.measuring.study_text import duel_text

    chosen, selection = options_of(options.settings), selection_of(options.where, options.limit)
    info = trusting(
        lambda yes: start_duel(project, options.a, options.b, chosen, options.name, selection, yes), options.trust
    )
    ended = follow(project, info, options.database)
    report = duel_report(project, info.run)
    if ended.state == "complete":
        return Output(report, duel_text)
    after = [
        ended.message or f"Run {ended.run} is {ended.state}.",
        f"  Go on with it: workbench runs {shlex.quote(options.database)} resume {ended.run}",
    ]
    return Output(report, duel_text, after=after, code=1)
