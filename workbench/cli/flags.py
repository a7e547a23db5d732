"""``workbench flags DB [list]`` and ``answer COMPLETION_ID TEXT``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli.common import (
    by_option,
    database_argument,
    json_option,
    print_json,
    project_at,
    say,
    selection_of,
    show,
    where_option,
)
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.services.labelling.flags import Flag


@click.command()
@database_argument
@click.argument("verb", type=click.Choice(["list", "answer"]), default="list")
@click.argument("what", nargs=-1, metavar="[COMPLETION_ID TEXT]")
@click.option("--all", "every", is_flag=True, help="List answered flags too.")
@where_option
@click.option("--dataset", metavar="NAME", help="Tells two items with one id apart.")
@by_option
@json_option
def command(
    database: str,
    verb: str,
    what: tuple[str, ...],
    every: bool,
    where: tuple[str, ...],
    dataset: str | None,
    by: str,
    as_json: bool,
) -> None:
    """Show what annotators have flagged for the coordinator, and answer them.

    workbench flags DB

    workbench flags DB answer c17 "Round to three digits: see the guidelines." --by dora

    The answer comes back to whoever flagged the item, and to nobody else who labels. Browse and every --where know
    flagged=open, answered or none.
    """
    from workbench.services.labelling import flags

    if (verb == "answer") != (len(what) == 2) or (verb == "list" and what):
        raise UsageError("Write: workbench flags DB [list | answer COMPLETION_ID TEXT]")
    if verb == "answer" and (every or where):
        raise UsageError("--all and --where go with list.")
    if verb == "list" and dataset is not None:
        raise UsageError("--dataset goes with answer.", f"Write: --where dataset={dataset}")
    with project_at(database) as project:
        if verb == "answer":
            item = flags.flagged_item(project, what[0], dataset)
            done = flags.answer(project, item, what[1], by=by)
            if as_json:
                print_json(done)
            else:
                show(f"{done.completion_id}: answered to {', '.join(done.to)}.")
            return
        found = flags.flags(project, "all" if every else "open", selection=selection_of(where))
    if as_json:
        print_json(found)
        return
    for flag in found:
        show("\t".join(_cells(flag)))
    if not found:
        say("No flag waits for an answer." if not every else "Nothing is flagged.")


def _cells(flag: Flag) -> list[str]:
    answered = f"{flag.answered_by}: {flag.answer}{'' if flag.heard else ' (not read yet)'}" if flag.answer else "open"
    return [flag.completion_id, flag.annotator, flag.flagged_at[:19].replace("T", " "), flag.asked or "–", answered]
