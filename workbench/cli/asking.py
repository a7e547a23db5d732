"""What the commands share that have models write: which model, for what, how far it is, what it took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from workbench.cli.common import say, whole_number
from workbench.cli.progress import one_line
from workbench.cli.usage_text import usage_words
from workbench.services.project import Project

if TYPE_CHECKING:
    from workbench.services.generation import Watch

models_option = click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    metavar="NAME",
    help="A table [models.NAME] of workbench.toml, or the model's name on the server of -o base_url=…",
)
model_settings_option = click.option(
    "-o",
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="base_url, api_key_env, temperature, max_tokens, seed, max_calls, max_cost, rpm … (docs/code-synthetic.md)",
)
dataset_option = click.option(
    "--dataset", metavar="NAME", help="The data set; needed only where several hold problems."
)
tasks_option = click.option("--problem", "tasks", multiple=True, metavar="ID", help="Only this problem (repeatable).")
most_option = click.option("--limit", type=whole_number, help="Only the first so many problems.")
workers_option = click.option(
    "--workers", type=click.IntRange(1, 256), help="Programs executed at a time; one a core by default."
)


@contextmanager
def drawing(noun: str = "replies") -> Iterator[Watch | None]:
    """Progress on a terminal, in one line that is gone afterwards; None where there is none.

    Args:
        noun: What is counted.
    """
    with one_line() as line:
        yield line and (lambda step, done, of: line(f"{step}: {done:,} of {of:,} {noun}"))


def say_calls(project: Project, run: int) -> None:
    """What a generation's calls have taken, over all its starts."""
    from workbench.services.running.run_status import run_info

    used = run_info(project, run).usage
    if used is not None:
        say(f"  Run {run}: {'; '.join(usage_words(used))}")
        for warning in used.warnings:
            say(f"  Warning: {warning}")
