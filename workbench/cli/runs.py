"""``workbench runs DB [list|show|pause|cancel|resume|delete]``."""

from __future__ import annotations

import sys

import click
import msgspec

from workbench.cli.common import (
    database_argument,
    json_option,
    print_json,
    project_at,
    say,
    trust_option,
    trusting,
    unsafe_option,
    whole_number,
)
from workbench.cli.usage_text import amount, usage_words
from workbench.errors import UsageError
from workbench.model.calls import RunCosts
from workbench.model.run import ACTIVE, RunInfo, RunUsage
from workbench.render.inert import inert
from workbench.render.isolation import isolation_lines
from workbench.render.timeouts import timeout_words
from workbench.services.project import Project

_MOST_SHOWN = 20


@click.command()
@database_argument
@click.argument("verb", type=click.Choice(["list", "show", "pause", "cancel", "resume", "delete"]), default="list")
@click.argument("run", type=whole_number, required=False)
@click.option("--retry-errors", is_flag=True, help='With resume: judge the items with the verdict "error" again.')
@click.option("--retry-timeouts", is_flag=True, help="With resume: judge the items again that had no more time.")
@click.option("--yes", is_flag=True, help="With delete: don't ask.")
@click.option("--retry-unread", is_flag=True, help="With resume: ask again where a reply held no verdict.")
@trust_option
@unsafe_option
@json_option
def command(
    database: str,
    verb: str,
    run: int | None,
    retry_errors: bool,
    retry_timeouts: bool,
    yes: bool,
    retry_unread: bool,
    trust: bool,
    allow_unsafe: bool,
    as_json: bool,
) -> None:
    """List runs, or show, pause, cancel, resume or delete one by its number.

    delete takes a run's verdicts out of all figures, with their evidence; nothing brings them back but a backup.
    Replies of model servers stay and are used again. A run that is at work, that chose a frozen set, or that reviewers
    have decided about is not deleted.
    """
    if retry_errors and verb != "resume":
        raise click.UsageError("--retry-errors goes with resume.")
    if retry_timeouts and verb != "resume":
        raise click.UsageError("--retry-timeouts goes with resume.")
    if yes and verb != "delete":
        raise click.UsageError("--yes goes with delete.")
    if retry_unread and verb != "resume":
        raise click.UsageError("--retry-unread goes with resume.")
    if (run is None) != (verb == "list"):
        raise click.UsageError("list takes no run number." if verb == "list" else f"{verb} needs a run number.")
    with project_at(database) as project:
        if run is None:
            _list(project, as_json)
        elif verb == "delete":
            _delete(project, run, yes, as_json)
        else:
            _do(project, verb, run, retry_errors, retry_timeouts, retry_unread, trust, allow_unsafe)
            _show(project, verb, run, as_json)


def _list(project: Project, as_json: bool) -> None:
    from workbench.services.running.verifying import runs

    found = runs(project)
    if as_json:
        print_json(found)
        return
    for info in found:
        click.echo(_line(info))
    if not found:
        click.echo("There are no runs yet. Start one: workbench verify DB VERIFIER")


def _do(
    project: Project,
    verb: str,
    run: int,
    retry_errors: bool,
    retry_timeouts: bool,
    retry_unread: bool,
    trust: bool,
    allow_unsafe: bool,
) -> None:
    from workbench.services.running import verifying

    if verb == "resume":
        trusting(
            lambda yes: verifying.resume(
                project,
                run,
                trust=yes,
                retry_errors=retry_errors,
                retry_timeouts=retry_timeouts,
                retry_unread=retry_unread,
                allow_unsafe=allow_unsafe,
            ),
            trust,
        )
    elif verb in ("pause", "cancel"):
        (verifying.pause if verb == "pause" else verifying.cancel)(project, run)
        verifying.obeyed(project, run)


def _delete(project: Project, run: int, yes: bool, as_json: bool) -> None:
    from workbench.services.running.deleting import delete, removal

    found = removal(project, run)
    counts = ", ".join(f"{count:,} {words}" for words, count in found.removes.items()) or "no verdicts"
    say(f"Run {run} of {found.verifier}: {counts}. This can't be undone; a copy first: workbench backup DB FILE")
    if not yes:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError("Nothing was deleted.", "Say so with --yes.")
        if not click.confirm("Delete it?", err=True):
            say("Nothing was deleted.")
            return
    found = delete(project, run)
    if as_json:
        print_json(found)
        return
    click.echo(inert(f"Run {run} of {found.verifier} is deleted."))
    if found.next_run is None:
        say(f"  {found.verifier} has no complete run any more: figures leave it out.")
    else:
        say(f"  Figures of {found.verifier} now come from run {found.next_run}.")


def _show(project: Project, verb: str, run: int, as_json: bool) -> None:
    from workbench.services.running.run_costs import run_costs
    from workbench.services.running.verifying import run_info

    info = run_info(project, run)
    costs = run_costs(project, info)
    if as_json:
        print_json({**msgspec.to_builtins(info), **msgspec.to_builtins(costs)})
        return
    click.echo(_line(info))
    if verb == "show" and info.trouble:
        click.echo(inert(f"  {info.trouble}"))
    if verb == "show":
        for title, counts in (("verdicts", info.verdicts), ("reasons", info.reasons)):
            click.echo(inert(f"  {title}: " + (", ".join(f"{n} {word}" for word, n in (counts or {}).items()) or "–")))
        if info.timeouts:
            click.echo(f"  {timeout_words(info.timeouts)}: resume it with --retry-timeouts")
        for words in info.failures:
            click.echo(inert(f"  error: {words}"))
        for line in isolation_lines(info):
            click.echo(inert(f"  {line}"))
        if info.usage is not None:
            _show_costs(info.usage, costs)


def _show_costs(used: RunUsage, costs: RunCosts) -> None:
    click.echo(f"  spent: {amount(costs.spent)}")
    click.echo(f"  possibly spent beside: {amount(costs.possibly_spent)}")
    if costs.to_finish is not None:
        click.echo(f"  to finish: about {amount(costs.to_finish)}")
    for warning in used.warnings:
        click.echo(inert(f"  warning: {warning}"))
    if costs.ambiguous:
        click.echo("  calls that may have been paid for although no reply came:")
    for call in costs.ambiguous[:_MOST_SHOWN]:
        click.echo(inert(f"    attempt {call.attempt}  {call.sent_at}  {call.completion_id or 'no item'}  {call.url}"))
    if len(costs.ambiguous) > _MOST_SHOWN:
        click.echo(f"    and {len(costs.ambiguous) - _MOST_SHOWN} more; --json has them all")


def _line(info: RunInfo) -> str:
    done = "writes texts" if info.writes else f"{info.done:,} of {info.items:,}"
    words = [f"run {info.run}", info.verifier, info.version, info.state, done]
    if info.recorded:
        words.append("rests on recorded replies")
    if info.request:
        words.append(f"asked to {info.request}")
    if info.state in ACTIVE and not info.alive:
        # One that can't be seen from here may live.
        died = "its runner has died" if info.pid is not None else "nobody works on it"
        words.append(f"{info.waiting or died}: resume it")
    elif info.pid is not None:
        words.append(f"pid {info.pid}")
    if info.alive and info.waiting:
        words.append(info.waiting)
    if info.usage is not None:
        words.extend(usage_words(info.usage))
    if info.message:
        words.append(info.message)
    return inert("  ".join(words))
