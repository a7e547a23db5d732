"""Shared by the commands on scores of code: a database or a file, the source of true scores, lists of k."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import click

from workbench.core.errors import UsageError
from workbench.core.options import option

Source = Annotated[Path | None, option("Read a file instead of a database.", "--from", metavar="FILE", exists=True)]
Truth = Annotated[
    str | None,
    option(
        "The verifier whose tests give true scores, or recorded: scores and ranks imported with the solutions.  "
        "[default: any that executes them, or recorded]",
        metavar="NAME",
    ),
]
Suites = Annotated[
    tuple[str, ...],
    option(
        "Count these suites together (repeatable).  [default: base and plus, those that were run]",
        "--suite",
        metavar="NAME",
    ),
]
SolutionsEach = Annotated[int, option("Solutions of a problem, the ground truth included.", ge=1, le=1_000)]
SelectionRules = Annotated[
    Literal["released", "formula"],
    option(
        "As the authors' code selects, the ground truth at rank 1; or by the formula of the paper's section 2.2, read "
        "literally, which keeps no ground truth: on 40 real problems it had rank 1 in 10."
    ),
]


def sizes_up_to(most: int) -> Callable[[str], tuple[int, ...]]:
    """Return a parser of ``1,2,4``: whole numbers from 1 to ``most``, sorted."""

    def read(text: str) -> tuple[int, ...]:
        words = text.split(",")
        if not all(word.strip().isdecimal() and len(word) < 10 and 1 <= int(word) <= most for word in words):
            raise UsageError(f"Write whole numbers from 1 to {most:,} with commas between them.")
        return tuple(sorted(set(map(int, words))))

    return read


def require_one(database: str | None, source: Path | None, **given: object) -> None:
    """Reject a command line that names no source of scores, two, or options that a file can't use.

    Args:
        given: Options that go with a database only, by name.

    Raises:
        click.UsageError: It does.
    """
    if (database is None) == (source is None):
        raise click.UsageError("Name a database, or a file with --from.")
    useless = [f"--{name}" for name, value in given.items() if value]
    if source is not None and useless:
        raise click.UsageError(f"{', '.join(useless)}: needs a database, not --from.")
