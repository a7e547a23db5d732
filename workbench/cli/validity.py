"""``workbench validity DB``."""

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
    verifiers_option,
    where_option,
)


@click.command()
@database_argument
@verifiers_option
@gold_option
@where_option
@json_option
def command(database: str, verifiers: tuple[str, ...], gold: Any, where: tuple[str, ...], as_json: bool) -> None:
    """Check what verdicts follow besides correctness: length, authorship, form, chance.

    Differences are taken between completions of equal gold and answer type, with intervals clustered by question: gold
    itself goes with length and form, so that without this one would measure the data. Flip rates need several samples
    or runs; judges that chose the data are named (workbench selected-by).
    """
    from workbench.services.measuring.validity import validity
    from workbench.services.measuring.validity_words import validity_text

    with project_at(database) as project:
        report = validity(project, verifiers, gold=gold, selection=selection_of(where))
    if as_json:
        print_json(report)
    else:
        click.echo(validity_text(report), nl=False)
