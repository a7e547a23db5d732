"""``workbench export DB FILE``."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.common import (
    database_argument,
    force_option,
    json_option,
    print_json,
    project_at,
    say,
    selection_of,
    where_option,
    whole_number,
)
from workbench.cli.writing import OutputPath, shown, to_stdout
from workbench.model.exporting import ExportReport, PairsReport, SftReport
from workbench.model.verdict import GoldChoice
from workbench.services.items.exporting import FORMATS, TABLES, ExportFormat, Table, export, format_of


@click.command()
@database_argument
@click.argument("file", metavar="FILE", type=OutputPath())
@click.option("--format", "format_", type=click.Choice(FORMATS), help="[default: as the name of FILE says]")
@click.option("--table", type=click.Choice(TABLES), default="items", show_default=True, help="What to write.")
@click.option("--dataset", help="Only this data set.")
@where_option
@click.option(
    "--verifier",
    "verifiers",
    multiple=True,
    metavar="NAME",
    help="Whose verdicts --where verdict=… means; repeated: all of them must say so.",
)
@click.option(
    "--gold",
    type=click.Choice(("final", "people", "imported")),
    default="final",
    show_default=True,
    help="Whose labels; imported gives back the file's own labels and types.",
)
@click.option("--names", is_flag=True, help="Write annotators' names instead of pseudonyms.")
@click.option(
    "--sighted",
    is_flag=True,
    help="For label-studio and argilla: also gold, model, source and types, which annotators must not see.",
)
@click.option("--system", metavar="TEXT", help="For sft: begin each conversation with this system message.")
@click.option("--per-question", type=whole_number, metavar="N", help="For sft: at most N completions of a question.")
@click.option("--seed", type=int, default=0, show_default=True, help="For sft: what --per-question draws by.")
@click.option("--checks", is_flag=True, help="For workbench: with the checks; who has the file knows which they are.")
@click.option("--without-calls", is_flag=True, help="For workbench: without requests to model servers and responses.")
@force_option
@json_option
@to_stdout("file")
def command(
    database: str,
    file: Path,
    format_: ExportFormat | None,
    table: Table,
    dataset: str | None,
    where: tuple[str, ...],
    verifiers: tuple[str, ...],
    gold: GoldChoice,
    names: bool,
    sighted: bool,
    system: str | None,
    per_question: int | None,
    seed: int,
    checks: bool,
    without_calls: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write items, labels, verdicts or the whole project to a file; compressed when its name ends in .gz.

    FILE may be -, standard output; then --format says the format. Else the name does where it can: .csv, .parquet, .zip
    (an archive). Several formats end in .jsonl or .json: name one with --format.

    verifybench is the released schema: an imported file comes back byte for byte, with people's labels where there
    are some (--gold imported leaves them out). verifybench-fixed has the two type fields the right way round. csv,
    parquet and jsonl hold everything. label-studio and argilla write items with people's labels as those tools read
    them; import and labels import read them back. labels writes what labels export does, of the chosen items.

    sft and pairs are for training: conversations, as with --where verdict=correct (only completions that verifiers
    call correct), and questions with one correct and one incorrect completion. workbench is an archive of everything
    that workbench restore makes an equal database of: keep it as you keep the database.

    CSV cells are data: a spreadsheet may take one that begins with =, +, - or @ for a formula.
    """
    with project_at(database) as project:
        report = export(
            project,
            file,
            format=format_ or format_of(file),
            table=table,
            dataset=dataset,
            selection=selection_of(where),
            verifiers=verifiers,
            gold=gold,
            names=names,
            sighted=sighted,
            system=system,
            per_question=per_question,
            seed=seed,
            checks=checks,
            calls=not without_calls,
            force=force,
        )
    _say_left_out(report, gold)
    print_json(report) if as_json else click.echo(f"{report.written} rows written to {shown(file)}")


def _say_left_out(report: ExportReport, gold: GoldChoice) -> None:
    if report.without_gold:
        say(f"{report.without_gold} items have no {gold} label: their gold_correct is empty.")
    if report.sft:
        _say_sft(report.sft)
    if report.pairs:
        _say_pairs(report.pairs)
    if report.archive:
        for what, number in report.archive.left_out.items():
            say(f"Left out: {number} {what}.")
        if "checks" in report.archive.left_out:
            say("  Without them it is not all of the database: --checks takes them along.")


def _say_sft(report: SftReport) -> None:
    for verifier, verdicts in report.verdicts.items():
        said = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
        say(f"{verifier} on {report.candidates} candidates: {said}")
    say(
        f"{report.chosen} completions of {report.questions} questions chosen; left out: {report.duplicates} with the "
        f"text of another, {report.beyond} beyond --per-question"
        + ("" if report.seed is None else f" (seed {report.seed})")
    )


def _say_pairs(report: PairsReport) -> None:
    say(
        f"{report.paired} of {report.questions} questions make a pair; {report.one_kind} have completions of one kind "
        f"only, {report.several} more than one correct or incorrect, {report.without_gold} no gold"
    )
