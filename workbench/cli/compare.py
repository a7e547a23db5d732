"""``workbench compare DB A B``."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli.common import (
    database_argument,
    gold_option,
    json_option,
    print_json,
    project_at,
    protocol_option,
    selection_of,
    where_option,
)


@click.command()
@database_argument
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@protocol_option
@gold_option
@where_option
@click.option(
    "--examples",
    type=click.IntRange(0, 1_000),
    default=0,
    metavar="N",
    help="Name up to N items that only A, and that only B, judges rightly.",
)
@json_option
def command(
    database: str, a: str, b: str, protocol: Any, gold: Any, where: tuple[str, ...], examples: int, as_json: bool
) -> None:
    """Compare two verifiers on the items both have a verdict for.

    McNemar's exact test takes items as independent; the difference's interval and the permutation test go by
    question, since completions of one question are right and wrong together.
    """
    from workbench.services.measuring.comparing import compare
    from workbench.services.measuring.comparing_text import compare_text

    with project_at(database) as project:
        report = compare(project, a, b, protocol=protocol, gold=gold, selection=selection_of(where), examples=examples)
    if as_json:
        print_json(report)
    else:
        click.echo(compare_text(report), nl=False)
