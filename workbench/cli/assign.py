"""``workbench assign DB --annotators a,b,c --per-item 2``."""

from __future__ import annotations

import click

from workbench.cli.common import (
    database_argument,
    json_option,
    print_json,
    project_at,
    selection_of,
    show,
    where_option,
    whole_number,
)


@click.command()
@database_argument
@click.option("--annotators", required=True, metavar="A,B,C", help="Who may claim the slots; unknown people are added.")
@click.option("--per-item", default=2, show_default=True, help="How many people label each item.")
@click.option("--adjudicator", metavar="D", help="Who settles conflicts of these items; without it, any third person.")
@where_option
@click.option("--limit", type=whole_number, help="At most so many items.")
@json_option
def command(
    database: str,
    annotators: str,
    per_item: int,
    adjudicator: str | None,
    where: tuple[str, ...],
    limit: int | None,
    as_json: bool,
) -> None:
    """Open label slots on items; a slot gets its person when somebody claims it.

    Every item is labelled by exactly --per-item different people, in a random order that is the same for all.
    """
    from workbench.services.labelling import people

    names = [name.strip() for name in annotators.split(",") if name.strip()]
    with project_at(database) as project:
        done = people.assign(
            project, names, per_item=per_item, adjudicator=adjudicator, selection=selection_of(where, limit)
        )
    if as_json:
        print_json(done)
        return
    show(f"{done.assigned} slots opened on items, {done.type_slots} on questions.")
