"""``workbench labels DB import FILE`` and ``export FILE``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.common import REFUSED_SOME, some
from workbench.app.cli.verb import Output, ToStdout, verb
from workbench.app.cli.writing import shown
from workbench.core.options import Options, argument, option
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.labelling.labels import LabelsImported


class LabelsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["import", "export"], argument()]
    file: Annotated[Path, argument(output="stream")]
    history: Annotated[bool, option("Export every event, not only the labels in force.")] = False
    force: Annotated[bool, option("Replace an existing file on export.")] = False
    only: Annotated[
        str | None, option("Import only what NAME said while labelling; refuse all else in the file.", metavar="NAME")
    ] = None


@verb(to_stdout=ToStdout("file", when=lambda options: options.verb == "export"))
def command(project: Project, options: LabelsOptions) -> Output:
    """Read or write labels as JSON lines.

    A line: {"completion_id": …, "annotator": …, "verdict": "correct" | "incorrect" | "unsuitable"}, optionally
    with dataset, question_id, reason, answer_subtype ("A1"), note, created_at, uuid, revision; adjudications
    carry "role": "adjudicator". Importing a file twice changes nothing. A file is believed for everybody it names, and
    it is said for whom and what; --only believes one person, and no decisions. Exit code 3: some lines were refused.
    """
    if options.verb == "export":
        from workbench.labelling.label_export import export_labels

        written = export_labels(project, options.file, history=options.history, force=options.force)
        return Output({"written": written}, lambda _: [f"{written} lines written to {shown(options.file)}"])
    from workbench.labelling.labels import import_labels

    report = import_labels(project, options.file, options.only)
    told = [f"{options.file}:{one['line']}:{one['field'] or 'line'}: {one['message']}" for one in report.refusals]
    return Output(report, _lines, after=some(told), code=REFUSED_SOME if report.refused else 0)


def _lines(report: LabelsImported) -> Iterator[str]:
    yield f"{report.imported} imported, {report.unchanged} unchanged, {report.refused} refused"
    if report.imported:
        yield f"taken as said by: {_counted(report.people)} ({_counted(report.kinds)})"
    if report.new_people:
        yield f"not known here before: {', '.join(report.new_people)}"
    if report.contradicting:
        yield f"{report.contradicting:,} verdicts with marks that contradict them or each other"


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
