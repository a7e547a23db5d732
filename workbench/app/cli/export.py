"""``workbench export DB FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from workbench.app.cli.common import say, selection_of
from workbench.app.cli.verb import Output, ToStdout, verb
from workbench.app.cli.writing import shown
from workbench.core.options import Force, Options, Where, Whole, argument, option
from workbench.core.project import Project
from workbench.core.verdict import GoldChoice
from workbench.interchange.exporting import ExportFormat, Table, export, format_of
from workbench.interchange.records import ExportReport, PairsReport, SftReport


class ExportOptions(Options, frozen=True, kw_only=True):
    file: Annotated[Path, argument("FILE", output="stream")]
    format: Annotated[ExportFormat | None, option("[default: as the name of FILE says]")] = None
    table: Annotated[Table, option("What to write.")] = "items"
    dataset: Annotated[str | None, option("Only this data set.")] = None
    where: Where = ()
    verifiers: Annotated[
        tuple[str, ...],
        option(
            "Whose verdicts --where verdict=… means; repeated: all of them must say so.", "--verifier", metavar="NAME"
        ),
    ] = ()
    gold: Annotated[GoldChoice, option("Whose labels; imported gives back the file's own labels and types.")] = "final"
    names: Annotated[bool, option("Write annotators' names instead of pseudonyms.")] = False
    sighted: Annotated[
        bool, option("For label-studio and argilla: also gold, model, source and types, which annotators must not see.")
    ] = False
    system: Annotated[
        str | None, option("For sft: begin each conversation with this system message.", metavar="TEXT")
    ] = None
    per_question: Annotated[Whole | None, option("For sft: at most N completions of a question.", metavar="N")] = None
    seed: Annotated[int, option("For sft: what --per-question draws by.")] = 0
    checks: Annotated[bool, option("For workbench: with the checks; who has the file knows which they are.")] = False
    without_calls: Annotated[bool, option("For workbench: without requests to model servers and responses.")] = False
    force: Force = False


@verb(to_stdout=ToStdout("file"))
def command(project: Project, options: ExportOptions) -> Output:
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
    report = export(
        project,
        options.file,
        format=options.format or format_of(options.file),
        table=options.table,
        dataset=options.dataset,
        selection=selection_of(options.where),
        verifiers=options.verifiers,
        gold=options.gold,
        names=options.names,
        sighted=options.sighted,
        system=options.system,
        per_question=options.per_question,
        seed=options.seed,
        checks=options.checks,
        calls=not options.without_calls,
        force=options.force,
    )
    _say_left_out(report, options.gold)
    return Output(report, lambda found: f"{found.written} rows written to {shown(options.file)}\n")


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
