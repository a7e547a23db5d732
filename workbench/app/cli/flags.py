"""``workbench flags DB [list]`` and ``answer COMPLETION_ID TEXT``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.common import say, selection_of, show
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import By, Options, Where, argument, option
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.labelling.flags import Flag


class FlagsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["list", "answer"], argument()] = "list"
    what: Annotated[tuple[str, ...], argument("[COMPLETION_ID TEXT]")] = ()
    every: Annotated[bool, option("List answered flags too.", "--all")] = False
    where: Where = ()
    dataset: Annotated[str | None, option("Tells two items with one id apart.", metavar="NAME")] = None
    by: By = "coordinator"


@verb
def command(project: Project, options: FlagsOptions) -> Output:
    """Show what annotators have flagged for the coordinator, and answer them.

    workbench flags DB

    workbench flags DB answer c17 "Round to three digits: see the guidelines." --by dora

    The answer comes back to whoever flagged the item, and to nobody else who labels. Browse and every --where know
    flagged=open, answered or none.
    """
    from workbench.labelling import flags

    if (options.verb == "answer") != (len(options.what) == 2) or (options.verb == "list" and options.what):
        raise UsageError("Write: workbench flags DB [list | answer COMPLETION_ID TEXT]")
    if options.verb == "answer" and (options.every or options.where):
        raise UsageError("--all and --where go with list.")
    if options.verb == "list" and options.dataset is not None:
        raise UsageError("--dataset goes with answer.", f"Write: --where dataset={options.dataset}")
    if options.verb == "answer":
        item = flags.flagged_item(project, options.what[0], options.dataset)
        done = flags.answer(project, item, options.what[1], by=options.by)
        return Output(done, lambda found: [f"{found.completion_id}: answered to {', '.join(found.to)}."])
    found = flags.flags(project, "all" if options.every else "open", selection=selection_of(options.where))
    return Output(found, lambda found: _show(found, options.every))


def _show(found: Sequence[Flag], every: bool) -> None:
    for flag in found:
        show("\t".join(_cells(flag)))
    if not found:
        say("No flag waits for an answer." if not every else "Nothing is flagged.")


def _cells(flag: Flag) -> list[str]:
    answered = f"{flag.answered_by}: {flag.answer}{'' if flag.heard else ' (not read yet)'}" if flag.answer else "open"
    return [flag.completion_id, flag.annotator, flag.flagged_at[:19].replace("T", " "), flag.asked or "–", answered]
