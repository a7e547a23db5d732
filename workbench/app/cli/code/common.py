"""Shared by the commands on scores of code: a database or a file, the source of true scores, lists of k."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import click

from workbench.core.options import fields_of, option

Source = Annotated[
    Path | None, option("Read the input from this file instead of a database.", "--from", metavar="FILE", exists=True)
]
Truth = Annotated[
    str | None,
    option(
        "Verifier whose test results are the true scores; or the word recorded, for the scores and ranks imported "
        "with the solutions.  [default: a verifier that executes tests, else recorded]",
        metavar="NAME",
    ),
]
Suites = Annotated[
    tuple[str, ...],
    option(
        "Use the results of this test suite; several suites are combined (repeatable).  [default: base and "
        "plus, if they were run]",
        "--suite",
        metavar="NAME",
    ),
]
BootstrapSamples = Annotated[
    int,
    option(
        "Number of bootstrap resamples for the intervals; 0 for no intervals.",
        "--bootstrap",
        metavar="SAMPLES",
        ge=0,
        le=100_000,
    ),
]
SolutionsEach = Annotated[int, option("Number of solutions per problem, including the ground truth.", ge=1, le=1_000)]
SelectionRules = Annotated[
    Literal["released", "formula"],
    option(
        "Rules for selecting solutions: released (as in the authors' code; the ground truth has rank 1) or formula "
        "(section 2.2 of the paper, taken literally; it may drop the ground truth, which had rank 1 in only 10 of 40 "
        "real problems)."
    ),
]


def require_one(options: Any, *of_database: str) -> None:
    """Reject a command line that names no source of scores, two, or options that a file can't use.

    Args:
        options: A record with ``database`` and ``source``.
        of_database: Its fields that go with a database only.

    Raises:
        click.UsageError: It does.
    """
    if (options.database is None) == (options.source is None):
        raise click.UsageError("Name a database, or a file with --from.")
    flags = {field.name: field.flags[-1] for field in fields_of(type(options))}
    useless = [flags[name] for name in of_database if getattr(options, name)]
    if options.source is not None and useless:
        raise click.UsageError(f"{', '.join(useless)}: works only with a database, not with --from.")
