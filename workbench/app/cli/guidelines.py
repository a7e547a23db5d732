"""``workbench guidelines DB``, ``versions``, ``set FILE`` and ``note TEXT``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import By, Options, argument
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.labelling.labelling_guidelines import Version


class GuidelinesOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["show", "versions", "set", "note"], argument()] = "show"
    what: Annotated[str | None, argument("[VERSION|FILE|TEXT]")] = None
    by: By = "coordinator"


@verb
def command(project: Project, options: GuidelinesOptions) -> Output:
    """Show what annotators are asked to do, or put a new version in force.

    Whoever is at work is told of a new version at once. Every label names the newest version its maker has read; no
    version is ever changed. `versions` says who has read which in the app.

    workbench guidelines DB

    workbench guidelines DB set guidelines.md --by dora

    workbench guidelines DB note "a sum left undone is incorrect"
    """
    from workbench.labelling import labelling_guidelines

    if (options.verb in ("set", "note")) != (options.what is not None) and not (
        options.verb == "show" and options.what
    ):
        raise UsageError("Write: workbench guidelines DB [show [VERSION] | versions | set FILE | note TEXT]")
    if options.verb == "versions":
        return Output(labelling_guidelines.versions(project), lambda found: map(_line, found))
    if options.verb == "set":
        found = labelling_guidelines.add_version(
            project, labelling_guidelines.read_text(Path(str(options.what))), by=options.by
        )
    elif options.verb == "note":
        found = labelling_guidelines.add_case(project, str(options.what), by=options.by)
    else:
        found = (
            labelling_guidelines.versions(project)[-1]
            if options.what is None
            else labelling_guidelines.of_version(project, options.what)
        )
        return Output(found, lambda found: [f"Version {found.version}", "", *found.text.splitlines()])
    return Output(found, lambda found: [f"Version {found.version} is in force."])


def _line(version: Version) -> str:
    read = f"read by {', '.join(version.read_by)}" if version.read_by else ""
    return "\t".join((version.version, version.author or "built in", version.created_at, read)).rstrip()
