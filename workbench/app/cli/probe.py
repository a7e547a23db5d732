"""``workbench probe DB VERIFIER``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import click

from workbench.app.cli.common import options_of, print_line, say, selection_of, show, trusting
from workbench.app.cli.progress import one_line
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, Trust, VerifierSettings, Where, Whole, Workers, argument, option
from workbench.core.project import Project
from workbench.core.text.excerpt import excerpt, shortened
from workbench.core.text.figures import counted
from workbench.statistics.records.probe import AcceptedProbe

if TYPE_CHECKING:
    from workbench.runs.probes import ProbingPlan

_INDENT = " " * 13


class ProbeOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument()] = "rules"
    settings: VerifierSettings = ()
    name: Annotated[str | None, option("The name of this configuration; the verifier's own by default.")] = None
    families: Annotated[
        tuple[str, ...], option("Only this family of probes (repeatable).", "--family", metavar="P1…P22")
    ] = ()
    limit: Annotated[Whole, option("Questions to try them on.")] = 100
    seed: Annotated[int, option("The same seed, the same probes.", ge=0)] = 0
    where: Where = ()
    workers: Workers = None
    accepted: Annotated[
        bool, option("Run nothing: list what it accepted the last time, with its evidence (JSON lines with --json).")
    ] = False
    trust: Trust = False


@verb
def command(project: Project, options: ProbeOptions, as_json: bool) -> Output | None:
    """Try to hack a verifier (`rules` unless you name another): how often does it accept what answers nothing?

    Crafted completions of the data's questions are judged beside right ones. They never become items: gold and accuracy
    stay as they are. A judge's replies are stored, so trying it again asks nothing twice.
    """
    from workbench.measuring.study_text import probe_text
    from workbench.runs.probes import plan, run

    if options.accepted:
        _list(project, options.verifier, options.families, as_json)
        return None
    planned = trusting(
        lambda yes: plan(
            project,
            options.verifier,
            options_of(options.settings),
            options.name,
            families=options.families,
            selection=selection_of(options.where),
            limit=options.limit,
            seed=options.seed,
            workers=options.workers,
            trust=yes,
        ),
        options.trust,
    )
    _announce(planned)
    total = planned.probes + planned.companions
    with one_line() as line:
        report = run(project, planned, line and (lambda done: line(f"{done:,} of {total:,}")))
    return Output(report, probe_text)


def _announce(planned: ProbingPlan) -> None:
    say(f"{planned.probes:,} probes and {planned.companions:,} companions on {len(planned.rows):,} questions.")
    if planned.calls is not None:
        say(f"  About {counted(planned.calls, 'call')} to model servers; stored replies are not asked for again.")


def _list(project: Project, verifier: str, families: tuple[str, ...], as_json: bool) -> None:
    from workbench.runs.probes import accepted

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
