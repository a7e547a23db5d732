"""``workbench reopen DB --where … --reason TEXT``."""

from __future__ import annotations

from typing import Annotated, Literal

from workbench.app.cli.common import required_selection
from workbench.app.cli.verb import Output, verb
from workbench.core.options import By, Limit, Options, Where, option
from workbench.core.project import Project


class ReopenOptions(Options, frozen=True, kw_only=True):
    where: Where = ()
    limit: Limit = None
    reason: Annotated[str, option("Why people must look again; it stays in the history.", metavar="TEXT")]
    by: By = "coordinator"
    task: Annotated[
        Literal["correctness", "type", "both"],
        option("The verdicts on the items, the types of their questions, or both."),
    ] = "correctness"


@verb
def command(project: Project, options: ReopenOptions) -> Output:
    """Have items labelled anew: a new round begins, and the labels before it count no longer.

    Nothing is lost: the labels stay in the history. The slots open again for as many people as before.

    workbench reopen DB --where completion_id=c17 --reason "the reference was corrected"
    """
    from workbench.labelling import coordinating

    done = coordinating.reopen(
        project,
        required_selection(options.where, options.limit),
        reason=options.reason,
        by=options.by,
        task=options.task,
    )
    return Output(
        done,
        lambda found: [f"{found.reopened} reopened, {found.skipped} skipped (nobody has labelled them in this round)"],
    )
