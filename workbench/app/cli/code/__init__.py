"""``workbench code``: the quality of tests and solutions, and tests that grow harder.

results: outcomes, a line each. ranking: sets, metrics, saturation, pass@k. evolution: rounds, duplicates, refined
problems.
writing: tests and solutions that models write. common: what they share.
"""

from __future__ import annotations

import click

from workbench.app.cli import LazyGroup
from workbench.app.verbs import WITHIN


@click.group(name="code", cls=LazyGroup, package=__name__, commands=WITHIN["code"])
def code_command() -> None:
    """Work with code problems: test outcomes, selections, rankings and evolving tests.

    Problems and solutions come in with: workbench import DB problems.jsonl solutions.jsonl; they are run with:
    workbench verify DB execution.
    """
