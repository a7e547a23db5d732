"""``workbench reopen DB --where … --reason TEXT``."""

from __future__ import annotations

from typing import Literal

import click

from workbench.cli.common import (
    by_option,
    database_argument,
    json_option,
    limit_option,
    print_json,
    project_at,
    required_selection,
    show,
    where_option,
)


@click.command()
@database_argument
@where_option
@limit_option
@click.option("--reason", required=True, metavar="TEXT", help="Why people must look again; it stays in the history.")
@by_option
@click.option(
    "--task",
    type=click.Choice(["correctness", "type", "both"]),
    default="correctness",
    show_default=True,
    help="The verdicts on the items, the types of their questions, or both.",
)
@json_option
def command(
    database: str,
    where: tuple[str, ...],
    limit: int | None,
    reason: str,
    by: str,
    task: Literal["correctness", "type", "both"],
    as_json: bool,
) -> None:
    """Have items labelled anew: a new round begins, and the labels before it count no longer.

    Nothing is lost: the labels stay in the history. The slots open again for as many people as before.

    workbench reopen DB --where completion_id=c17 --reason "the reference was corrected"
    """
    from workbench.services.labelling import coordinating

    with project_at(database) as project:
        done = coordinating.reopen(
            project,
            required_selection(where, limit),
            reason=reason,
            by=by,
            task=task,
        )
    if as_json:
        print_json(done)
        return
    show(f"{done.reopened} reopened, {done.skipped} skipped (nobody has labelled them in this round)")
