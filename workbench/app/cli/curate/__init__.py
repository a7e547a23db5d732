"""``workbench curate DB``: from a pool of questions to so many a type; one file a command."""

from __future__ import annotations

import click

from workbench.app.cli import LazyGroup
from workbench.app.cli.common import database_argument

COMMANDS: dict[str, tuple[str, str]] = {
    "status": ("status", "Count the pool by source: licences, what is out, types, what was drawn."),
    "licence": ("licence", "Give a source a licence, where its files don't know it or are wrong."),
    "exclude": ("exclude", "Take questions out, each for a reason; list them, find candidates."),
    "duplicates": ("duplicates", "Find questions that say what another one says, and take them out."),
    "types": ("types", "Have a model propose answer types, compare them, say types yourself."),
    "draw": ("draw", "Draw so many questions of each type, and freeze them as a set."),
}
"""Command name -> (module in this package, one line of help)."""


@click.group(name="curate", cls=LazyGroup, package=__name__, commands=COMMANDS)
@database_argument
@click.pass_context
def command(context: click.Context, database: str) -> None:
    """Curate a pool of questions: duplicates, exclusions, answer types, and a draw of so many a type.

    Questions come in with: workbench import DB questions.jsonl (docs/curation.md).

    workbench curate DB exclude --candidates

    workbench curate DB duplicates

    workbench curate DB types --model NAME -o base_url=http://…/v1

    workbench curate DB draw --per-type 2000
    """
    context.obj = database
