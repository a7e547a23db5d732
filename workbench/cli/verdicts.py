"""``workbench verdicts DB --verifier NAME`` and ``workbench verdicts DB import FILE``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from workbench.cli.common import (
    REFUSED_SOME,
    database_argument,
    json_option,
    print_json,
    print_line,
    project_at,
    say_some,
    show,
    whole_number,
)
from workbench.cli.transcript_text import show_transcript
from workbench.model.reasons import sentence
from workbench.model.run import VerdictEvidence
from workbench.render.answers import short_answer
from workbench.render.excerpt import excerpt, shortened

_INDENT = " " * 13


@click.command()
@database_argument
@click.argument("verb", type=click.Choice(["print", "import"]), default="print")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--verifier", metavar="NAME", help="Whose verdicts; on import: instead of what the lines say.")
@click.option("--run", type=whole_number, help="Exactly this run instead of the newest complete one.")
@click.option(
    "--evidence",
    is_flag=True,
    help="For people: what a verdict rests on, both final answers where they stand in their texts.",
)
@click.option("--transcript", metavar="COMPLETION", help="How one verdict came about: every call, request and reply.")
@click.option("--dataset", metavar="NAME", help="On import: the data set of lines that don't say it.")
@click.option(
    "--run-version", default="1", show_default=True, metavar="TEXT", help="On import: another version is another run."
)
@json_option
def command(
    database: str,
    verb: str,
    file: Path | None,
    verifier: str | None,
    run: int | None,
    evidence: bool,
    transcript: str | None,
    dataset: str | None,
    run_version: str,
    as_json: bool,
) -> None:
    """Print a verifier's verdicts, one JSON line an item (with or without --json); or import a file of verdicts.

    workbench verdicts DB import FILE takes what verifiers said elsewhere. A line: {"completion_id": …, "verifier": …,
    "verdict": "correct" | "incorrect" | "abstain" | "error"}, with a score beside or in place of the verdict, and
    optionally reason, question_id, dataset. Importing a file twice changes nothing. Exit code 3: some lines were
    refused.
    """
    if verb == "import":
        if file is None or run is not None or evidence or transcript is not None:
            raise click.UsageError("Write: workbench verdicts DB import FILE [--verifier NAME] [--dataset NAME]")
        _import(database, file, verifier, dataset, run_version, as_json)
    elif file is not None or dataset is not None:
        raise click.UsageError("A file and --dataset go with import.")
    elif verifier is None:
        raise click.UsageError("Missing option '--verifier'.")
    else:
        _print(database, verifier, run, evidence, transcript, as_json)


def _import(database: str, file: Path, verifier: str | None, dataset: str | None, version: str, as_json: bool) -> None:
    from workbench.services.running.verdict_files import import_verdicts

    with project_at(database) as project:
        report = import_verdicts(project, file, name=verifier, dataset=dataset, version=version)
    if as_json:
        print_json(report)
    else:
        show(f"{report.imported} imported, {report.unchanged} unchanged, {report.refused} refused")
    say_some([f"{file}:{line.line}:{line.field or 'line'}: {line.message}" for line in report.refusals])
    if report.refused:
        sys.exit(REFUSED_SOME)


def _print(
    database: str, verifier: str, run: int | None, evidence: bool, transcript: str | None, as_json: bool
) -> None:
    from workbench.services.running.transcripts import transcripts_of
    from workbench.services.running.verifying import verdict_evidence, verdict_lines

    if transcript is not None and evidence:
        raise click.UsageError("--transcript and --evidence exclude each other.")
    if as_json and evidence:
        raise click.UsageError("--evidence is for people; leave it out with --json.")
    with project_at(database) as project:
        if transcript is not None:
            found = transcripts_of(project, verifier, transcript, run)
            if as_json:
                print_json(found)
            else:
                for one in found:
                    show_transcript(one)
        elif evidence:
            for line_with_texts in verdict_evidence(project, verifier, run):
                _show(line_with_texts)
        else:
            for line in verdict_lines(project, verifier, run):
                print_line(line)
    sys.stdout.flush()


def _show(found: VerdictEvidence) -> None:
    line = found.line
    score = None if line.score is None else f"score {line.score:g}"
    why = ", ".join(text for text in (line.reason, line.rule and f"rule {line.rule}", score) if text)
    show(f"{line.completion_id}  (question {line.question_id}, {line.dataset})")
    show(f"  {line.verdict}{why and f': {why}'}")
    if line.origin is not None:
        show(f"  recorded   not a live model's: {line.origin}")
    if words := sentence(line.verdict, line.reason, line.rule, short_answer(line.reference_final)):
        show(f"  why        {words}")
    if line.reference_final is not None or line.candidate_final is not None:
        _show_answer("reference", line.reference_final, found.reference, line.reference_span)
        _show_answer("candidate", line.candidate_final, found.completion, line.candidate_span)
    if line.detail:
        show(f"  detail     {shortened(line.detail)}")
    show()


def _show_answer(side: str, final: str | None, text: str, span: tuple[int, int] | None) -> None:
    show(f"  {side:9}  {'none' if final is None else shortened(final)}")
    if span is not None and (parts := excerpt(text, span)) is not None:
        marked = click.style(parts.marked, reverse=True) if sys.stdout.isatty() else f"«{parts.marked}»"
        click.echo(f"{_INDENT}{parts.before}{marked}{parts.after}")
