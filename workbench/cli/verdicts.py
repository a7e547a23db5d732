"""``workbench verdicts DB --verifier NAME``."""

from __future__ import annotations

import sys

import click

from workbench.cli.common import (
    database_argument,
    json_option,
    print_json,
    print_line,
    project_at,
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
@click.option("--verifier", required=True, metavar="NAME", help="Whose verdicts.")
@click.option("--run", type=whole_number, help="Exactly this run instead of the newest complete one.")
@click.option(
    "--evidence",
    is_flag=True,
    help="For people: what a verdict rests on, both final answers where they stand in their texts.",
)
@click.option("--transcript", metavar="COMPLETION", help="How one verdict came about: every call, request and reply.")
@json_option
def command(
    database: str, verifier: str, run: int | None, evidence: bool, transcript: str | None, as_json: bool
) -> None:
    """Print a verifier's verdicts, one JSON line an item (with or without --json)."""
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
