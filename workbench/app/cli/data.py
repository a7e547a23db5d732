"""``workbench import``, ``export``, ``exclude``, ``selected-by`` and ``types``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.common import (
    REFUSED_SOME,
    ExclusionNote,
    ExclusionReason,
    project_at,
    required_selection,
    say,
    say_without_outcomes,
    show,
    showing_progress,
)
from workbench.app.cli.verb import Output, verb
from workbench.app.cli.writing import shown
from workbench.core.item import QuarantinedRow
from workbench.core.label import ExcludedItem
from workbench.core.options import BY, By, Limit, Options, Where, argument, option, require_one, restricted, run_job
from workbench.core.progress import BYTES, step
from workbench.core.project import Project
from workbench.core.run import RefusedLine
from workbench.core.selection import selection_of
from workbench.core.text.figures import counted
from workbench.core.verdict import GoldChoice
from workbench.data.formats.first_look import first_look
from workbench.data.formats.reading import FilePlan
from workbench.interchange.exporting import ExportOptions, export
from workbench.interchange.import_report import FileReport, ImportReport, import_lines
from workbench.interchange.importing import ImportOptions, plans_of, run_import
from workbench.interchange.records import ExportReport
from workbench.interchange.training_files import pairs_lines, sft_lines

if TYPE_CHECKING:
    from workbench.benchmarks.curating.datasets import DatasetChanged
    from workbench.core.status import DatasetInfo
    from workbench.labelling.excluded import CandidateItem


_ANEW = " Stored rows stay as they are: use a new database or --dataset to import them again."


@verb
def import_command(options: ImportOptions) -> Output:
    """Read question / reference / completion tuples, or problems and solutions of code, from files.

    Formats: released VerifyBench JSON lines, other JSON lines, JSON, CSV, TSV, XLSX, Parquet, Label Studio's JSON and
    Argilla's records (import their labels with: workbench labels DB import FILE), and gzip of these. - is standard
    input. A row may have a list of completions. In a workbook the sheet with the data is read, with cells as displayed.
    Questions with a reference answer and no completion are a pool of questions (docs/curation.md).

    Files of code are recognised by their keys: our own problems and solutions, HumanEval, HumanEval-X, MBPP, EvalPlus,
    APPS, TACO, CodeContests, Codeforces, SYNTHETIC-1 and -2, BigCodeBench, LiveCodeBench, Scoring-Verifiers,
    EvolveCoder, evolved suites, samples (docs/code-formats.md). Problems are read before solutions; a file of solutions
    alone is added to the data set that holds their problems.

    Logs of evaluations and trainings are recognised by their content: lm-evaluation-harness's samples and Inspect's
    logs (docs/import.md), OpenAI batches, RewardBench, xVerify, CompassVerifier, TRL's and verl's
    completions (docs/formats.md). Results of their own graders are imported as verdicts.

    Importing a file twice changes nothing. Rejected rows are in quarantine, with the reason; the exit code is then 3.
    If all questions have types, these are accepted. To have annotators give the types: --map type= --map subtype=
    """
    plans = plans_of(options)
    size = sum(plan.path.stat().st_size for plan in plans)
    if options.dry_run and not Path(options.database).exists():
        with showing_progress(), step("reading", size, BYTES) as progress:
            report = run_import(None, plans, options, progress)
    else:
        with (
            project_at(options.database, create=not options.dry_run) as project,
            step("reading", size, BYTES) as progress,
        ):
            report = run_import(project, plans, options, progress)
    refused = report.quarantined or report.verdicts_refused
    return Output(
        report, lambda found: _print_import(found, plans, options.dry_run), code=REFUSED_SOME if refused else 0
    )


def _print_import(report: ImportReport, plans: list[FilePlan], dry_run: bool) -> None:
    for line in import_lines(report, "would be imported" if dry_run else "imported"):
        show(line)
    for plan in plans:
        _say_guesses(plan, "" if dry_run else _ANEW)
    if not report.read:
        say("Nothing was imported: no row was found in " + ", ".join(str(plan.path) for plan in plans) + ".")
    for file in report.files or []:
        if report.read and not file.read:
            say(f"{file.file}: no row was found.")
        _say_left_out_of(file.file, file)
    if not report.files:
        _say_left_out_of(str(plans[0].path), report)


def _say_guesses(plan: FilePlan, anew: str) -> None:
    look, graders = first_look(plan.path), plan.graders.values()
    if meant := look.suggested_options(plan.columns, graders):
        fields = ", ".join(look.guess_columns(plan.columns, graders)) or ("" if "gold" in plan.columns else "gold")
        if fields:
            say(f"{plan.path}: no column was found for {fields}. Did you mean {meant}?{anew}")
        else:
            say(f"{plan.path}: a grader's verdicts were not imported. To measure the grader, import again with {meant}")


def _say_left_out_of(file: str, found: ImportReport | FileReport) -> None:
    refused: list[QuarantinedRow | RefusedLine] = [*found.quarantine, *(found.refused_verdicts or [])]
    for row in refused:
        say(f"{file}:{row.line}:{row.field or 'row'}: {row.message}")
    for test in found.broken_tests or []:
        say(f"{file}: {test.words}")


# -- ``workbench export DB FILE``


@verb
def export_command(project: Project, options: ExportOptions) -> Output:
    """Write items, labels, verdicts, outcomes of tests or the project to a file; compressed when its name ends in .gz.

    FILE may be - for standard output, with --format. Otherwise the file's name implies the format where it can: .csv,
    .parquet, .db (an archive). Several formats end in .jsonl or .json: name one with --format.

    verifybench is the released schema: an imported file comes back byte for byte, with annotators' labels if there are
    any (--gold imported leaves them out). verifybench-fixed has the two type fields the right way round. csv, parquet
    and jsonl hold everything. label-studio and argilla write items with annotators' labels in the formats of those
    tools; import and labels import read them back. labels writes the same as labels export, for the selected items.

    sft and pairs are for training. sft writes conversations; with --where verdict=correct, only completions that
    verifiers call correct. pairs writes a correct and an incorrect completion of the same question, by gold or, with
    --verifier NAME, by that verifier's verdicts. The format workbench is an archive of everything: a database.
    Protect it like the original.

    CSV cells are data: a spreadsheet may read a cell that begins with =, +, - or @ as a formula.
    """
    report = export(project, options)
    _say_left_out(report, options.gold)
    return Output(report, lambda found: f"{counted(found.written, 'row')} written to {shown(options.file)}\n")


def _say_left_out(report: ExportReport, gold: GoldChoice) -> None:
    if report.without_gold:
        say(f"{report.without_gold} items have no {gold} label: their gold_correct is empty.")
    say_without_outcomes(report.without_tests, report.not_run)
    for line in (*(sft_lines(report.sft) if report.sft else ()), *(pairs_lines(report.pairs) if report.pairs else ())):
        say(line)
    if report.archive:
        for what, number in report.archive.left_out.items():
            say(f"Left out: {number} {what}.")
        if "checks" in report.archive.left_out:
            say("  Without them the archive is incomplete: --checks includes them.")


# -- ``workbench exclude DB --where … --reason CODE``, ``--undo``, ``--list`` and ``--candidates``


class ExcludeOptions(Options, frozen=True, kw_only=True):
    where: Where = ()
    limit: Limit = None
    reason: ExclusionReason = None
    note: Annotated[ExclusionNote, restricted(needs="reason")] = ""
    by: By = BY
    undo: Annotated[bool, option("Include items again that coordinators excluded.")] = False
    listing: Annotated[bool, option("List every excluded item, with reason and author.", "--list")] = False
    candidates: Annotated[bool, option("List items that a rule finds unsuitable, each with its reason.")] = False


@verb
def exclude_command(project: Project, options: ExcludeOptions) -> Output:
    """Exclude items from every table, or list candidates.

    An item is excluded when two annotators call it unsuitable, when the adjudicator does, or by this command.

    workbench exclude DB --candidates

    workbench exclude DB --where question_id=q3 --reason proof
    """
    require_one(options, "reason", "undo", "listing", "candidates")
    from workbench.labelling import coordinating, excluded

    if options.listing:
        return Output(excluded.excluded_items(project, selection_of(options.where, options.limit)), _excluded_lines)
    if options.candidates:
        found = list(excluded.candidate_items(project, selection_of(options.where, options.limit)))
        return Output(found, _candidate_lines)
    selection = required_selection(options.where, options.limit)
    if options.reason is None:
        lifted = run_job(coordinating.lift, options, project, selection)
        return Output(lifted, lambda done: [f"{done.lifted} lifted, {done.skipped} skipped"])
    done = run_job(coordinating.exclude, options, project, selection)
    return Output(done, lambda done: [f"{done.excluded} excluded, {done.skipped} skipped"])


def _excluded_lines(found: Sequence[ExcludedItem]) -> Iterator[str]:
    for item in found:
        notes = "; ".join(filter(None, item.notes))
        yield "\t".join((item.completion_id, item.reason, item.how, ", ".join(item.people), notes))
    yield f"{len(found)} excluded"


def _candidate_lines(found: Sequence[CandidateItem]) -> Iterator[str]:
    for item in found:
        yield "\t".join((item.completion_id, item.reason, item.why))
    yield f"{len(found)} found by rule; a person decides"


# -- ``workbench selected-by DB list``, ``add`` and ``remove``


class SelectedByOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["list", "add", "remove"], argument()] = "list"
    names: Annotated[tuple[str, ...], argument(words={"add": "NAME…", "remove": "NAME…"})] = ()
    dataset: Annotated[
        str | None,
        option(
            "Data set whose items the judges selected; required with add and remove.",
            metavar="NAME",
            only="add remove",
            required_by="add remove",
        ),
    ] = None


@verb
def selected_by_command(project: Project, options: SelectedByOptions) -> Output:
    """Name the judges whose verdicts selected the items of a data set, by verifier or model.

    If items were selected because judges disagreed, those judges' accuracy on them says little about other data: every
    table marks them.
    """
    from workbench.measuring import notes

    if options.dataset is None:
        return Output(
            notes.judges(project),
            lambda found: [f"{dataset}: {', '.join(names)}" for dataset, names in found.items()] or ["none"],
        )
    change = notes.add_selection_judges if options.verb == "add" else notes.remove_selection_judges
    changed = change(project, options.dataset, options.names)
    return Output({"changed": changed}, lambda _: [f"{changed} {'added' if options.verb == 'add' else 'removed'}"])


# -- ``workbench datasets DB``


class DatasetsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["list", "rename", "exclude", "restore"], argument()] = "list"
    names: Annotated[
        tuple[str, ...],
        argument("[NAME] [NEW_NAME]", words={"rename": "NAME NEW_NAME", "exclude": "NAME", "restore": "NAME"}),
    ] = ()
    reason: Annotated[
        str,
        option("Reason for excluding the data set.", metavar="TEXT", only="exclude", required_by="exclude"),
    ] = ""
    by: By = BY


@verb
def datasets_command(project: Project, options: DatasetsOptions) -> Output:
    """List data sets, rename one, exclude one from every table, or include it again.

    workbench datasets DB rename problems problems-wrong

    workbench datasets DB exclude problems-wrong --reason "tests call candidate"

    workbench datasets DB restore problems-wrong

    Nothing is deleted: every item of an excluded data set is excluded, with author and reason, and metrics, runs'
    tables and lists of code problems leave it out. Items that were excluded before stay excluded when the data set is
    restored. To import a corrected file under the same name, rename the data set first. None of this is possible while
    a run works on the data set.
    """
    if options.verb == "list":
        from workbench.measuring.briefing import every_dataset

        return Output(every_dataset(project), _dataset_lines)
    from workbench.benchmarks.curating import datasets

    name = options.names[0]
    if options.verb == "rename":
        changed = datasets.rename(project, *options.names)
    elif options.verb == "exclude":
        changed = datasets.take_out(project, name, reason=options.reason, by=options.by)
    else:
        changed = datasets.take_in_again(project, name, by=options.by)
    return Output(changed, lambda done: [_change_text(options, done)])


def _change_text(options: DatasetsOptions, done: DatasetChanged) -> str:
    if options.verb == "rename":
        return f"{options.names[0]} is now called {done.dataset}"
    where = "excluded from every table" if options.verb == "exclude" else "included again"
    return f"{done.dataset}: {counted(done.items, 'item')} and {counted(done.questions, 'question')} {where}"


def _dataset_lines(found: Sequence[DatasetInfo]) -> Iterator[str]:
    for one in found:
        out = f"\tout: {one.out}" if one.out is not None else ""
        yield f"{one.name}\t{counted(one.items, 'item')}\t{counted(one.questions, 'question')}{out}"
