"""``workbench code``: outcomes of tests, selections, rankings, and tests that evolve; one file a command."""

from __future__ import annotations

import click

from workbench.cli import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {}
"""Command name -> (module in this package, one line of help)."""


@click.group(name="code", cls=LazyGroup, package=__name__, commands=COMMANDS)
def command() -> None:
    """Code: outcomes of tests, selections, rankings, and tests that evolve.

    Problems and solutions come in with: workbench import DB problems.jsonl solutions.jsonl; they are run with:
    workbench verify DB execution.
    """
