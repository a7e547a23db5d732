"""``workbench verify DB VERIFIER``."""

from __future__ import annotations

import sys
import time

import click

from workbench.cli.common import (
    database_argument,
    json_option,
    print_json,
    project_at,
    say,
    selection_of,
    where_option,
    whole_number,
)
from workbench.model.run import ACTIVE, RunInfo
from workbench.render.inert import inert
from workbench.services.project import Project

_CLEAR = "\r\x1b[K"


@click.command()
@database_argument
@click.argument("verifier", default="rules")
@click.option("-o", "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the verifier.")
@click.option("--name", help="The name of this configuration; the verifier's own by default.")
@where_option
@click.option("--limit", type=whole_number, help="Only the first so many of these items.")
@click.option("--workers", type=click.IntRange(1, 256), help="Worker processes; one a core by default.")
@click.option("--detach", is_flag=True, help="Start it and return; `workbench runs DB` shows it.")
@json_option
def command(
    database: str,
    verifier: str,
    options: tuple[str, ...],
    name: str | None,
    where: tuple[str, ...],
    limit: int | None,
    workers: int | None,
    detach: bool,
    as_json: bool,
) -> None:
    """Run a verifier (`rules` unless you name another) over the items; running it again resumes.

    Stored verdicts are never repeated. The work is done by a background process: Ctrl-C leaves it going, and so
    does closing the terminal.
    """
    from workbench.services.verifying import start, verdict_counts

    began = time.monotonic()
    selection = selection_of(where, limit)
    with project_at(database) as project:
        info = start(project, verifier, dict(map(_option, options)), name, selection, workers)
        if not info.selected:
            say("No items match.")
        ended = info if detach else _follow(project, info, database)
        verdicts = verdict_counts(project, info.run, selection)
        report = {
            "run": info.run,
            "verifier": info.verifier,
            "items": info.selected,
            "verdicts": verdicts,
            "seconds": round(time.monotonic() - began, 3),
            "reused": info.reused,
            "state": ended.state,
        }
    if as_json:
        print_json(report)
    else:
        counts = ", ".join(f"{number} {word}" for word, number in verdicts.items())
        click.echo(inert(f"Run {ended.run} of {ended.verifier} is {ended.state}: {info.selected} items ({selection})"))
        click.echo(f"  {counts}; {info.reused} were stored before")
    if ended.state != "complete" and not (detach and ended.state in ACTIVE):
        say(inert(ended.message or f"Run {ended.run} is {ended.state}."))
        say(f"  Go on with it: workbench runs {database} resume {ended.run}")
        sys.exit(1)


def _option(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"{text!r} is not KEY=VALUE.", param_hint="-o")
    return key, value


def _follow(project: Project, info: RunInfo, database: str) -> RunInfo:
    from workbench.services.verifying import wait

    terminal = sys.stderr.isatty()
    try:
        return wait(project, info.run, _draw if terminal else None)
    except KeyboardInterrupt:
        click.echo(err=True)
        say(f"Run {info.run} goes on in the background.")
        say(f"  Watch it: workbench runs {database}   Cancel it: workbench runs {database} cancel {info.run}")
        sys.exit(130)
    finally:
        if terminal:
            click.echo(_CLEAR, nl=False, err=True)


def _draw(info: RunInfo) -> None:
    pace = f", {info.rate:.0f}/s, {info.eta:.0f} s to go" if info.rate and info.eta is not None else ""
    click.echo(f"{_CLEAR}run {info.run} {info.state}: {info.done:,} of {info.items:,}{pace}", nl=False, err=True)
