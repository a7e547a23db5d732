"""``workbench disagreements DB``."""

from __future__ import annotations

from textwrap import fill
from typing import Any, Final

import click

from workbench.cli.common import (
    database_argument,
    gold_option,
    json_option,
    print_json,
    project_at,
    say,
    selection_of,
    show,
    where_option,
    whole_number,
)
from workbench.model.review import QUEUES, Disagreement
from workbench.render.inert import inert

_WIDTH: Final = 100
_INDENT: Final = " " * 10


@click.command()
@database_argument
@click.option("--queue", "name", type=click.Choice(list(QUEUES)), default="verifier-gold", show_default=True)
@click.option(
    "--verifier",
    "verifiers",
    multiple=True,
    metavar="NAME",
    help="Whose verdicts, by their newest complete runs (repeat it); by default all, but for always-incorrect.",
)
@click.option("--k", type=whole_number, metavar="K", help="Of a split: K against the others (default: half, 2 of 5).")
@where_option
@click.option("--limit", type=whole_number, default=50, show_default=True, help="At most so many items.")
@gold_option
@click.option("--unreviewed", is_flag=True, help="Leave out what has been reviewed, unless its gold changed since.")
@json_option
def command(
    database: str,
    name: Any,
    verifiers: tuple[str, ...],
    k: int | None,
    where: tuple[str, ...],
    limit: int,
    gold: Any,
    unreviewed: bool,
    as_json: bool,
) -> None:
    """List items on which verifiers, gold or people disagree, the most suspicious first, each with why.

    \b
    verifier-gold  a verdict differs from gold
    verifiers      verdicts differ from each other
    split          K verifiers against all the others
    exact-label    the final answers are equal, but gold says incorrect
    suspect-gold   the verifiers together make the label improbable
    flips          a verifier contradicts itself
    annotators     people disagree

    Decide with: workbench review DB confirm | send-back | error ID…
    """
    from workbench.services.reviewing.queues import queue

    with project_at(database) as project:
        found = queue(
            project,
            name,
            verifiers=verifiers,
            k=k,
            gold=gold,
            selection=selection_of(where),
            hide_reviewed=unreviewed,
        )
        rows = found.rows(found.ids[:limit])
    if as_json:
        print_json(rows)
        return
    _wrapped(found.text)
    show(f"{len(found):,} items" + (f", the first {len(rows)} of them:" if len(rows) < len(found) else ""))
    for row in rows:
        _show(row, final=gold == "final")
    if len(rows) < len(found):
        say(f"{len(found) - len(rows):,} more: --limit N")


def _show(row: Disagreement, *, final: bool) -> None:
    show()
    show(f"{row.score:8.3f}  {row.completion_id}  {row.subtype or row.type or 'untyped'}  {row.dataset}")
    _wrapped(row.why, _INDENT)
    for review in row.reviews:
        about = f" of {review.verifier}: {review.category}" if review.kind == "error" else ""
        since = f"; gold said {review.gold} then" if final and review.gold != row.gold else ""
        _wrapped(
            f"{review.kind}{about}, by {review.reviewer}{since}{f': {review.note}' if review.note else ''}", _INDENT
        )


def _wrapped(text: str, indent: str = "") -> None:
    """Sentences as lines that a terminal need not break."""
    lines = fill(inert(text), _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    click.echo(lines)
