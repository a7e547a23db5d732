"""Watching a run from the command line; the run doesn't depend on it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable

import click

from workbench.app.cli.common import say
from workbench.app.cli.progress import one_line
from workbench.app.cli.usage_text import tokens
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.text.figures import dollars


def follow(project: Project, info: RunInfo, database: str) -> RunInfo:
    """Show a run's progress until it ends; Ctrl-C leaves it going and ends the command."""
    from workbench.runs.verifying import wait

    try:
        with one_line() as line:
            return wait(project, info.run, shown(line))
    except KeyboardInterrupt:
        click.echo(err=True)
        say(f"Run {info.run} goes on in the background.")
        runs = f"workbench runs {shlex.quote(database)}"
        say(f"  Watch it: {runs}   Cancel it: {runs} cancel {info.run}")
        sys.exit(130)


def shown(line: Callable[[str], None] | None = None) -> Callable[[RunInfo], None]:
    """Shows how far a run is, on a line of its own; without one only what it waits for is said, once."""
    told: str | None = None

    def show(now: RunInfo) -> None:
        nonlocal told
        if line is not None:
            line(_words(now))
        elif now.waiting != told and now.waiting is not None:
            say(f"  Run {now.run} is {now.waiting}. It goes on by itself then; nothing is lost.")
        told = now.waiting

    return show


def _words(info: RunInfo) -> str:
    pace = f", {info.rate:.0f}/s, {info.eta:.0f} s to go" if info.rate and info.eta is not None else ""
    used = f", {tokens(info.usage.prompt_tokens, info.usage.completion_tokens)}" if info.usage else ""
    money = f", {dollars(info.usage.cost)}" if info.usage and info.usage.cost else ""
    state = info.waiting or info.state
    return f"run {info.run} {state}: {info.done:,} of {info.items:,}{pace}{used}{money}"
