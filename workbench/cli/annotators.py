"""``workbench annotators DB add NAME…``, ``list``, ``pause NAME`` and ``resume NAME``."""

from __future__ import annotations

import click

from workbench.cli.common import database_argument, json_option, print_json, project_at, show
from workbench.errors import UsageError


@click.command()
@database_argument
@click.argument("verb", type=click.Choice(["add", "list", "pause", "resume"]), default="list")
@click.argument("names", nargs=-1)
@click.option("--why", default="", metavar="TEXT", help="Why somebody is paused; only the coordinator sees it.")
@json_option
def command(database: str, verb: str, names: tuple[str, ...], why: str, as_json: bool) -> None:
    """Add, list, pause and resume the people who label.

    workbench annotators DB add amira ben

    workbench annotators DB list

    workbench annotators DB pause ben --why "wants to talk about sets"

    workbench annotators DB resume ben

    Whoever is paused gets no items and is told that the coordinator would like to speak with them; nothing of theirs
    is deleted. People are also paused by themselves when they are too often wrong on checks.
    """
    from workbench.services.labelling import people

    if (verb == "list") == bool(names):
        raise UsageError(f"Write: workbench annotators DB {verb}{'' if verb == 'list' else ' NAME…'}")
    if why and verb != "pause":
        raise UsageError("--why goes with pause.")
    with project_at(database) as project:
        if verb == "add":
            people.add_annotators(project, names)
        for name in names if verb in ("pause", "resume") else ():
            people.require_annotator(project, name)
        for name in names:
            if verb == "pause":
                people.pause(project, name, why)
            elif verb == "resume":
                people.resume(project, name)
        listed = people.annotators(project)
    if as_json:
        print_json(listed)
        return
    for person in listed:
        paused = f"\tpaused{f': {person.why}' if person.why else ''}" if person.paused else ""
        show(f"{person.name}\t{person.role}{paused}")
