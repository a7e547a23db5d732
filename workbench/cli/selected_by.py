"""``workbench selected-by DB list``, ``add`` and ``remove``."""

from __future__ import annotations

import click

from workbench.cli.common import database_argument, json_option, print_json, project_at, show


@click.command()
@database_argument
@click.argument("verb", type=click.Choice(["list", "add", "remove"]), default="list")
@click.argument("names", nargs=-1)
@click.option("--dataset", metavar="NAME", help="The data set they chose; needed to add and remove.")
@json_option
def command(database: str, verb: str, names: tuple[str, ...], dataset: str | None, as_json: bool) -> None:
    """Name the judges whose verdicts chose what belongs to a data set, by verifier or model.

    Where items were kept because judges differed, those judges' accuracy says little of them elsewhere: every table
    marks them.
    """
    from workbench.services.measuring import selected_by

    if (verb == "list") != (not names and dataset is None):
        raise click.UsageError("Write: workbench selected-by DB add NAME… --dataset NAME")
    with project_at(database) as project:
        if verb == "list":
            found = selected_by.judges(project)
            print_json(found) if as_json else show(_text(found))
            return
        if not names or dataset is None:
            raise click.UsageError(f"Write: workbench selected-by DB {verb} NAME… --dataset NAME")
        if verb == "add":
            changed = selected_by.note(project, dataset, names)
        else:
            changed = selected_by.forget(project, dataset, names)
    print_json({"changed": changed}) if as_json else show(f"{changed} {'added' if verb == 'add' else 'removed'}")


def _text(found: dict[str, list[str]]) -> str:
    return "\n".join(f"{dataset}: {', '.join(names)}" for dataset, names in found.items()) or "none"
