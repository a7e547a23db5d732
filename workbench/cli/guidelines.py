"""``workbench guidelines DB``, ``versions``, ``set FILE`` and ``note TEXT``."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.common import by_option, database_argument, json_option, print_json, project_at, show
from workbench.errors import UsageError


@click.command()
@database_argument
@click.argument("verb", type=click.Choice(["show", "versions", "set", "note"]), default="show")
@click.argument("what", required=False, metavar="[VERSION|FILE|TEXT]")
@by_option
@json_option
def command(database: str, verb: str, what: str | None, by: str, as_json: bool) -> None:
    """Show what annotators are asked to do, or put a new version in force.

    Whoever is at work is told of a new version at once. Every label names the newest version its maker has read; no
    version is ever changed. `versions` says who has read which in the app.

    workbench guidelines DB

    workbench guidelines DB set guidelines.md --by dora

    workbench guidelines DB note "a sum left undone is incorrect"
    """
    from workbench.services.labelling import guidelines

    if (verb in ("set", "note")) != (what is not None) and not (verb == "show" and what):
        raise UsageError("Write: workbench guidelines DB [show [VERSION] | versions | set FILE | note TEXT]")
    with project_at(database) as project:
        if verb == "versions":
            listed = guidelines.versions(project)
            if as_json:
                print_json(listed)
                return
            for version in listed:
                read = f"read by {', '.join(version.read_by)}" if version.read_by else ""
                show("\t".join((version.version, version.author or "built in", version.created_at, read)).rstrip())
            return
        if verb == "set":
            found = guidelines.add_version(project, guidelines.read_text(Path(str(what))), by=by)
        elif verb == "note":
            found = guidelines.add_case(project, str(what), by=by)
        else:
            found = guidelines.versions(project)[-1] if what is None else guidelines.of_version(project, what)
    if as_json:
        print_json(found)
    elif verb == "show":
        show(f"Version {found.version}")
        show()
        for line in found.text.splitlines():
            show(line)
    else:
        show(f"Version {found.version} is in force.")
