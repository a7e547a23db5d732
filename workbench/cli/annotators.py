"""``workbench annotators DB add NAME…`` and ``list``."""

from __future__ import annotations

import click

from workbench.cli.common import database_argument, json_option, print_json, project_at, show
from workbench.errors import UsageError


@click.command()
@database_argument
@click.argument("verb", type=click.Choice(["add", "list"]), default="list")
@click.argument("names", nargs=-1)
@json_option
def command(database: str, verb: str, names: tuple[str, ...], as_json: bool) -> None:
    """Add or list the people who label.

    workbench annotators DB add amira ben

    workbench annotators DB list
    """
    from workbench.services.labelling import people

    if (verb == "add") != bool(names):
        raise UsageError("Write: workbench annotators DB add NAME…, or: workbench annotators DB list")
    with project_at(database) as project:
        listed = people.add_annotators(project, names) if verb == "add" else people.annotators(project)
    if as_json:
        print_json(listed)
        return
    for person in listed:
        show(f"{person.name}\t{person.role}")
