"""What the commands of ``workbench build`` share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, get_args

import click

from workbench.cli.common import json_option, print_json, say, show
from workbench.model.sets import FinalGold, SetReport
from workbench.render.set_text import report_lines

F = TypeVar("F", bound=Callable[..., Any])


def set_options(name: str) -> Callable[[F], F]:
    """``--name``, ``--dry-run``, ``--new-version`` and ``--json``, for sets of that name by default."""

    def decorated(function: F) -> F:
        options = (
            click.option("--name", default=name, show_default=True, help="What the set is called."),
            click.option("--dry-run", is_flag=True, help="Show what it would be, and write nothing."),
            click.option("--new-version", is_flag=True, help="Freeze it beside an earlier one that differs."),
            json_option,
        )
        for option in reversed(options):
            function = option(function)
        return function

    return decorated


final_gold_option = click.option(
    "--gold",
    type=click.Choice(get_args(FinalGold)),
    default="people",
    show_default=True,
    help="Whose labels count: what people agreed on or a third person gave; or the file's.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Of the draws."
)


def told(report: SetReport, *, dry_run: bool, as_json: bool, more: Iterable[str] = ()) -> None:
    """Print what came of building a set.

    Args:
        more: Lines that only this kind of set has.
    """
    if as_json:
        print_json(report)
    else:
        for line in (*report_lines(report), *more):
            show(line)
    if dry_run:
        say("Nothing was written (--dry-run).")
    elif report.next:
        say(f"Next: {report.next}")
