"""``workbench selected-by DB list``, ``add`` and ``remove``."""

from __future__ import annotations

from typing import Annotated, Literal

import click

from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, argument, option
from workbench.core.project import Project


class SelectedByOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["list", "add", "remove"], argument()] = "list"
    names: Annotated[tuple[str, ...], argument()] = ()
    dataset: Annotated[str | None, option("The data set they chose; needed to add and remove.", metavar="NAME")] = None


@verb
def command(project: Project, options: SelectedByOptions) -> Output:
    """Name the judges whose verdicts chose what belongs to a data set, by verifier or model.

    Where items were kept because judges differed, those judges' accuracy says little of them elsewhere: every table
    marks them.
    """
    from workbench.measuring import selected_by

    if (options.verb == "list") != (not options.names and options.dataset is None):
        raise click.UsageError("Write: workbench selected-by DB add NAME… --dataset NAME")
    if options.verb == "list":
        return Output(selected_by.judges(project), _lines)
    if not options.names or options.dataset is None:
        raise click.UsageError(f"Write: workbench selected-by DB {options.verb} NAME… --dataset NAME")
    if options.verb == "add":
        changed = selected_by.note(project, options.dataset, options.names)
    else:
        changed = selected_by.forget(project, options.dataset, options.names)
    return Output({"changed": changed}, lambda _: [f"{changed} {'added' if options.verb == 'add' else 'removed'}"])


def _lines(found: dict[str, list[str]]) -> list[str]:
    return [f"{dataset}: {', '.join(names)}" for dataset, names in found.items()] or ["none"]
