"""``workbench sets``, ``publish`` and ``build``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

import click

from workbench.app.cli import LazyGroup
from workbench.app.cli.common import database_argument, say, show
from workbench.app.cli.verb import Output, verb
from workbench.app.verbs import WITHIN
from workbench.benchmarks.options import (
    PRESETS,
    BalancedOptions,
    HardOptions,
    PicksOptions,
    PublishOptions,
    RandomOptions,
)
from workbench.benchmarks.records import Publication
from workbench.benchmarks.set_text import SET_COLUMNS, changed_lines, detail_lines, diff_lines, report_lines
from workbench.core.options import Options, argument
from workbench.core.project import Project
from workbench.core.sets import SetReport
from workbench.core.text.figures import counted
from workbench.tables.table import aligned_rows

if TYPE_CHECKING:
    from workbench.benchmarks.records import SetDetail, SetLine


class SetsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["list", "show", "diff"], argument()] = "list"
    names: Annotated[tuple[str, ...], argument("[NAME[@VERSION]]…", words={"show": "NAME", "diff": "A B"})] = ()


@verb
def sets_command(project: Project, options: SetsOptions) -> Output:
    """List frozen sets, show one in full, or compare two.

    workbench sets DB show hard

    workbench sets DB diff hard@1 hard@2

    A set keeps the gold and the answer types of the moment it was frozen. Its items are selected with --where set=NAME
    in every command that has --where.
    """
    from workbench.benchmarks.building.comparing import every_set, set_detail, set_diff

    if options.verb == "diff":
        return Output(set_diff(project, *options.names), diff_lines)
    if options.verb == "show":
        return Output(set_detail(project, options.names[0]), _show_set)
    return Output(every_set(project), _list_sets)


def _list_sets(found: list[SetLine]) -> None:
    if not found:
        say("There is no set yet: workbench build DB picks | balanced | hard | random")
        return
    _show_lines(aligned_rows(SET_COLUMNS, found).split("\n"))


def _show_lines(lines: Iterable[str]) -> None:
    for line in lines:
        show(line)


def _show_set(detail: SetDetail) -> None:
    _show_lines(detail_lines(detail))
    for line in changed_lines(detail.changed):
        say(line)


# -- ``workbench preset [NAME]``


class PresetOptions(Options, frozen=True, kw_only=True):
    name: Annotated[str | None, argument()] = None


@verb(json=False)
def preset_command(options: PresetOptions) -> None:
    """Print a paper's list of sources, models or judges, to start from; without NAME, list the presets.

    workbench preset verifybench-models > plan.toml
    """
    from workbench.benchmarks.presets import PRESETS, preset_text

    if options.name is not None:
        click.echo(preset_text(options.name), nl=False)
        return
    for name, about in PRESETS.items():
        show(f"{name}: {about}")


# -- ``workbench publish DB SET… FOLDER``


@verb
def publish_command(project: Project, options: PublishOptions) -> Output:
    """Write frozen sets into a folder: items, labels, data card, leaderboard, checksums.

    SET is NAME or NAME@VERSION of a balanced or hard set. Each becomes a configuration that Hugging Face's library
    datasets loads: load_dataset(FOLDER, NAME). The data is that of the moment the set was frozen. The same database
    gives the same bytes.
    """
    from workbench.benchmarks.publishing.publishing import publish

    found = publish(project, options)
    for note in found.notes:
        say(note)
    return Output(found, lambda found: _show_published(found, click.format_filename(options.folder)))


def _show_published(found: Publication, folder: str) -> None:
    for one in found.sets:
        say(
            f"{one.name}@{one.version}: {counted(one.tuples, 'completion')} of {counted(one.questions, 'question')}, "
            f"{counted(one.labels, 'label')}, {counted(one.verifiers, 'verifier')}"
        )
    click.echo(f"{counted(len(found.files), 'file')}, {found.bytes:,} bytes written to {folder}")


# -- ``workbench build DB``: sets in the manner of VerifyBench.


@click.group(name="build", cls=LazyGroup, package="workbench.app.cli", commands=WITHIN["build"])
@database_argument
@click.pass_context
def build_command(context: click.Context, database: str) -> None:
    """Build sets like VerifyBench's; each is frozen under a name and used with --where set=NAME.

    workbench build DB picks --judge NAME

    workbench build DB balanced --where set=picks --quota verifybench

    workbench build DB hard --judge A --judge B --judge C

    workbench build DB random --n 100 --seed 7

    The same command gives the same set. A set of that name with other members is rejected, unless --new-version freezes
    it as a new version. List, show and compare them with: workbench sets DB
    """
    context.obj = database


# -- What the commands of ``workbench build`` share.


def built(report: SetReport, *, dry_run: bool, more: Iterable[str] = ()) -> Output:
    """Return the report of a built set, and the next step.

    Args:
        more: Lines that only this kind of set has.
    """
    after = ["Nothing was written (--dry-run)."] if dry_run else [f"Next: {report.next}"] if report.next else []
    return Output(report, lambda found: (*report_lines(found), *more), after=after)


# -- ``workbench build DB balanced``


@verb(within=True)
def balanced_command(project: Project, options: BalancedOptions) -> Output:
    """Build a balanced set: a fixed number of questions per type, each with one correct and one incorrect completion.

    The result is exact, or reports a shortfall for each type and subtype with the reason; nothing is taken from other
    types unless --fill allows it.

    workbench build DB balanced --where set=picks --quota verifybench

    A file of quotas sets the number of questions of each subtype, or of a type as a whole:

    \b
    [questions]
    A1 = 32
    "B4 - Set" = 25
    """
    from workbench.benchmarks.building.balanced import build_balanced

    if options.file is not None and not options.file.is_file():
        raise click.BadParameter(f"It is neither a file nor one of: {', '.join(PRESETS)}.", param_hint="--quota")
    return built(build_balanced(project, options), dry_run=options.dry_run)


# -- ``workbench build DB hard``


@verb(within=True)
def hard_command(project: Project, options: HardOptions) -> Output:
    """Build a hard set: items on which judges are split, labelled by annotators.

    The first call freezes the queue NAME-queue: items on which --minority judges disagree with the majority (an
    abstention is no vote), divided among domains and sources. Have it labelled:

    workbench assign DB --where set=hard-queue …

    Once that is done, the same command freezes the set, without unsuitable items. From the queue on, every table marks
    these judges.
    """
    from workbench.benchmarks.building.hard import build_hard

    return built(build_hard(project, options), dry_run=options.dry_run)


# -- ``workbench build DB random --n N``


@verb(within=True)
def random_command(project: Project, options: RandomOptions) -> Output:
    """Draw questions at random, each with all its completions.

    With the same seed, a larger draw begins with the questions of a smaller one. Like MCTS-Judge's 100
    competition-level tasks of APPS:

    workbench build DB random --n 100 --seed 7 --where difficulty=competition
    """
    from workbench.benchmarks.building.random import build_random

    return built(build_random(project, options), dry_run=options.dry_run)


# -- ``workbench build DB picks --judge NAME``


@verb(within=True)
def picks_command(project: Project, options: PicksOptions) -> Output:
    """Pick completions of each question for annotators to label: two that a judge calls correct, two incorrect.

    An abstention or an error counts as neither. Questions that lack either kind are reported.

    workbench build DB picks --judge llama-judge --where set=draw
    """
    from workbench.benchmarks.building.picks import build_picks

    return built(build_picks(project, options), dry_run=options.dry_run)
