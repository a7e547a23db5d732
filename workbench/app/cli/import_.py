"""``workbench import DB FILE…``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from msgspec import UNSET

from workbench.app.cli.common import REFUSED_SOME, project_at, say, show
from workbench.app.cli.progress import showing_progress
from workbench.app.cli.verb import Output, verb
from workbench.core.code_tests.broken import BrokenTest
from workbench.core.item import QuarantinedRow
from workbench.core.options import Database, MaxLine, Options, argument, option
from workbench.core.progress import BYTES, step
from workbench.core.run import RefusedLine
from workbench.core.text.figures import counted
from workbench.interchange.importing import (
    DEFAULT_MAX_LINE,
    FORMATS,
    QUESTIONS,
    FilePlan,
    ImportReport,
    import_files,
    parse_map,
    plan_import,
    preview_import,
)


class ImportOptions(Options, frozen=True, kw_only=True):
    database: Database
    files: Annotated[tuple[Path, ...], argument("FILE…", exists=True)]
    format: Annotated[str, option(choices=["auto", *FORMATS])] = "auto"
    dataset: Annotated[str | None, option("Name of the data set [default: as the file says, else its name].")] = None
    maps: Annotated[
        tuple[str, ...],
        option(
            "Take our FIELD from their COLUMN, such as question=prompt; FIELD= leaves it out (repeatable).",
            "--map",
            metavar="FIELD=COLUMN",
        ),
    ] = ()
    source: Annotated[str | None, option("Where rows are from that name no source.", metavar="DOMAIN/NAME")] = None
    licence: Annotated[str | None, option("Their source's licence, where rows name none.", metavar="NAME")] = None
    max_line: MaxLine = DEFAULT_MAX_LINE
    run_version: Annotated[str, option("Of the graders of a log: another version is another run.", metavar="TEXT")] = (
        "1"
    )
    dry_run: Annotated[bool, option("Read and report, write nothing.")] = False


@verb
def command(options: ImportOptions) -> Output:
    """Read question / reference / completion tuples, or problems and solutions of code, from files.

    Formats: released VerifyBench JSON lines, other JSON lines, JSON, CSV, TSV, Parquet, Label Studio's JSON and
    Argilla's records (their labels come with: workbench labels DB import FILE), and gzip of these.
    Questions with a reference answer and no completion are a pool of questions (docs/curation.md).
    Files of code are told by their keys: our own problems and solutions, HumanEval, MBPP, EvalPlus, APPS, TACO,
    BigCodeBench, LiveCodeBench, Scoring-Verifiers, EvolveCoder, samples (docs/code-formats.md). Problems are read
    before solutions; solutions alone go to the data set that holds their problems.
    Logs of evaluations and trainings are told by their content: lm-evaluation-harness's samples and Inspect's logs
    (docs/evaluation-logs.md), OpenAI evals and batches, RewardBench, xVerify, CompassVerifier, TRL's and verl's
    completions (docs/log-formats.md). What their own graders said is imported as verdicts.

    Importing a file twice changes nothing. Rows that can't be taken stand in quarantine, with the reason; the exit
    code is 3 then. Types that come with all questions are trusted; --map type= --map subtype= leaves them to people.
    """
    columns = parse_map(options.maps)
    plans = plan_import(
        options.files,
        format=options.format,
        columns=columns,
        source=options.source,
        licence=options.licence,
        max_line=options.max_line,
    )
    size = sum(plan.path.stat().st_size for plan in plans)
    if options.dry_run and not Path(options.database).exists():
        with showing_progress(), step("reading", size, BYTES) as progress:
            report = preview_import(None, plans, dataset=options.dataset, progress=progress)
    else:
        with (
            project_at(options.database, create=not options.dry_run) as project,
            step("reading", size, BYTES) as progress,
        ):
            action = preview_import if options.dry_run else partial(import_files, version=options.run_version)
            report = action(project, plans, dataset=options.dataset, progress=progress)
    refused = report.quarantined or report.verdicts_refused
    return Output(report, lambda found: _print(found, plans, options.dry_run), code=REFUSED_SOME if refused else 0)


def _print(report: ImportReport, plans: list[FilePlan], dry_run: bool) -> None:
    done = "would be imported" if dry_run else "imported"
    show(
        f"{report.dataset}: {report.read} rows read, {report.imported} {done}, "
        f"{report.unchanged} unchanged, {report.quarantined} quarantined ({report.format})"
    )
    if report.mended:
        show(f"{report.mended} rows that were refused earlier are taken now, and have left quarantine.")
    columns = ", ".join(f"{field}={column}" for field, column in report.mapping.items() if field != column)
    if columns:
        show(f"Columns: {columns}")
    if any(plan.format == QUESTIONS for plan in plans):
        show("Questions without completions: a pool to curate and draw from.")
    if report.swapped_types:
        show("The two type fields were the wrong way round, as in the released file; taken the right way.")
    for code, number in report.reasons.items():
        show(f"  {code}: {number}")
    if report.broken:
        many = counted(report.broken, "broken test")
        show(f"  {many} set apart: they say nothing of any solution, and count for nobody")
    if not report.read:
        say("Nothing was imported: no row was found in " + ", ".join(str(plan.path) for plan in plans) + ".")
    for file in report.files or []:
        if report.read and not file.read:
            say(f"{file.file}: no row was found.")
        counts = f"{file.imported} {done}, {file.unchanged} unchanged, {file.quarantined} quarantined"
        show(f"  {file.file}: {counts}")
        _say_refused(file.file, file.quarantine)
        _say_refused(file.file, file.refused_verdicts or [])
        _say_broken(file.file, file.broken_tests or [])
    if not report.files:
        _say_refused(str(plans[0].path), report.quarantine)
        _say_refused(str(plans[0].path), report.refused_verdicts or [])
        _say_broken(str(plans[0].path), report.broken_tests or [])
    if report.verifiers is not UNSET:
        _print_verdicts(report)


def _print_verdicts(report: ImportReport) -> None:
    show(
        f"Verdicts: {report.verdicts} imported, {report.verdicts_unchanged} unchanged, "
        f"{report.verdicts_refused} refused"
    )
    for name, run in (report.verifiers or {}).items():
        show(f"  {name}: run {run}")


def _say_broken(file: str, tests: Sequence[BrokenTest]) -> None:
    for test in tests:
        say(f"{file}: {test.words}")


def _say_refused(file: str, rows: Sequence[QuarantinedRow | RefusedLine]) -> None:
    for row in rows:
        say(f"{file}:{row.line}:{row.field or 'row'}: {row.message}")
