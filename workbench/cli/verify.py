"""``workbench verify DB VERIFIER``."""

from __future__ import annotations

import shlex
import sys
import time

import click

from workbench.cli.common import (
    REFUSED_SOME,
    database_argument,
    json_option,
    option_option,
    options_of,
    print_json,
    project_at,
    say,
    selection_of,
    trust_option,
    trusting,
    unsafe_option,
    where_option,
    whole_number,
)
from workbench.cli.following import follow
from workbench.cli.usage_text import estimate_words, usage_words
from workbench.model.run import ACTIVE, RunInfo
from workbench.render.inert import inert
from workbench.render.timeouts import timeout_words


@click.command()
@database_argument
@click.argument("verifier", default="rules")
@option_option
@click.option("--name", help="The name of this configuration; the verifier's own by default.")
@where_option
@click.option("--limit", type=whole_number, help="Only the first so many of these items.")
@click.option("--workers", type=click.IntRange(1, 256), help="Worker processes; one a core by default.")
@click.option("--retry-timeouts", is_flag=True, help="Judge the items again that had no more time.")
@click.option(
    "--ask-again",
    is_flag=True,
    help="Take the verdicts on these items back and ask the model servers anew, whatever replies are stored.",
)
@click.option("--detach", is_flag=True, help="Start it and return; `workbench runs DB` shows it.")
@trust_option
@unsafe_option
@json_option
def command(
    database: str,
    verifier: str,
    options: tuple[str, ...],
    name: str | None,
    where: tuple[str, ...],
    limit: int | None,
    workers: int | None,
    retry_timeouts: bool,
    ask_again: bool,
    detach: bool,
    trust: bool,
    allow_unsafe: bool,
    as_json: bool,
) -> None:
    """Run a verifier (`rules` unless you name another) over the items; running it again resumes.

    Stored verdicts are never repeated, and stored replies of the same server are not asked for again. The work is
    done by a background process: Ctrl-C leaves it going, and so does closing the terminal. Exit code 3: the run paused
    by itself, such as when its server refuses all calls, or every item ended in an error.
    """
    from workbench.services.running.run_costs import estimate
    from workbench.services.running.verifying import start, verdict_counts

    began = time.monotonic()
    selection = selection_of(where, limit)
    with project_at(database) as project:
        chosen = options_of(options)
        expected = estimate(project, verifier, chosen, name, selection)
        if expected is not None and expected.items:
            say(estimate_words(expected))
        info = trusting(
            lambda yes: start(
                project,
                verifier,
                chosen,
                name,
                selection,
                workers,
                yes,
                allow_unsafe,
                retry_timeouts=retry_timeouts,
                ask_again=ask_again,
            ),
            trust,
        )
        if not info.selected:
            say("No items match.")
        ended = info if detach else follow(project, info, database)
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
    if as_json:
        print_json(report)
    else:
        counts = ", ".join(f"{number} {word}" for word, number in verdicts.items())
        click.echo(inert(f"Run {ended.run} of {ended.verifier} is {ended.state}: {info.selected} items ({selection})"))
        click.echo(f"  {counts}; {reused} were stored before")
        if ended.timeouts:
            say(f"  {timeout_words(ended.timeouts)}; --retry-timeouts judges them again")
        if ended.usage is not None:
            click.echo("  " + "; ".join(usage_words(ended.usage)))
            for warning in ended.usage.warnings:
                say(f"  Warning: {warning}")
    if detach and ended.state in ACTIVE:
        return
    failed = verdicts["error"]
    for words in ended.failures if failed else ():
        say(inert(f"  Error: {words}"))
    if ended.state != "complete":
        say(inert(ended.message or f"Run {ended.run} is {ended.state}."))
        say(f"  Go on with it: workbench runs {shlex.quote(database)} resume {ended.run}")
        sys.exit(REFUSED_SOME if ended.state == "paused" and ended.message else 1)
    if failed and failed == sum(verdicts.values()):
        say(
            "Every item ended in an error. Judge them again: "
            f"workbench runs {shlex.quote(database)} resume {ended.run} --retry-errors"
        )
        sys.exit(REFUSED_SOME)


def _judged_by_stored_replies(info: RunInfo) -> int:
    return info.usage.items_reused if info.usage else 0
