"""``workbench sets``, ``publish`` and ``build``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import click

from workbench.app.cli import LazyGroup
from workbench.app.cli.common import database_argument, key_and_value, say, selection_of, show
from workbench.app.cli.verb import Output, verb
from workbench.benchmarks.records import Publication
from workbench.benchmarks.set_text import changed_lines, diff_lines, flip_lines, left_out_lines, report_lines
from workbench.core.options import Options, Protocol, SeedNumber, Where, Whole, argument, option
from workbench.core.project import Project
from workbench.core.sets import Fill, FinalGold, Preset, SetName, SetReport
from workbench.core.text.figures import NONE, aligned, counted

if TYPE_CHECKING:
    from workbench.benchmarks.records import SetDetail, SetLine


_NAMES = {"list": 0, "show": 1, "diff": 2}


class SetsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[str, argument(choices=tuple(_NAMES))] = "list"
    names: Annotated[tuple[str, ...], argument("[NAME[@VERSION]]…")] = ()


@verb
def sets_command(project: Project, options: SetsOptions) -> Output:
    """List frozen sets, show one with all that is known of it, or compare two.

    workbench sets DB show hard

    workbench sets DB diff hard@1 hard@2

    A set has the gold and the answer types that stood when it was frozen. Items of one are chosen with --where
    set=NAME in every command that takes --where.
    """
    if len(options.names) != _NAMES[options.verb]:
        raise click.UsageError("Write: workbench sets DB list, show NAME or diff A B")
    if options.verb == "diff":
        from workbench.benchmarks.building.comparing import set_diff

        return Output(set_diff(project, *options.names), diff_lines)
    from workbench.benchmarks.building.comparing import every_set, set_detail

    if options.verb == "show":
        return Output(set_detail(project, options.names[0]), _show)
    return Output(every_set(project), _list)


def _list(found: list[SetLine]) -> None:
    if not found:
        say("There is no set yet: workbench build DB picks | balanced | hard")
        return
    head = ("set", "kind", "questions", "tuples", "decided", "waiting", "conflict", "short", "digest", "frozen")
    _lines(aligned([head, *map(_row, found)], left=(0, 1, 8, 9)).split("\n"))
    for one in found:
        if other := one.changed["gold"]:
            say(f"{one.full_name}: {other:,} items have another gold now.")


def _lines(lines: Iterable[str]) -> None:
    for line in lines:
        show(line)


def _row(one: SetLine) -> tuple[str, ...]:
    people = (NONE,) * 3 if one.progress is None else tuple(f"{count:,}" for count in one.progress)
    size = (f"{one.questions:,}", f"{one.tuples:,}")
    return one.full_name, one.kind, *size, *people, f"{one.short:,}", one.digest[:12], one.created_at


def _show(detail: SetDetail) -> None:
    _lines(report_lines(detail.report))
    show(f"frozen {detail.set.created_at} by version {detail.set.code_version}" + _guideline(detail))
    for key, value in detail.config.items():
        show(f"{key}: {value}")
    _lines(flip_lines(detail.flips))
    _lines(left_out_lines(detail.report))
    for line in changed_lines(detail.changed):
        say(line)


def _guideline(detail: SetDetail) -> str:
    return f", guidelines {detail.set.guideline}" if detail.set.guideline else ""


# -- ``workbench publish DB SET… FOLDER``


class PublishOptions(Options, frozen=True, kw_only=True):
    sets: Annotated[tuple[str, ...], argument("SET…")]
    folder: Annotated[Path, argument("FOLDER", output="file", folder=True)]
    title: Annotated[str | None, option("What the card calls it; by default the sets' names.", metavar="TEXT")] = None
    licence: Annotated[
        str | None,
        option(
            "Of labels, selection and card, such as cc-by-4.0; sources keep their own.",
            "--licence",
            "--license",
            metavar="NAME",
        ),
    ] = None
    languages: Annotated[
        tuple[str, ...], option("ISO 639 code, such as en (repeatable).", "--language", metavar="CODE")
    ] = ()
    protocol: Protocol = "forced"
    names: Annotated[bool, option("Annotators' names instead of pseudonyms.")] = False
    force: Annotated[bool, option("Replace a folder that was published, and that nobody has touched since.")] = False


@verb
def publish_command(project: Project, options: PublishOptions) -> Output:
    """Write frozen sets into a folder: items, labels, data card, leaderboard, checksums.

    SET is NAME or NAME@VERSION of a balanced or hard set. Each becomes a configuration that Hugging Face's datasets
    loads: load_dataset(FOLDER, NAME). What is written is what stood when the set was frozen. The same database gives
    the same bytes.
    """
    from workbench.benchmarks.publishing.gathering import PublishingOptions
    from workbench.benchmarks.publishing.publishing import PublisherCard, publish

    found = publish(
        project,
        [SetName.parse(text) for text in options.sets],
        options.folder,
        card=PublisherCard(title=options.title, licence=options.licence, languages=options.languages),
        asked=PublishingOptions(protocol=options.protocol, names=options.names),
        force=options.force,
    )
    for note in found.notes:
        say(note)
    return Output(found, lambda found: _show_published(found, click.format_filename(options.folder)))


def _show_published(found: Publication, folder: str) -> None:
    for one in found.sets:
        say(
            f"{one.name}@{one.version}: {counted(one.tuples, 'completion')} of {counted(one.questions, 'question')}, "
            f"{counted(one.labels, 'label')}, {counted(one.verifiers, 'verifier')}"
        )
    click.echo(f"{len(found.files)} files, {found.bytes:,} bytes written to {folder}")


# -- ``workbench build DB``: sets in the manner of VerifyBench.


COMMANDS: dict[str, tuple[str, str]] = {
    "picks": ("sets", "Of each question 2 + 2 completions by a judge's verdicts, for people to label."),
    "balanced": ("sets", "So many questions of each type, each with one correct and one incorrect completion."),
    "hard": ("sets", "What judges are split on, labelled by people."),
}
"""Command name -> (module in this package, one line of help)."""


@click.group(name="build", cls=LazyGroup, package="workbench.app.cli", commands=COMMANDS)
@database_argument
@click.pass_context
def build_command(context: click.Context, database: str) -> None:
    """Build sets in the manner of VerifyBench; each is frozen under a name and used with --where set=NAME.

    workbench build DB picks --judge NAME

    workbench build DB balanced --where set=picks --quota verifybench

    workbench build DB hard --judge A --judge B --judge C

    The same call again gives the same set. A set of that name with other members is refused, unless --new-version
    freezes it beside the earlier one. List, show and compare them with: workbench sets DB
    """
    context.obj = database


# -- What the commands of ``workbench build`` share.


SetTitle = Annotated[str, option("What the set is called.", "--name")]
DryRun = Annotated[bool, option("Show what it would be, and write nothing.")]
NewVersion = Annotated[bool, option("Freeze it beside an earlier one that differs.")]
FinalGoldChoice = Annotated[
    FinalGold, option("Whose labels count: what people agreed on or a third person gave; or the file's.")
]
DrawSeed = Annotated[SeedNumber, option("Of the draws.", "--seed")]


def built(report: SetReport, *, dry_run: bool, more: Iterable[str] = ()) -> Output:
    """What came of building a set, and what comes next.

    Args:
        more: Lines that only this kind of set has.
    """
    after = ["Nothing was written (--dry-run)."] if dry_run else [f"Next: {report.next}"] if report.next else []
    return Output(report, lambda found: (*report_lines(found), *more), after=after)


# -- ``workbench build DB balanced``


_PRESETS = get_args(Preset)


class BuildingBalancedOptions(Options, frozen=True, kw_only=True):
    where: Where = ()
    per_type: Annotated[Whole | None, option("Questions of each type.  [default: 250]")] = None
    quota: Annotated[
        str | None,
        option(
            "Divide each type among its subtypes: as in the paper, evenly, as they are there, or by a TOML file.",
            metavar=f"[{'|'.join(_PRESETS)}|FILE]",
        ),
    ] = None
    cap_source: Annotated[Whole | None, option("At most N questions of one source.", metavar="N")] = None
    cap_model: Annotated[Whole | None, option("At most N completions of one model.", metavar="N")] = None
    fill: Annotated[
        Fill, option("Who gives more where a subtype is short: nobody, other subtypes of its type, other types too.")
    ] = "none"
    gold: FinalGoldChoice = "people"
    seed: DrawSeed = 0
    name: SetTitle = "balanced"
    dry_run: DryRun = False
    new_version: NewVersion = False


@verb(within=True)
def balanced_command(project: Project, options: BuildingBalancedOptions) -> Output:
    """Build a balanced set: so many questions of each type, each with one correct and one incorrect completion.

    Exact, or a shortfall for each type and subtype with why; nothing is taken from elsewhere unless --fill says so.

    workbench build DB balanced --where set=picks --quota verifybench

    A file of quotas says how many questions of each subtype, or of a type as a whole:

    \b
    [questions]
    A1 = 32
    "B4 - Set" = 25
    """
    from workbench.benchmarks.building.balanced import BalancedTargets, build_balanced

    file = None if options.quota is None or options.quota in _PRESETS else Path(options.quota)
    if file is not None and not file.is_file():
        raise click.BadParameter(f"It is neither a file nor one of: {', '.join(_PRESETS)}.", param_hint="--quota")
    report = build_balanced(
        project,
        BalancedTargets(
            per_type=options.per_type,
            quota=None if file else cast("Preset", options.quota),
            file=file,
            cap_source=options.cap_source,
            cap_model=options.cap_model,
            fill=options.fill,
            gold=options.gold,
        ),
        name=options.name,
        selection=selection_of(options.where),
        seed=options.seed,
        dry_run=options.dry_run,
        new_version=options.new_version,
    )
    return built(report, dry_run=options.dry_run)


# -- ``workbench build DB hard``


class BuildingHardOptions(Options, frozen=True, kw_only=True):
    judges: Annotated[
        tuple[str, ...], option("A verifier that votes (an odd number of them).", "--judge", metavar="NAME")
    ] = ()
    runs: Annotated[
        tuple[str, ...], option("A judge's run; else its newest complete one.", "--run", metavar="NAME=N")
    ] = ()
    minority: Annotated[Whole | None, option("Judges on the weaker side.  [default: 2]")] = None
    annotate: Annotated[Whole | None, option("Items for people to label.  [default: 2000]")] = None
    final: Annotated[Whole, option("Tuples of the set.")] = 1000
    where: Where = ()
    gold: FinalGoldChoice = "people"
    partial: Annotated[bool, option("Freeze the set though some items still wait for labels.")] = False
    seed: Annotated[SeedNumber | None, option("Of the draws.  [default: 0]")] = None
    name: SetTitle = "hard"
    dry_run: DryRun = False
    new_version: NewVersion = False


@verb(within=True)
def hard_command(project: Project, options: BuildingHardOptions) -> Output:
    """Build a hard set: items that judges are split on, labelled by people. Goes as far as the labels allow.

    The first call freezes the queue NAME-queue: items with as many judges on the weaker side as --minority says, by
    verdicts of all of them (an abstention is no vote), divided among domains and sources. Have people label it:

    workbench assign DB --where set=hard-queue …

    The same call once that is done freezes the set, without what people called unsuitable. The judges are marked in
    every table from the queue on.
    """
    from workbench.benchmarks.building.hard import HardSetOptions, build_hard

    report = build_hard(
        project,
        HardSetOptions(
            judges=options.judges,
            runs=_runs(options.runs),
            minority=options.minority,
            annotate=options.annotate,
            final=options.final,
            selection=selection_of(options.where) if options.where else None,
            seed=options.seed,
            gold=options.gold,
            partial=options.partial,
        ),
        name=options.name,
        dry_run=options.dry_run,
        new_version=options.new_version,
    )
    return built(report, dry_run=options.dry_run)


def _runs(texts: tuple[str, ...]) -> dict[str, int]:
    found = {}
    for text in texts:
        name, number = key_and_value(text, "--run")
        if not number.isdecimal() or len(number) > 18:
            raise click.BadParameter(f"{number!r} is no run's number.", param_hint="--run")
        found[name] = int(number)
    return found


# -- ``workbench build DB picks --judge NAME``


class BuildingPicksOptions(Options, frozen=True, kw_only=True):
    judge: Annotated[str, option("The verifier whose verdicts decide.", metavar="NAME")]
    run: Annotated[Whole | None, option("Its run; by default the newest complete one.")] = None
    each: Annotated[Whole, option("How many of either verdict.")] = 2
    where: Where = ()
    seed: DrawSeed = 0
    name: SetTitle = "picks"
    dry_run: DryRun = False
    new_version: NewVersion = False


@verb(within=True)
def picks_command(project: Project, options: BuildingPicksOptions) -> Output:
    """Of each question pick completions for people to label: two that a judge calls correct, two incorrect.

    An abstention or an error counts as neither. Questions that lack either are counted, not passed over in silence.

    workbench build DB picks --judge llama-judge --where set=draw
    """
    from workbench.benchmarks.building.picks import build_picks

    report = build_picks(
        project,
        options.judge,
        name=options.name,
        run=options.run,
        each=options.each,
        selection=selection_of(options.where),
        seed=options.seed,
        dry_run=options.dry_run,
        new_version=options.new_version,
    )
    return built(report, dry_run=options.dry_run)
