"""``workbench disagreements DB``."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Final

import click

from workbench.app.cli.common import say, selection_of, show
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, Where, Whole, option
from workbench.core.project import Project
from workbench.core.text.inert import inert
from workbench.measuring.records.review import Disagreement, Queue

if TYPE_CHECKING:
    from workbench.measuring.reviewing.queues import ReviewQueue


_WIDTH: Final = 100
_INDENT: Final = " " * 10


class DisagreementsOptions(Options, frozen=True, kw_only=True):
    name: Annotated[Queue, option(None, "--queue")] = "verifier-gold"
    verifiers: Annotated[
        tuple[str, ...],
        option(
            "Whose verdicts, by their newest complete runs (repeat it); by default all, but for always-incorrect.",
            "--verifier",
            metavar="NAME",
        ),
    ] = ()
    k: Annotated[Whole | None, option("Of a split: K against the others (default: half, 2 of 5).", metavar="K")] = None
    where: Where = ()
    limit: Annotated[Whole, option("At most so many items.")] = 50
    gold: Gold = "final"
    unreviewed: Annotated[bool, option("Leave out what has been reviewed, unless its gold changed since.")] = False


@verb
def command(project: Project, options: DisagreementsOptions) -> Output:
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
    from workbench.measuring.reviewing.queues import queue

    found = queue(
        project,
        options.name,
        verifiers=options.verifiers,
        k=options.k,
        gold=options.gold,
        selection=selection_of(options.where),
        hide_reviewed=options.unreviewed,
    )
    rows = found.rows(found.ids[: options.limit])
    return Output(rows, lambda rows: _show_queue(found, rows, final=options.gold == "final"))


def _show_queue(found: ReviewQueue, rows: Sequence[Disagreement], *, final: bool) -> None:
    _wrapped(found.text)
    show(f"{len(found):,} items" + (f", the first {len(rows)} of them:" if len(rows) < len(found) else ""))
    for row in rows:
        _show(row, final=final)
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
