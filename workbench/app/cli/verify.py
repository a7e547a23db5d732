"""``workbench verify DB VERIFIER``."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping
from typing import Annotated, Any

import click

from workbench.app.cli.common import REFUSED_SOME, options_of, say, selection_of, trusting
from workbench.app.cli.following import follow
from workbench.app.cli.usage_text import estimate_words, usage_words
from workbench.app.cli.verb import Output, verb
from workbench.core.options import (
    AllowUnsafe,
    Database,
    FirstItems,
    Options,
    Trust,
    VerifierSettings,
    Where,
    Workers,
    argument,
    option,
)
from workbench.core.project import Project
from workbench.core.run import ACTIVE, RunInfo
from workbench.core.selection import Selection
from workbench.core.text.inert import inert
from workbench.core.text.timeouts import timeout_words


class VerifyOptions(Options, frozen=True, kw_only=True):
    database: Database
    verifier: Annotated[str, argument()] = "rules"
    settings: VerifierSettings = ()
    name: Annotated[str | None, option("The name of this configuration; the verifier's own by default.")] = None
    where: Where = ()
    limit: FirstItems = None
    workers: Workers = None
    retry_timeouts: Annotated[bool, option("Judge the items again that had no more time.")] = False
    ask_again: Annotated[
        bool,
        option("Take the verdicts on these items back and ask the model servers anew, whatever replies are stored."),
    ] = False
    detach: Annotated[bool, option("Start it and return; `workbench runs DB` shows it.")] = False
    trust: Trust = False
    allow_unsafe: AllowUnsafe = False


@verb
def command(project: Project, options: VerifyOptions) -> Output:
    """Run a verifier (`rules` unless you name another) over the items; running it again resumes.

    Stored verdicts are never repeated, and stored replies of the same server are not asked for again. The work is
    done by a background process: Ctrl-C leaves it going, and so does closing the terminal. Exit code 3: the run paused
    by itself, such as when its server refuses all calls, or every item ended in an error.
    """
    from workbench.runs.run_costs import estimate
    from workbench.runs.verifying import start, verdict_counts

    began = time.monotonic()
    selection = selection_of(options.where, options.limit)
    chosen = options_of(options.settings)
    expected = estimate(project, options.verifier, chosen, options.name, selection)
    if expected is not None and expected.items:
        say(estimate_words(expected))
    info = trusting(
        lambda yes: start(
            project,
            options.verifier,
            chosen,
            options.name,
            selection,
            options.workers,
            yes,
            options.allow_unsafe,
            retry_timeouts=options.retry_timeouts,
            ask_again=options.ask_again,
        ),
        options.trust,
    )
    if not info.selected:
        say("No items match.")
    ended = info if options.detach else follow(project, info, options.database)
    verdicts = verdict_counts(project, info.run, selection)
    reused = (info.reused or 0) + _judged_by_stored_replies(ended) - _judged_by_stored_replies(info)
    report = {
        "run": info.run,
        "verifier": info.verifier,
        "items": info.selected,
        "verdicts": verdicts,
        "seconds": round(time.monotonic() - began, 3),
        "reused": reused,
        "timeouts": ended.timeouts or {},
        "state": ended.state,
    }
    after, code = ([], 0) if options.detach and ended.state in ACTIVE else _after(ended, verdicts, options.database)
    return Output(report, lambda _: _show(ended, report, selection), after=after, code=code)


def _show(ended: RunInfo, report: dict[str, Any], selection: Selection) -> None:
    counts = ", ".join(f"{number} {word}" for word, number in report["verdicts"].items())
    click.echo(inert(f"Run {ended.run} of {ended.verifier} is {ended.state}: {report['items']} items ({selection})"))
    click.echo(f"  {counts}; {report['reused']} were stored before")
    if ended.timeouts:
        say(f"  {timeout_words(ended.timeouts)}; --retry-timeouts judges them again")
    if ended.usage is not None:
        click.echo("  " + "; ".join(usage_words(ended.usage)))
        for warning in ended.usage.warnings:
            say(f"  Warning: {warning}")


def _after(ended: RunInfo, verdicts: Mapping[Any, int], database: str) -> tuple[list[str], int]:
    """What is said of a run that is over, and the exit code."""
    failed = verdicts["error"]
    said = [f"  Error: {words}" for words in ended.failures] if failed else []
    runs = f"workbench runs {shlex.quote(database)} resume {ended.run}"
    if ended.state != "complete":
        said += [ended.message or f"Run {ended.run} is {ended.state}.", f"  Go on with it: {runs}"]
        return said, REFUSED_SOME if ended.state == "paused" and ended.message else 1
    if failed and failed == sum(verdicts.values()):
        return [*said, f"Every item ended in an error. Judge them again: {runs} --retry-errors"], REFUSED_SOME
    return said, 0


def _judged_by_stored_replies(info: RunInfo) -> int:
    return info.usage.items_reused if info.usage else 0
