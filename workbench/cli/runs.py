"""``workbench runs DB [list|show|pause|cancel|resume]``."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from workbench.cli.common import database_argument, json_option, print_json, project_at, whole_number
from workbench.model.run import RunInfo
from workbench.render.inert import inert
from workbench.services.project import Project


@click.command()
@database_argument
@click.argument("verb", type=click.Choice(["list", "show", "pause", "cancel", "resume"]), default="list")
@click.argument("run", type=whole_number, required=False)
@json_option
def command(database: str, verb: str, run: int | None, as_json: bool) -> None:
    """List runs, or show, pause, cancel or resume one by its number."""
    if (run is None) != (verb == "list"):
        raise click.UsageError("list takes no run number." if verb == "list" else f"{verb} needs a run number.")
    with project_at(database) as project:
        if run is None:
            _list(project, as_json)
        else:
            _one(project, verb, run, as_json)


def _list(project: Project, as_json: bool) -> None:
    from workbench.services.verifying import runs

    found = runs(project)
    if as_json:
        print_json(found)
        return
    for info in found:
        click.echo(_line(info))
    if not found:
        click.echo("There are no runs yet. Start one: workbench verify DB VERIFIER")


def _one(project: Project, verb: str, run: int, as_json: bool) -> None:
    from workbench.services import verifying

    if verb == "resume":
        verifying.resume(project, run)
    elif verb in ("pause", "cancel"):
        (verifying.pause if verb == "pause" else verifying.cancel)(project, run)
        verifying.obeyed(project, run)
    info = verifying.run_info(project, run)
    if as_json:
        print_json(_document(info))
        return
    click.echo(_line(info))
    if verb == "show":
        for title, counts in (("verdicts", info.verdicts), ("reasons", info.reasons)):
            click.echo(inert(f"  {title}: " + (", ".join(f"{n} {word}" for word, n in (counts or {}).items()) or "–")))


def _document(info: RunInfo) -> dict[str, Any]:
    """The run and its attempts: an item is attempted in a local process, so none is ever sent or ambiguous."""
    attempts = {"unsent": 0, "sent": 0, "failed": 0, "done": info.done}
    return {**msgspec.to_builtins(info), "attempts": attempts, "ambiguous": []}


def _line(info: RunInfo) -> str:
    words = [f"run {info.run}", info.verifier, info.version, info.state, f"{info.done:,} of {info.items:,}"]
    if info.request:
        words.append(f"asked to {info.request}")
    if info.state in ("queued", "running") and not info.alive:
        words.append("its runner has died: resume it")
    elif info.pid is not None:
        words.append(f"pid {info.pid}")
    if info.message:
        words.append(info.message)
    return inert("  ".join(words))
