"""``workbench history DB``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli.common import database_argument, json_option, print_json, print_line, project_at, show

if TYPE_CHECKING:
    from workbench.model.label import LabelLine


@click.command()
@database_argument
@click.option("--item", metavar="COMPLETION_ID", help="Only what was said of this item and of its question's type.")
@click.option("--annotator", metavar="NAME", help="Only what this person did.")
@click.option("--lines", is_flag=True, help="One JSON line an event, as `workbench labels DB import` takes them.")
@json_option
def command(database: str, item: str | None, annotator: str | None, lines: bool, as_json: bool) -> None:
    """Show who did what when: labels, edits, undos, decisions, flags and answers, looks, reopenings, exclusions."""
    from workbench.services.labelling.history import history

    with project_at(database) as project:
        found = history(project, item=item, annotator=annotator)
    if as_json:
        print_json(found)
    elif lines:
        for line in found:
            print_line(line)
    else:
        for line in found:
            show("  ".join(_cells(line)))


def _cells(line: LabelLine) -> list[str]:
    at = (line.created_at or "")[:19].replace("T", " ")
    said = [
        line.verdict or "",
        f"({line.reason})" if line.reason else "",
        line.answer_subtype or "",
        f"“{line.note}”" if line.note else "",
        "unsure" if line.unsure else "",
        *(tag for tag in line.tags or ()),
        f"partial {line.partial:g}" if isinstance(line.partial, float | int) else "",
        "flagged" if line.flagged is True else "",
        "unblinded" if line.unblinded is True else "",
        f"saw {line.view or 'it'}" if line.kind == "reveal" else "",
        f"round {line.round}" if isinstance(line.round, int) else "",
        f"guidelines {line.guideline}" if isinstance(line.guideline, str) else "",
    ]
    cells = [
        f"{at:<19}",
        f"{line.annotator:<12}",
        f"{line.kind!s:<12}",
        f"{line.completion_id or line.question_id or '':<12}",
    ]
    return [*cells, *filter(None, said)]
