"""What the commands on scores of code share: a database or a file, where true scores come from, lists of k."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from workbench.cli.common import REFUSED_SOME, say_some
from workbench.model.item import Refusal

F = TypeVar("F", bound=Callable[..., Any])

database_or_file = click.argument("database", metavar="[DB]", required=False, type=click.Path(dir_okay=False))
from_option = click.option(
    "--from",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Read a file instead of a database.",
)
truth_option = click.option(
    "--truth", metavar="NAME", help="The verifier whose tests give true scores.  [default: any that executes them]"
)
suite_option = click.option(
    "--suite",
    "suites",
    multiple=True,
    metavar="NAME",
    help="Count these suites together (repeatable).  [default: base and plus, as far as they were run]",
)

k_option = click.option(
    "--k",
    type=click.IntRange(1, 1_000),
    default=5,
    show_default=True,
    help="Solutions of a problem, the ground truth included.",
)
rules_option = click.option(
    "--rules",
    type=click.Choice(["released", "paper"]),
    default="released",
    show_default=True,
    help="As the authors' code selects, or as the paper states it, read literally.",
)


def sizes_option(*, most: int, default: str, help: str) -> Callable[[F], F]:
    """``--k 1,2,4``: whole numbers from 1 to ``most``, put in order."""

    def read(_context: click.Context, _parameter: click.Parameter, text: str) -> tuple[int, ...]:
        words = text.split(",")
        if not all(word.strip().isdecimal() and len(word) < 10 and 1 <= int(word) <= most for word in words):
            raise click.BadParameter(f"Write whole numbers from 1 to {most:,} with commas between them.")
        return tuple(sorted(set(map(int, words))))

    return click.option("--k", "sizes", callback=read, default=default, show_default=True, metavar="K[,K…]", help=help)


def require_one(database: str | None, source: Path | None, **given: object) -> None:
    """Refuse a command line that names no source of scores, two, or what a file has no use for.

    Args:
        given: Options that go with a database alone, by name.

    Raises:
        click.UsageError: It does.
    """
    if (database is None) == (source is None):
        raise click.UsageError("Name a database, or a file with --from.")
    useless = [f"--{name}" for name, value in given.items() if value]
    if source is not None and useless:
        raise click.UsageError(f"{', '.join(useless)}: goes with a database, not with --from.")


def end_if_refused(source: Path, refused: Sequence[Refusal]) -> None:
    """Name the lines of a file that were not taken, if there are any, and end with their exit code."""
    if refused:
        sys.stdout.flush()
        say_some([f"{source}:{one.line}:{one.field or 'line'}: {one.message}" for one in refused])
        sys.exit(REFUSED_SOME)
