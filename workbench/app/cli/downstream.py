"""``workbench downstream DB FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, Protocol, Where, argument, option
from workbench.core.project import Project


class DownstreamOptions(Options, frozen=True, kw_only=True):
    file: Annotated[Path, argument(exists=True)]
    by: Annotated[str | None, option("Accuracy by group, too, as in: workbench accuracy.", metavar="FIELD[,FIELD]")] = (
        None
    )
    protocol: Protocol = "forced"
    gold: Gold = "final"
    where: Where = ()


@verb
def command(project: Project, options: DownstreamOptions) -> Output:
    """Show how verifiers' accuracy goes with what models trained with them score.

    FILE holds JSON lines, or CSV with these columns: "verifier", "benchmark", "score", optionally "step", "seed" and
    "n" (items of the benchmark). Verifiers are compared at the training steps they all have; seeds are averaged. Exit
    code 3: some lines were refused.
    """
    from workbench.measuring.downstream import downstream
    from workbench.measuring.downstream_text import downstream_text

    report = downstream(
        project,
        options.file,
        by=options.by,
        protocol=options.protocol,
        gold=options.gold,
        selection=selection_of(options.where),
    )
    return Output(report, downstream_text).refusing(options.file, report.refusals)
