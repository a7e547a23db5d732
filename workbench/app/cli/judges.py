"""``workbench models``, ``preview``, ``template``, ``parse``, ``threshold``, ``what-if`` and more on judges."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import click
from msgspec import structs

from workbench.app.cli import LazyGroup
from workbench.app.cli.common import (
    INTERRUPTED,
    REFUSED_SOME,
    draw,
    follow,
    key_and_value,
    one_line,
    print_lines,
    run_trusted,
    say,
    show,
    trusting,
    unended,
)
from workbench.app.cli.verb import Output, verb
from workbench.app.verbs import WITHIN
from workbench.coding.templates import Asked
from workbench.core.options import (
    NONE_GIVEN,
    Basis,
    Database,
    FirstItems,
    Force,
    Gold,
    Options,
    Protocol,
    TableForm,
    Trust,
    VerifierSettings,
    VerifierTitle,
    Where,
    Whole,
    Workers,
    argument,
    option,
    plot_folder,
    run_job,
)
from workbench.core.project import Project
from workbench.core.selection import selection_of
from workbench.core.text.excerpt import excerpt, shortened
from workbench.core.text.figures import counted
from workbench.core.text.run_words import estimate_words
from workbench.measuring.what_if import NAMED, WhatIfOptions, save, what_if, what_if_as
from workbench.runs.own_templates import checked_folder, checked_template, template_lines, text_of
from workbench.runs.previewing import (
    CheckedServer,
    PreviewedCall,
    check_servers,
    parse_replies,
    parser_names,
    preview_calls,
)
from workbench.statistics.records.probe import PAIRWISE, AcceptedProbe

if TYPE_CHECKING:
    from workbench.runs.probes import ProbingPlan, Watch


class ModelsOptions(Options, frozen=True, kw_only=True):
    name: Annotated[str, argument()]
    settings: VerifierSettings = NONE_GIVEN
    trust: Trust = False


@verb
def models_command(project: Project, options: ModelsOptions) -> Output:
    """Check the model servers of a verifier, and explain any problem.

    NAME is a verifier of workbench.toml or the database, or a kind with its options (llm-judge -o base_url=…
    -o model=…). Exit code 1: something is wrong.
    """
    chosen = options.settings
    servers = trusting(lambda yes: check_servers(project, options.name, chosen, trust=yes), options.trust)
    healthy = all(finding.level != "problem" for server in servers for finding in server.findings)
    return Output(servers, _server_lines, code=0 if healthy else 1)


def _server_lines(servers: Sequence[CheckedServer]) -> Iterator[str]:
    for server in servers:
        yield f"{', '.join(server.roles)}: {server.model} at {server.base_url}"
        for finding in server.findings:
            yield f"  {finding.level:8} {finding.text}"
            if finding.advice:
                yield f"  {'':8} {finding.advice}"


# -- ``workbench preview DB VERIFIER --item COMPLETION_ID``


class PreviewOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument()]
    item: Annotated[str, option("Id of the completion to judge.", metavar="COMPLETION_ID")]
    settings: VerifierSettings = NONE_GIVEN


@verb
def preview_command(project: Project, options: PreviewOptions) -> Output:
    """Show the exact requests a judge would send about an item; nothing is sent.

    If a later request depends on a reply, a placeholder ⟨…⟩ is shown in place of the reply.
    """
    calls = preview_calls(project, options.verifier, options.settings, options.item)
    return Output(calls, lambda found: chain.from_iterable(map(_call_lines, found)))


def _call_lines(call: PreviewedCall) -> Iterator[str]:
    yield f"{call.step} ({call.role}): POST {call.url}"
    if not call.exact:
        yield "  With placeholders for replies."
    for note in call.notes:
        yield f"  {note}"
    for line in call.lines():
        yield f"  {line}"
    yield ""


# -- ``workbench parse PARSER FILE``


class ParseOptions(Options, frozen=True, kw_only=True):
    parser: Annotated[str, argument()]
    file: Annotated[Path, argument(exists=True, dash=True)]


@verb(json=False, epilog=f"Parsers: {', '.join(parser_names())}; without @ the newest.")
def parse_command(options: ParseOptions) -> None:
    """Parse recorded judge outputs again: each line is printed with a verdict.

    FILE has JSON lines with the judge's reply in "raw", optionally gzip; - is standard input. Each line gains verdict
    (correct, incorrect, abstain), score (ICE-Score's number or null) and label (CompassVerifier's A, B, C or null). A
    parser whose name ends in @1 parses like the upstream project, one with @2 strictly: in a reply whose
    "finish_reason" says that it was cut off, @2 accepts only a labelled verdict. Exit code 3: some lines were rejected.
    """
    piped = str(options.file) == "-"
    place = "standard input" if piped else options.file
    print_lines(parse_replies(options.parser, None if piped else options.file), place)


# -- ``workbench threshold DB VERIFIER``


class ThresholdOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument("VERIFIER")]
    on: Annotated[
        tuple[str, ...],
        option(
            "Fit the threshold only on items that match this condition (written as for --where), and report metrics "
            "on all other items, too (repeatable).  [default: fit on all items]",
            metavar="FIELD=VALUE",
        ),
    ] = ()
    method: Annotated[
        Literal["accuracy", "youden"],
        option(
            "Criterion to maximise: accuracy (the share of right verdicts) or youden (true-positive rate "
            "minus false-positive rate)."
        ),
    ] = "accuracy"
    save: Annotated[
        str | None,
        option("Start a run under this name with the fitted threshold; stored replies are reused.", metavar="NAME"),
    ] = None
    basis: Basis = Basis()
    trust: Trust = False


@verb
def threshold_command(project: Project, options: ThresholdOptions) -> Output:
    """Fit the threshold that turns a verifier's scores into verdicts: correct if the score reaches it.

    Metrics on the items it was fitted on are too optimistic. Fit it on one part of the items with --on, and read the
    row for the other items.
    """
    from msgspec import structs

    from workbench.measuring.scores import fit, threshold_text
    from workbench.measuring.scores import save as start

    report = run_job(fit, options, project, on=selection_of(options.on).conditions)
    if (name := options.save) is not None:
        run = trusting(lambda yes: start(project, report, name, trust=yes), options.trust)
        report = structs.replace(report, saved_as=run.verifier)
        say(f"Run {run.run} of {run.verifier} has the threshold {report.threshold!r}.")
    return Output(report, threshold_text)


# -- ``workbench sweep DB JUDGE --vary OPTION=VALUE,VALUE``


class SweepOptions(Options, frozen=True, kw_only=True):
    database: Database
    judge: Annotated[str, argument("JUDGE")]
    vary: Annotated[
        tuple[str, ...],
        option("Option of the judge, with the values to try (repeatable).", metavar="OPTION=VALUE,VALUE"),
    ]
    grid: Annotated[bool, option("Try all combinations of values.  [default: vary one option at a time]")] = False
    settings: VerifierSettings = NONE_GIVEN
    protocol: Protocol = None
    gold: Gold = "final"
    where: Where = ()
    limit: FirstItems = None
    detach: Annotated[
        bool, option("Start the runs in the background and return; repeat the command to see the result.")
    ] = False
    trust: Trust = False
    figures: Annotated[Path | None, plot_folder("plots of accuracy by each numeric option")] = None
    force: Force = False


@verb
def sweep_command(project: Project, options: SweepOptions) -> Output:
    """Run a judge under many settings and show how accuracy and tokens change with them.

    Each combination of settings is a separate run (JUDGE/depth-3); all of them share stored replies. After an
    interruption the same command continues.
    """
    from workbench.measuring.studies import (
        scaling_plots,
        start_sweep,
        sweep_estimate,
        sweep_points,
        sweep_report,
        sweep_text,
    )

    points = sweep_points(_values_to_vary(options.vary), options.grid)
    chosen, selection = options.settings, selection_of(options.where, options.limit)
    expected = sweep_estimate(project, options.judge, points, chosen, selection)
    if expected is not None and expected.calls:
        say(estimate_words(expected))
        say("  Each combination is estimated separately; calls that combinations share are made only once.")
    started = trusting(lambda yes: start_sweep(project, options.judge, points, chosen, selection, yes), options.trust)
    if not options.detach:
        for info in started:
            follow(project, info, options.database)
    runs = [info.run for info in started]
    report = run_job(sweep_report, options, project, options.judge, points, runs, selection=selection)
    draw(scaling_plots(report), options.figures, force=options.force)
    if options.detach or all(point.state == "complete" for point in report.points):
        return Output(report, sweep_text)
    return Output(report, sweep_text, after=["Some points are incomplete; the same command continues them."], code=1)


def _values_to_vary(texts: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in texts:
        name, values = key_and_value(text, "--vary")
        found.setdefault(name, []).extend(values.split(","))
    return found


# -- ``workbench pairwise DB``


class PairwiseOptions(Options, frozen=True, kw_only=True):
    database: Database
    settings: VerifierSettings = NONE_GIVEN
    name: Annotated[str, option("Name under which the comparison is stored.")] = "pairwise"
    where: Where = ()
    limit: FirstItems = None
    gold: Gold = "final"
    trust: Trust = False


@verb
def pairwise_command(project: Project, options: PairwiseOptions) -> Output:
    """Have a model decide which of two completions of a question is better, in both orders (-o base_url=… -o model=…).

    A win counts only if both orders give it. Each completion's score is its share of wins. After an interruption the
    same command continues.
    """
    from workbench.measuring.pairwise import pairwise_report, pairwise_text
    from workbench.runs.verifying import start

    chosen, selection = options.settings, selection_of(options.where, options.limit)
    info = trusting(lambda yes: start(project, PAIRWISE, chosen, options.name, selection, trust=yes), options.trust)
    ended = follow(project, info, options.database)
    why = unended(ended, options.database)
    return Output(pairwise_report(project, info.run, options.gold), pairwise_text, after=why, code=int(bool(why)))


# -- ``workbench probe DB VERIFIER``


_INDENT = " " * 13


class ProbeOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument()] = "rules"
    settings: VerifierSettings = NONE_GIVEN
    name: VerifierTitle = None
    families: Annotated[
        tuple[str, ...], option("Use only this family of probes (repeatable).", "--family", metavar="P1…P22")
    ] = ()
    limit: Annotated[Whole, option("Number of questions for which probes are made.")] = 100
    seed: Annotated[int, option("Seed of the random choices of questions and probes.", ge=0)] = 0
    where: Where = ()
    workers: Workers = None
    accepted: Annotated[
        bool,
        option("List the probes that the verifier wrongly accepted in its last probe run, with its replies."),
    ] = False
    trust: Trust = False


@verb
def probe_command(project: Project, options: ProbeOptions, as_json: bool) -> Output | None:
    """Attack a verifier (`rules` by default): measure how often it accepts completions without an answer.

    Crafted completions of the data's questions are judged together with correct ones. They never become items: gold and
    accuracy don't change. A judge's replies are stored, so repeating the command sends no request twice.
    """
    from workbench.measuring.studies import probe_text
    from workbench.runs.probes import plan, run

    if options.accepted:
        _list_accepted(project, options.verifier, options.families, as_json)
        return None
    planned = run_trusted(plan, options, project, options.verifier, options.settings)
    _announce_plan(planned)
    try:
        with one_line() as line:
            report = run(project, planned, _progress_watch(planned.probes + planned.companions, line))
    except KeyboardInterrupt:
        kept = "All replies are stored; the same command continues from there." if planned.calls else ""
        say(f"Stopped. {kept}".rstrip())
        sys.exit(INTERRUPTED)
    return Output(report, probe_text)


def _progress_watch(total: int, line: Callable[[str], None] | None) -> Watch:
    told = False

    def watch(done: int, awaited: int | None) -> None:
        nonlocal told
        waits = f"stopping once {counted(awaited or 0, 'call')} in flight have ended; Ctrl-C ends it at once"
        if line is not None:
            line(f"{done:,} of {total:,}" + ("" if awaited is None else f", {waits}"))
        elif awaited is not None and not told:
            told = True
            say(f"  {waits[:1].upper()}{waits[1:]}.")

    return watch


def _announce_plan(planned: ProbingPlan) -> None:
    probes, companions = counted(planned.probes, "probe"), counted(planned.companions, "companion")
    say(f"{probes} and {companions} on {counted(len(planned.rows), 'question')}.")
    if planned.calls is not None:
        say(f"  About {counted(planned.calls, 'call')} to model servers; stored replies are reused.")


def _list_accepted(project: Project, verifier: str, families: tuple[str, ...], as_json: bool) -> None:
    from workbench.runs.probes import accepted

    found = accepted(project, verifier, families)
    if as_json:
        print_lines(found)
        return
    for one in found:
        _show_accepted(one)


def _show_accepted(one: AcceptedProbe) -> None:
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


@click.group(name="template", cls=LazyGroup, package="workbench.app.cli", commands=WITHIN["template"])
def template_command() -> None:
    """Show and check the prompt templates of judges."""


class CheckOptions(Options, frozen=True, kw_only=True):
    file: Annotated[Path, argument("FILE", folder=True)]
    asked: Annotated[
        str | None,
        option(
            "Task of the prompt, if it is a published prompt that asks for something other than a verdict.",
            "--for",
            choices=("types", *get_args(Asked)),
        ),
    ] = None


@verb
def check_command(options: CheckOptions) -> Output:
    """Check a prompt before it is used: placeholders, the resulting request, and the parser of the reply.

    FILE is a template or a rubric (TOML), a prompt as a paper prints it (.txt), or a prompt from your copy of
    VerifyBench's repository (w_ref.txt, wo_ref.txt): the result says whether its bytes are those of the release. A file
    named after a role of MCTS-Judge's search (analyse.txt, assess.toml …) belongs to that role; in a folder all such
    files are checked. For a prompt that asks for something other than a verdict use --for. Nothing is sent.

    workbench template check figure-13.txt --for tests
    """
    if options.asked == "types":
        from workbench.benchmarks.curating.types import checked_type_prompt

        return Output(checked_type_prompt(options.file), template_lines)
    if options.asked is not None:
        from workbench.coding.checking import checked_prompt

        return Output(checked_prompt(options.file, cast("Asked", options.asked)), template_lines)
    if options.file.is_dir():
        return Output(checked_folder(options.file), lambda found: chain.from_iterable(map(template_lines, found)))
    return Output(checked_template(options.file), template_lines)


class ShowOptions(Options, frozen=True, kw_only=True):
    settings: VerifierSettings = NONE_GIVEN


@verb(json=False)
def show_command(options: ShowOptions) -> None:
    """Print the template that a judge with these options uses, as a starting point for your own.

    workbench template show -o strategy=ice-score -o variant=cot
    """
    click.echo(text_of(options.settings), nl=False)


class WhatIfCommandOptions(WhatIfOptions, frozen=True, kw_only=True):
    limit: Annotated[int, option("Maximum number of changed verdicts to list.", ge=0)] = NAMED
    form: TableForm = TableForm()


@verb
def what_if_command(project: Project, options: WhatIfCommandOptions) -> Output:
    """Show which verdicts other options of a verifier would change.

    No calls are made. If replies are missing, the command estimates their cost; try --sample 20 --ask first. Exit code
    3: it ended before every item was judged.
    """
    found = trusting(lambda yes: what_if(project, structs.replace(options, trust=yes)), options.trust)
    if options.save is not None:
        run = trusting(lambda yes: save(project, options, trust=yes), options.trust)
        say(f"Run {run.run} of {run.verifier} is {run.state}: workbench runs DB show {run.run}")
    report = found.named(options.limit)
    code = REFUSED_SOME if report.trouble else 0
    return Output(report, lambda report: what_if_as(report, options.form), code=code)
