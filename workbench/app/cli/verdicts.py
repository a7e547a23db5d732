"""``workbench verdicts`` and ``transcripts``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

import click

from workbench.app.cli.common import print_lines, show
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, Run, argument, option, require_one, restricted
from workbench.core.project import Project
from workbench.core.reasons import explain_verdict
from workbench.core.run import VerdictEvidence, VerdictsImported
from workbench.core.text.excerpt import excerpt, short_answer, shortened
from workbench.interchange.import_report import column_lines
from workbench.runs.transcripts import transcript_lines

_INDENT = " " * 13


class VerdictsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["print", "import"], argument()] = "print"
    file: Annotated[Path | None, argument(words={"import": "FILE"})] = None
    verifier: Annotated[
        str | None,
        option(
            "Name of the verifier; on import it replaces the name in the lines.", metavar="NAME", required_by="print"
        ),
    ] = None
    run: Annotated[Run, restricted(only="print")] = None
    evidence: Annotated[
        bool,
        option(
            "Print the evidence of each verdict as text: reference and completion, with their final answers marked.",
            only="print",
        ),
    ] = False
    transcript: Annotated[
        str | None,
        option(
            "Print every model request and reply behind the verdict on this completion.",
            metavar="COMPLETION",
            only="print",
        ),
    ] = None
    dataset: Annotated[
        str | None, option("On import: data set of lines that don't name one.", metavar="NAME", only="import")
    ] = None
    run_version: Annotated[
        str,
        option(
            "On import: version of the verifier; verdicts of each version are a separate run.",
            metavar="TEXT",
            only="import",
        ),
    ] = "1"


@verb
def verdicts_command(project: Project, options: VerdictsOptions, as_json: bool) -> Output | None:
    """Print a verifier's verdicts, one JSON line per item (with or without --json); or import a file of verdicts.

    workbench verdicts DB import FILE imports verdicts given elsewhere. A line: {"completion_id": …, "verifier": …,
    "verdict": "correct" | "incorrect" | "abstain" | "error"}, with a score as well as or instead of the verdict, and
    optionally reason, question_id, dataset. In a table (CSV, TSV, XLSX) each column of verdicts or scores is a
    verifier, or each row has a verdict. Importing a file twice changes nothing. Exit code 3: some lines were rejected.
    """
    from workbench.runs.transcripts import transcripts_of
    from workbench.runs.verdict_files import import_verdicts, verdict_evidence, verdict_lines

    require_one(options, "transcript", "evidence", optional=True)
    if as_json and options.evidence:
        raise click.UsageError("--evidence is for people; leave it out with --json.")
    verifier, run = options.verifier, options.run
    if options.file is not None:
        report = import_verdicts(
            project, options.file, name=verifier, dataset=options.dataset, version=options.run_version
        )
        return Output(report, _import_lines).refusing(options.file, report.refusals)
    if options.transcript is not None:
        found = transcripts_of(project, str(verifier), options.transcript, run)
        return Output(found, lambda found: chain.from_iterable(map(transcript_lines, found)))
    if options.evidence:
        for line_with_texts in verdict_evidence(project, str(verifier), run):
            _show_evidence(line_with_texts)
    else:
        print_lines(verdict_lines(project, str(verifier), run))
    return None


def _import_lines(report: VerdictsImported) -> Iterator[str]:
    yield f"{report.imported} imported, {report.unchanged} unchanged, {report.refused} rejected"
    yield from column_lines(report.columns or [])
    if report.ignored:
        yield f"Ignored columns: {', '.join(report.ignored)}"


def _show_evidence(found: VerdictEvidence) -> None:
    line = found.line
    score = None if line.score is None else f"score {line.score:g}"
    why = ", ".join(text for text in (line.reason, line.rule and f"rule {line.rule}", score) if text)
    show(f"{line.completion_id}  (question {line.question_id}, {line.dataset})")
    show(f"  {line.verdict}{why and f': {why}'}")
    if line.origin is not None:
        show(f"  recorded   not a live model's: {line.origin}")
    if words := explain_verdict(line.verdict, line.reason, line.rule, short_answer(line.reference_final)):
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


# -- ``workbench transcripts DB --verifier NAME|--run N``


class TranscriptsOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[
        str | None, option("Name of the verifier, or of the generation run; not needed with --run.", metavar="NAME")
    ] = None
    run: Run = None


@verb(json=False)
def transcripts_command(project: Project, options: TranscriptsOptions) -> None:
    """Print the requests and responses behind verdicts or written texts, one JSON line each.

    Texts are written tests and solutions, pools, evolving and refined problems, completions and proposed types: each
    reply is listed under the run that requested it. Lines hold items' texts and no keys; workbench replay FILE serves
    them again.
    """
    from workbench.runs.transcripts import recorded_exchanges

    print_lines(recorded_exchanges(project, options.verifier, options.run))
