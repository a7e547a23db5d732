"""``workbench annotators DB add NAME…``, ``list``, ``pause NAME`` and ``resume NAME``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import Options, argument, option
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.labelling.people import AnnotatorInfo


class AnnotatorsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["add", "list", "pause", "resume"], argument()] = "list"
    names: Annotated[tuple[str, ...], argument()] = ()
    why: Annotated[str, option("Why somebody is paused; only the coordinator sees it.", metavar="TEXT")] = ""


@verb
def command(project: Project, options: AnnotatorsOptions) -> Output:
    """Add, list, pause and resume the people who label.

    workbench annotators DB add amira ben

    workbench annotators DB list

    workbench annotators DB pause ben --why "wants to talk about sets"

    workbench annotators DB resume ben

    Whoever is paused gets no items and is told that the coordinator would like to speak with them; nothing of theirs
    is deleted. People are also paused by themselves when they are too often wrong on checks.
    """
    from workbench.labelling import people

    if (options.verb == "list") == bool(options.names):
        raise UsageError(f"Write: workbench annotators DB {options.verb}{'' if options.verb == 'list' else ' NAME…'}")
    if options.why and options.verb != "pause":
        raise UsageError("--why goes with pause.")
    if options.verb == "add":
        people.add_annotators(project, options.names)
    for name in options.names if options.verb in ("pause", "resume") else ():
        people.require_annotator(project, name)
    for name in options.names:
        if options.verb == "pause":
            people.pause(project, name, options.why)
        elif options.verb == "resume":
            people.resume(project, name)
    return Output(people.annotators(project), lambda found: map(_line, found))


def _line(person: AnnotatorInfo) -> str:
    paused = f"\tpaused{f': {person.why}' if person.why else ''}" if person.paused else ""
    return f"{person.name}\t{person.role}{paused}"
