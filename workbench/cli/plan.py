"""``workbench plan DB --within 0.05``."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli.common import (
    database_argument,
    gold_option,
    json_option,
    print_json,
    project_at,
    selection_of,
    where_option,
)


@click.command()
@database_argument
@click.option(
    "--within", type=float, default=0.05, show_default=True, metavar="X", help="Half the width wanted of an interval."
)
@click.option("--by", type=click.Choice(["subtype", "type"]), default="subtype", show_default=True, help="The groups.")
@click.option("--verifier", metavar="NAME", help="Whose accuracy is to be known; else that of all that have run.")
@click.option("--per-item", default=2, show_default=True, help="How many people label each item.")
@gold_option
@where_option
@json_option
def command(
    database: str,
    within: float,
    by: Any,
    verifier: str | None,
    per_item: int,
    gold: Any,
    where: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show how many more labels it takes to know accuracy to ± --within in each group.

    The intervals are those of `workbench accuracy`: Wilson's, with the design effect of completions that share a
    question. The accuracy expected is the centre of the present interval; where there is no gold yet it is 0.5.
    """
    from workbench.services.labelling.plan_text import plan_text
    from workbench.services.labelling.planning import plan

    with project_at(database) as project:
        found = plan(
            project,
            within=within,
            by=by,
            verifier=verifier,
            per_item=per_item,
            gold=gold,
            selection=selection_of(where),
        )
    if as_json:
        print_json(found)
    else:
        click.echo(plan_text(found), nl=False)
