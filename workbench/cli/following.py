"""Watching a run from the command line; the run doesn't depend on it."""

from __future__ import annotations

import sys

import click

from workbench.cli.common import say
from workbench.cli.usage_text import tokens
from workbench.model.run import RunInfo
from workbench.render.bars import dollars
from workbench.services.project import Project

_CLEAR = "\r\x1b[K"


def follow(project: Project, info: RunInfo, database: str) -> RunInfo:
    """Show a run's progress until it ends; Ctrl-C leaves it going and ends the command."""
    from workbench.services.running.verifying import wait

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
    used = f", {tokens(info.usage.prompt_tokens, info.usage.completion_tokens)}" if info.usage else ""
    money = f", {dollars(info.usage.cost)}" if info.usage and info.usage.cost else ""
    progress = f"run {info.run} {info.state}: {info.done:,} of {info.items:,}{pace}{used}{money}"
    click.echo(f"{_CLEAR}{progress}", nl=False, err=True)
