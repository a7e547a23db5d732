"""``workbench labels DB import FILE`` and ``export FILE``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from workbench.cli.common import (
    REFUSED_SOME,
    database_argument,
    json_option,
    print_json,
    project_at,
    say_some,
    show,
)
from workbench.cli.writing import OutputPath, shown, to_stdout


@click.command()
@database_argument
@click.argument("verb", type=click.Choice(["import", "export"]))
@click.argument("file", type=OutputPath())
@click.option("--history", is_flag=True, help="Export every event, not only the labels in force.")
@click.option("--force", is_flag=True, help="Replace an existing file on export.")
@click.option("--only", metavar="NAME", help="Import only what NAME said while labelling; refuse all else in the file.")
@json_option
@to_stdout("file", when=lambda given: given["verb"] == "export")
def command(database: str, verb: str, file: Path, history: bool, force: bool, only: str | None, as_json: bool) -> None:
    """Read or write labels as JSON lines.

    A line: {"completion_id": …, "annotator": …, "verdict": "correct" | "incorrect" | "unsuitable"}, optionally
    with dataset, question_id, reason, answer_subtype ("A1"), note, created_at, uuid, revision; adjudications
    carry "role": "adjudicator". Importing a file twice changes nothing. A file is believed for everybody it names, and
    it is said for whom and what; --only believes one person, and no decisions. Exit code 3: some lines were refused.
    """
    with project_at(database) as project:
        if verb == "export":
            from workbench.services.labelling.label_export import export_labels

            written = export_labels(project, file, history=history, force=force)
            print_json({"written": written}) if as_json else show(f"{written} lines written to {shown(file)}")
            return
        from workbench.services.labelling.labels import import_labels

        report = import_labels(project, file, only)
    if as_json:
        print_json(report)
    else:
        show(f"{report.imported} imported, {report.unchanged} unchanged, {report.refused} refused")
        if report.imported:
            show(f"taken as said by: {_counted(report.people)} ({_counted(report.kinds)})")
        if report.new_people:
            show(f"not known here before: {', '.join(report.new_people)}")
        if report.contradicting:
            show(f"{report.contradicting:,} verdicts with marks that contradict them or each other")
    say_some(
        [f"{file}:{refusal['line']}:{refusal['field'] or 'line'}: {refusal['message']}" for refusal in report.refusals]
    )
    if report.refused:
        sys.exit(REFUSED_SOME)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
