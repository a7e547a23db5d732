"""``workbench import DB FILE…``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click
from msgspec import UNSET

from workbench.cli.common import REFUSED_SOME, database_argument, json_option, print_json, project_at, say, show
from workbench.cli.progress import showing_progress
from workbench.model.broken import BrokenTest
from workbench.model.item import QuarantinedRow
from workbench.model.progress import BYTES, step
from workbench.model.run import RefusedLine
from workbench.render.bars import counted
from workbench.services.items.importing import (
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


@click.command()
@database_argument
@click.argument(
    "files",
    metavar="FILE…",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option("--format", "format_", type=click.Choice(["auto", *FORMATS]), default="auto", show_default=True)
@click.option("--dataset", help="Name of the data set [default: as the file says, else its name].")
@click.option(
    "--map",
    "maps",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Take our FIELD from their COLUMN, such as question=prompt; FIELD= leaves it out (repeatable).",
)
@click.option("--source", metavar="DOMAIN/NAME", help="Where rows are from that name no source.")
@click.option("--licence", metavar="NAME", help="Their source's licence, where rows name none.")
@click.option(
    "--max-line",
    type=click.IntRange(min=1024),
    default=DEFAULT_MAX_LINE,
    show_default=True,
    metavar="BYTES",
    help="Longest line taken.",
)
@click.option(
    "--run-version",
    default="1",
    show_default=True,
    metavar="TEXT",
    help="Of the graders of a log: another version is another run.",
)
@click.option("--dry-run", is_flag=True, help="Read and report, write nothing.")
@json_option
def command(
    database: str,
    files: tuple[Path, ...],
    format_: str,
    dataset: str | None,
    maps: tuple[str, ...],
    source: str | None,
    licence: str | None,
    max_line: int,
    run_version: str,
    dry_run: bool,
    as_json: bool,
) -> None:
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
    columns = parse_map(maps)
    plans = plan_import(files, format=format_, columns=columns, source=source, licence=licence, max_line=max_line)
    size = sum(plan.path.stat().st_size for plan in plans)
    if dry_run and not Path(database).exists():
        with showing_progress(), step("reading", size, BYTES) as progress:
            report = preview_import(None, plans, dataset=dataset, progress=progress)
    else:
        with project_at(database, create=not dry_run) as project, step("reading", size, BYTES) as progress:
            action = preview_import if dry_run else partial(import_files, version=run_version)
            report = action(project, plans, dataset=dataset, progress=progress)
    if as_json:
        print_json(report)
    else:
        _print(report, plans, dry_run)
    if report.quarantined or report.verdicts_refused:
        sys.exit(REFUSED_SOME)


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
