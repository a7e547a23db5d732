"""``workbench probe DB VERIFIER``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from workbench.cli.common import (
    database_argument,
    json_option,
    option_option,
    options_of,
    print_json,
    print_line,
    project_at,
    say,
    selection_of,
    show,
    trust_option,
    trusting,
    where_option,
    whole_number,
)
from workbench.cli.progress import one_line
from workbench.model.probe import AcceptedProbe
from workbench.render.bars import counted
from workbench.render.excerpt import excerpt, shortened
from workbench.services.project import Project

if TYPE_CHECKING:
    from workbench.services.running.probing import ProbingPlan

_INDENT = " " * 13


@click.command()
@database_argument
@click.argument("verifier", default="rules")
@option_option
@click.option("--name", help="The name of this configuration; the verifier's own by default.")
@click.option("--family", "families", multiple=True, metavar="P1…P22", help="Only this family of probes (repeatable).")
@click.option("--limit", type=whole_number, default=100, show_default=True, help="Questions to try them on.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same probes.")
@where_option
@click.option("--workers", type=click.IntRange(1, 256), help="Worker processes; one a core by default.")
@click.option(
    "--accepted",
    is_flag=True,
    help="Run nothing: list what it accepted the last time, with its evidence (JSON lines with --json).",
)
@trust_option
@json_option
def command(
    database: str,
    verifier: str,
    options: tuple[str, ...],
    name: str | None,
    families: tuple[str, ...],
    limit: int,
    seed: int,
    where: tuple[str, ...],
    workers: int | None,
    accepted: bool,
    trust: bool,
    as_json: bool,
) -> None:
    """Try to hack a verifier (`rules` unless you name another): how often does it accept what answers nothing?

    Crafted completions of the data's questions are judged beside right ones. They never become items: gold and accuracy
    stay as they are. A judge's replies are stored, so trying it again asks nothing twice.
    """
    from workbench.services.running.probe_text import probe_text
    from workbench.services.running.probing import plan, run

    with project_at(database) as project:
        if accepted:
            _list(project, verifier, families, as_json)
            return
        planned = trusting(
            lambda yes: plan(
                project,
                verifier,
                options_of(options),
                name,
                families=families,
                selection=selection_of(where),
                limit=limit,
                seed=seed,
                workers=workers,
                trust=yes,
            ),
            trust,
        )
        _announce(planned)
        total = planned.probes + planned.companions
        with one_line() as line:
            report = run(project, planned, line and (lambda done: line(f"{done:,} of {total:,}")))
    if as_json:
        print_json(report)
    else:
        click.echo(probe_text(report), nl=False)


def _announce(planned: ProbingPlan) -> None:
    say(f"{planned.probes:,} probes and {planned.companions:,} companions on {len(planned.rows):,} questions.")
    if planned.calls is not None:
        say(f"  About {counted(planned.calls, 'call')} to model servers; stored replies are not asked for again.")


def _list(project: Project, verifier: str, families: tuple[str, ...], as_json: bool) -> None:
    from workbench.services.running.probing import accepted

    for one in accepted(project, verifier, families):
        if as_json:
            print_line(one)
        else:
            _show(one)
    sys.stdout.flush()


def _show(one: AcceptedProbe) -> None:
    show(f"{one.family} {one.variant}  (question {one.question_id})")
    show(f"  completion {shortened(one.completion) or 'empty'}")
    if one.reference_final is not None:
        show(f"  reference  {shortened(one.reference_final)}")
    if one.candidate_final is not None:
        show(f"  candidate  {shortened(one.candidate_final)}")
    if one.candidate_span is not None and (parts := excerpt(one.completion, one.candidate_span)) is not None:
        click.echo(f"{_INDENT}{parts.before}«{parts.marked}»{parts.after}  {list(one.candidate_span)}")
    score = None if one.score is None else f"score {one.score:g}"
    why = ", ".join(text for text in (one.reason, one.rule and f"rule {one.rule}", score) if text)
    if why:
        show(f"  why        {why}")
    if one.reply is not None:
        show(f"  reply      {shortened(one.reply)}")
    show()
