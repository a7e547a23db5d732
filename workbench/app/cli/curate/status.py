"""``workbench curate DB status``."""

from __future__ import annotations

import click

from workbench.app.cli.common import say, show
from workbench.app.cli.curate.common import ScopeDataset, ScopeSource, counted, scope_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options
from workbench.core.project import Project
from workbench.core.taxonomy import TYPES
from workbench.core.text.columns import aligned
from workbench.measuring.records.curation import PoolStatus, SourceStatus

_HEAD = ("source", "licence", "questions", "out", "left", *TYPES, "other", "untyped", "drawn")


class CurateStatusOptions(Options, frozen=True, kw_only=True):
    dataset: ScopeDataset = None
    source: ScopeSource = None


@verb(within=True)
def command(project: Project, options: CurateStatusOptions) -> Output:
    """Count the pool by source: its licence, what is out, what has a type, what was drawn.

    A question's type is what people say, else what its file says, else what a model proposes.
    """
    from workbench.benchmarks.curating.status import pool_status

    status = pool_status(project, scope_of(options.dataset, options.source))
    return Output(status, _show)


def _show(status: PoolStatus) -> None:
    click.echo(aligned([_HEAD, *map(_row, (*status.sources, status.total))], left=(0, 1)))
    show()
    show(f"Out: {counted(status.total.excluded)}")
    show(f"Types said by: {counted(status.total.origins)}")
    for name, count in status.total.drawn.items():
        show(f"Drawn for {name}: {count:,}")
    if status.stale:
        say(f"{status.stale:,} duplicates of a question that is out itself: see workbench curate DB duplicates --undo")


def _row(one: SourceStatus) -> tuple[str, ...]:
    other = sum(count for letter, count in one.types.items() if letter not in (*TYPES, "none"))
    licence = "" if one.source == "all" else one.licence or "unknown"
    numbers = (
        one.questions,
        one.questions - one.left,
        one.left,
        *(one.types.get(letter, 0) for letter in TYPES),
        other,
        one.types.get("none", 0),
        sum(one.drawn.values()),
    )
    return (one.source, licence, *(f"{number:,}" for number in numbers))
