"""``workbench merge DB OTHER…``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.common import (
    REFUSED_SOME,
    SHOWN,
    database_argument,
    json_option,
    print_json,
    project_at,
    say,
    say_some,
    show,
)

if TYPE_CHECKING:
    from workbench.services.labelling.merging import Merged, Place


@click.command()
@database_argument
@click.argument("others", metavar="OTHER…", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@json_option
def command(database: str, others: tuple[Path, ...], as_json: bool) -> None:
    """Take the labels of other databases, such as bundles that came back; those are left as they are.

    The order doesn't matter, and merging a file twice changes nothing. Labels are matched to items by their ids and
    texts, and to people by name; what can't be taken is listed, and the exit code is 3 then. Labels more than an
    item was assigned to people are kept, listed, and counted in agreement.
    """
    from workbench.services.labelling.merging import merge, together

    with project_at(database) as project:
        reports = [merge(project, other) for other in others]
    if as_json:
        print_json(together(reports))
    else:
        for report in reports:
            _print(report)
    if any(report.refused for report in reports):
        sys.exit(REFUSED_SOME)


def _print(report: Merged) -> None:
    show(
        f"{report.file}: {report.events_new} new events, {report.unchanged} here already, {len(report.refused)} refused"
    )
    for name, number in report.people.items():
        show(f"  {name}: {number}")
    for version in report.guidelines:
        show(f"  guidelines: version {version}")
    _list("labelled by one person in two places, the newest counts", [(row, row.annotator) for row in report.heads])
    _list("labels beyond the overlap, kept", [(row, row.annotator) for row in report.surplus])
    _list("settled before, now open again", [(row, "") for row in report.reopened])
    say_some([f"{report.file}: {row.what}: {row.field}: {row.message}" for row in report.refused])


def _list(what: str, rows: list[tuple[Place, str]]) -> None:
    if rows:
        show(f"  {len(rows)} {what}:")
    for place, name in rows[:SHOWN]:
        item = place.completion_id or f"type of {place.question_id}"
        show(f"    {place.dataset} {item} {name}".rstrip())
    if len(rows) > SHOWN:
        say(f"… and {len(rows) - SHOWN:,} more; --json has them all.")
