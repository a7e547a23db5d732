"""What the commands share that have models write: which model, for what, how far it is, what it took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.common import say
from workbench.app.cli.progress import one_line
from workbench.app.cli.usage_text import usage_words
from workbench.core.options import Whole, option
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.runs.generation import Watch

Models = Annotated[
    tuple[str, ...],
    option(
        "A table [models.NAME] of workbench.toml, or the model's name on the server of -o base_url=…",
        "--model",
        metavar="NAME",
    ),
]
ModelSettings = Annotated[
    tuple[str, ...],
    option(
        "base_url, api_key_env, temperature, max_tokens, seed, max_calls, max_cost, rpm … (docs/code-synthetic.md)",
        "-o",
        "--option",
        metavar="KEY=VALUE",
    ),
]
ProblemSet = Annotated[str | None, option("The data set; needed only where several hold problems.", metavar="NAME")]
Problems = Annotated[tuple[str, ...], option("Only this problem (repeatable).", "--problem", metavar="ID")]
MostProblems = Annotated[Whole | None, option("Only the first so many problems.", "--limit")]
Programs = Annotated[int | None, option("Programs executed at a time; one a core by default.", ge=1, le=256)]


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
    from workbench.runs.run_status import run_info

    used = run_info(project, run).usage
    if used is not None:
        say(f"  Run {run}: {'; '.join(usage_words(used))}")
        for warning in used.warnings:
            say(f"  Warning: {warning}")
