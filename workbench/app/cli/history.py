"""``workbench history DB``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.common import print_line
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, option
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.core.label import LabelLine


class HistoryOptions(Options, frozen=True, kw_only=True):
    item: Annotated[
        str | None, option("Only what was said of this item and of its question's type.", metavar="COMPLETION_ID")
    ] = None
    annotator: Annotated[str | None, option("Only what this person did.", metavar="NAME")] = None
    lines: Annotated[bool, option("One JSON line an event, as `workbench labels DB import` takes them.")] = False


@verb
def command(project: Project, options: HistoryOptions, as_json: bool) -> Output | None:
    """Show who did what when: labels, edits, undos, decisions, flags and answers, looks, reopenings, exclusions."""
    from workbench.labelling.history import history

    found = history(project, item=options.item, annotator=options.annotator)
    if options.lines and not as_json:
        for line in found:
            print_line(line)
        return None
    return Output(found, lambda found: ("  ".join(_cells(line)) for line in found))


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
