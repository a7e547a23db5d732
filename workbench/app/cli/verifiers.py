"""``workbench verifiers``, ``verify``, ``judge-file`` and ``runs``."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
import msgspec

from workbench.app.cli.common import (
    REFUSED_SOME,
    cluster_at,
    confirmed,
    follow,
    run_trusted,
    say,
    say_nodes,
    unended,
)
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import (
    NONE_GIVEN,
    AllowUnsafe,
    Database,
    FirstItems,
    Force,
    OnCluster,
    Options,
    Trust,
    VerifierSettings,
    VerifierTitle,
    Where,
    Whole,
    Workers,
    argument,
    option,
    run_job,
)
from workbench.core.project import Project
from workbench.core.run import ACTIVE, RunCosts, RunInfo, VerifierInfo
from workbench.core.selection import Selection, selection_of
from workbench.core.text.figures import counted, listed, some
from workbench.core.text.inert import inert
from workbench.core.text.run_words import LEVELS, estimate_words, run_line, run_lines, timeout_words, usage_words

if TYPE_CHECKING:
    from workbench.interchange.judging_files import JudgedFiles
    from workbench.runs.run_status import Removal


@verb
def verifiers_command(project: Project) -> Output:
    """List the available verifiers, their options, and their names in this project."""
    from workbench.runs.verifying import kinds, settings_problems

    found = kinds(project)
    for problem in settings_problems(project):
        say(str(problem))
    return Output(found, _verifier_lines)


def _verifier_lines(found: Sequence[VerifierInfo]) -> Iterator[str]:
    for kind in found:
        text = f"can't be used: {kind.broken}" if kind.broken else kind.description
        yield f"{kind.name}  {kind.version or ''}  {text}"
        for name, meaning in kind.options.items():
            yield f"    -o {name}=…  {meaning}"
        for verifier in kind.configured:
            given = {name: value for name, value in verifier.options.items() if name in kind.options}
            yield f"    as {verifier.name}: {_options_text(given)}"
        for entry in kind.written:
            yield f"    as {entry.name} in workbench.toml: {_options_text(entry.options)}"


def _options_text(options: dict[str, str]) -> str:
    return " ".join(f"-o {name}={value}" for name, value in options.items()) or "default options"


# -- ``workbench verify DB VERIFIER``


class VerifyOptions(Options, frozen=True, kw_only=True):
    database: Database
    verifier: Annotated[str, argument()] = "rules"
    settings: VerifierSettings = NONE_GIVEN
    name: VerifierTitle = None
    where: Where = ()
    limit: FirstItems = None
    workers: Workers = None
    retry_timeouts: Annotated[bool, option("Judge items again that timed out.")] = False
    ask_again: Annotated[
        bool,
        option("Delete the stored verdicts on these items, and call the model servers or run the solutions again."),
    ] = False
    batch: Annotated[
        bool,
        option(
            "Use the provider's batch API, at half the price and with results within a day (OpenAI, "
            "Anthropic, Gemini, Mistral)."
        ),
    ] = False
    cluster: OnCluster = None
    detach: Annotated[
        bool, option("Start the run in the background and return; `workbench runs DB` shows its progress.")
    ] = False
    trust: Trust = False
    allow_unsafe: AllowUnsafe = False


@verb
def verify_command(project: Project, options: VerifyOptions) -> Output:
    """Run a verifier (`rules` by default) over the items; the same command resumes it.

    Items with a stored verdict are not judged again, and stored replies of the same server are reused. A background
    process does the work: it continues after Ctrl-C or when the terminal is closed. Exit code 3: the run paused by
    itself, for example because its server denies all calls, or every item ended in an error.
    """
    from workbench.runs.run_status import estimate
    from workbench.runs.verdict_files import verdict_counts
    from workbench.runs.verifying import start

    began = time.monotonic()
    selection = selection_of(options.where, options.limit)
    chosen = options.settings
    expected = estimate(project, options.verifier, chosen, options.name, selection, in_batches=options.batch)
    if expected is not None and expected.items:
        say(estimate_words(expected))
    more = {"selection": selection, "in_batches": options.batch, "on": options.cluster}
    info = run_trusted(start, options, project, options.verifier, chosen, **more)
    if not info.selected:
        say("No items match.")
    ended = info if options.detach else follow(project, info, options.database)
    verdicts = verdict_counts(project, info.run, selection)
    by_replies = [one.usage.items_reused if one.usage else 0 for one in (ended, info)]
    report = {
        "run": info.run,
        "verifier": info.verifier,
        "items": info.selected,
        "verdicts": verdicts,
        "seconds": round(time.monotonic() - began, 3),
        "reused": (info.reused or 0) + by_replies[0] - by_replies[1],
        "timeouts": ended.timeouts or {},
        "state": ended.state,
    }
    after, code = (
        ([], 0) if options.detach and ended.state in ACTIVE else _narration_and_code(ended, verdicts, options.database)
    )
    return Output(report, lambda _: _show_ended_run(ended, report, selection), after=after, code=code)


def _show_ended_run(ended: RunInfo, report: dict[str, Any], selection: Selection) -> None:
    counts = ", ".join(f"{number} {word}" for word, number in report["verdicts"].items())
    click.echo(inert(f"Run {ended.run} of {ended.verifier} is {ended.state}: {report['items']} items ({selection})"))
    click.echo(f"  {counts}; {report['reused']} were stored before")
    if ended.timeouts:
        say(f"  {timeout_words(ended.timeouts)}; --retry-timeouts judges them again")
    if ended.usage is not None:
        click.echo("  " + "; ".join(usage_words(ended.usage)))
        for warning in ended.usage.warnings:
            say(f"  Warning: {warning}")


def _narration_and_code(ended: RunInfo, verdicts: Mapping[Any, int], database: str) -> tuple[list[str], int]:
    failed = verdicts["error"]
    said = [f"  Warning: {ended.untested}."] if ended.untested else []
    said += [f"  Error: {words}" for words in ended.failures] if failed else []
    if why := unended(ended, database):
        return said + why, REFUSED_SOME if ended.state == "paused" and ended.message else 1
    runs = f"workbench runs {shlex.quote(database)} resume {ended.run}"
    if failed and failed == sum(verdicts.values()):
        return [*said, f"Every item ended in an error. Judge them again: {runs} --retry-errors"], REFUSED_SOME
    return [*said, f"  Judge those again: {runs} --retry-errors"] if failed else said, 0


# -- ``workbench runs DB [list|show|pause|cancel|resume|delete]``


class RunsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["list", "show", "pause", "cancel", "resume", "delete"], argument()] = "list"
    run: Annotated[
        Whole | None, argument(words=dict.fromkeys(("show", "pause", "cancel", "resume", "delete"), "RUN"))
    ] = None
    retry_errors: Annotated[bool, option('With resume: judge items again whose verdict is "error".', only="resume")] = (
        False
    )
    retry_timeouts: Annotated[bool, option("With resume: judge items again that timed out.", only="resume")] = False
    yes: Annotated[bool, option("With delete: don't ask for confirmation.", only="delete")] = False
    retry_unread: Annotated[
        bool, option("With resume: repeat model calls whose reply had no verdict.", only="resume")
    ] = False
    trust: Trust = False
    allow_unsafe: AllowUnsafe = False


@verb
def runs_command(project: Project, options: RunsOptions) -> Output | None:
    """List runs, or show, pause, cancel, resume or delete one by its number.

    delete removes a run's verdicts with their evidence from all metrics; only a backup can restore them. Replies of
    model servers are kept and reused. A run is not deleted if it is active, if its verdicts selected a frozen set, or
    if reviewers' decisions refer to them.
    """
    from workbench.runs import verifying
    from workbench.runs.run_status import runs

    run, action = options.run, options.verb
    if run is None:
        return Output(runs(project), _list_runs)
    if action == "delete":
        return _delete_run(project, run, options.yes)
    if action == "resume":
        run_trusted(verifying.resume, options, project, run)
    elif action in ("pause", "cancel"):
        (verifying.pause if action == "pause" else verifying.cancel)(project, run)
        verifying.wait_for_request(project, run)
    return _run_output(project, action, run)


def _list_runs(found: Sequence[RunInfo]) -> None:
    for info in found:
        click.echo(run_line(info))
    if not found:
        click.echo("There are no runs yet. Start one: workbench verify DB VERIFIER")


def _delete_run(project: Project, run: int, yes: bool) -> Output:
    from workbench.runs.run_status import delete, removal

    found = removal(project, run)
    counts = ", ".join(f"{count:,} {words}" for words, count in found.removes.items()) or "no verdicts"
    say(
        f"Run {run} of {found.verifier}: {counts}. This can't be undone. To make a copy first: workbench backup DB FILE"
    )
    if not (yes or confirmed("Delete it?")):
        raise UsageError("Nothing was deleted.", "Confirm it with --yes.")
    return Output(delete(project, run), _show_deleted)


def _show_deleted(found: Removal) -> None:
    click.echo(inert(f"Run {found.run} of {found.verifier} is deleted."))
    if found.next_run is None:
        say(f"  {found.verifier} has no complete run any more: metrics leave it out.")
    else:
        say(f"  Metrics of {found.verifier} now come from run {found.next_run}.")


def _run_output(project: Project, verb: str, run: int) -> Output:
    from workbench.runs.run_status import run_costs, run_info

    info = run_info(project, run)
    costs = run_costs(project, info)
    return Output(
        {**msgspec.to_builtins(info), **msgspec.to_builtins(costs)},
        lambda _: _show_run(info, costs, whole=verb == "show"),
    )


def _show_run(info: RunInfo, costs: RunCosts, *, whole: bool) -> None:
    click.echo(run_line(info))
    if not whole:
        return
    again = "Resume it with --retry-errors to judge those items again."
    for line in run_lines(info, costs, after_timeouts=": resume it with --retry-timeouts", after_errors=again):
        click.echo(inert(f"  {line}"))
    if costs.ambiguous:
        click.echo("  calls that may have been charged although no reply came:")
    calls = [
        f"attempt {one.attempt}  {one.sent_at}  {one.completion_id or 'no item'}  {one.url}" for one in costs.ambiguous
    ]
    for line in some(calls):
        click.echo(inert(f"    {line}"))


class JudgeFileOptions(Options, frozen=True, kw_only=True):
    source: Annotated[Path, argument("IN", exists=True, folder=True)]
    target: Annotated[Path, argument("OUT", output="file")]
    verifier: Annotated[str, option("Verifier to run: `execution`, or one that needs only texts.", metavar="NAME")] = (
        "rules"
    )
    settings: VerifierSettings = NONE_GIVEN
    maps: Annotated[
        tuple[str, ...],
        option("Read FIELD from COLUMN, such as completion=response (repeatable).", "--map", metavar="FIELD=COLUMN"),
    ] = ()
    prefix: Annotated[str, option("Prefix of the names of the added columns, such as rules_.", metavar="TEXT")] = ""
    workers: Workers = None
    on: OnCluster = None
    force: Force = False


@verb
def judge_file_command(options: JudgeFileOptions) -> Output:
    """Judge the rows of a file without a database.

    IN is JSON Lines or Parquet; OUT has all its rows with the additional columns verdict, score and reason. The
    verdicts are those of `workbench verify` over the same rows. Memory is constant for any number
    of rows.

    With --verifier execution a row's completion is run in the sandbox, against the tests in its column tests,
    ground_truth, reward_model, input_output or test_list (--map reference=COLUMN names another one). Additional columns
    are outcomes (one letter per test), forgeable (passes that only the sandboxed process reports) and isolation (its
    level). With --on, the nodes of a Ray cluster do the work, with identical output.

    OUT appears when all rows are judged; a run over a database continues after an interruption. Rejected rows are in
    _OUT.refused.jsonl, with file, line, field and reason; the exit code is then 3.
    """
    from workbench.data.formats.fields import parse_map
    from workbench.interchange.judging_files import judge_files

    cluster = cluster_at(options.on)
    done = run_job(
        judge_files,
        options,
        options.source,
        options.target,
        options.verifier,
        options.settings,
        columns=parse_map(options.maps),
        on=cluster,
    )
    say_nodes(cluster)
    return Output(done, _report_lines, code=REFUSED_SOME if done.refused else 0)


def _report_lines(done: JudgedFiles) -> Iterator[str]:
    said = ", ".join(f"{number:,} {word}" for word, number in sorted(done.verdicts.items())) or "none"
    yield f"{done.output}: {counted(done.rows, 'row')} by {done.verifier} {done.version}: {said}"
    if done.isolation is not None:
        yield f"  isolated at level {done.isolation} ({LEVELS[done.isolation]})"
    if done.forgeable:
        yield f"  of the correct ones {done.forgeable:,} with passes that could be forged (forgeable > 0)"
    if done.errors:
        reasons = listed([f"{count:,} {reason}" for reason, count in sorted(done.errors.items())])
        yield f"  {'not run' if done.isolation else 'errors'}: {reasons}"
    if done.refused:
        yield f"  {counted(done.refused, 'row')} could not be judged: {', '.join(done.refusals)}"
