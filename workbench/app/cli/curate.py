"""``workbench curate DB``: from a pool of questions to a fixed number per type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from workbench.app.cli import LazyGroup
from workbench.app.cli.common import (
    ExclusionNote,
    ExclusionReason,
    ModelSettings,
    asked,
    database_argument,
    failed_calls,
    key_and_value,
    model_option,
    print_lines,
    say,
    say_calls,
    show,
)
from workbench.app.cli.sets import built
from workbench.app.cli.verb import Output, verb
from workbench.app.verbs import WITHIN
from workbench.benchmarks.options import DrawOptions
from workbench.core.errors import UsageError
from workbench.core.options import BY, NONE_GIVEN, By, Options, Trust, argument, option, require_one, run_job
from workbench.core.project import Project
from workbench.core.text.figures import NONE, aligned, percent, some
from workbench.measuring.records.curation import (
    COUNTING,
    CandidateQuestion,
    OutQuestion,
    PoolStatus,
    Scope,
)
from workbench.tables.table import aligned_rows

if TYPE_CHECKING:
    from workbench.measuring.records.curation import DuplicatesReport, TypesProposed, TypesReport


@click.group(name="curate", cls=LazyGroup, package="workbench.app.cli", commands=WITHIN["curate"])
@database_argument
@click.pass_context
def curate_command(context: click.Context, database: str) -> None:
    """Curate a pool of questions: duplicates, exclusions, answer types, and a draw of a fixed number per type.

    Questions come in with: workbench import DB questions.jsonl (docs/curation.md).

    workbench curate DB exclude --candidates

    workbench curate DB duplicates

    workbench curate DB types --model NAME -o base_url=http://…/v1

    workbench curate DB draw --per-type 2000
    """
    context.obj = database


# -- What the commands of ``workbench curate`` share.


def counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{word} {count:,}" for word, count in counts.items()) or "none"


# -- ``workbench curate DB status``


class CurateStatusOptions(Options, frozen=True, kw_only=True):
    scope: Scope = Scope()


@verb(within=True)
def status_command(project: Project, options: CurateStatusOptions) -> Output:
    """Count the pool by source: licence, exclusions, types, draws.

    A question's type is the one that annotators gave, else the one in the file, else a model's proposal.
    """
    from workbench.benchmarks.curating.types import pool_status

    status = pool_status(project, options.scope)
    return Output(status, _show_status)


def _show_status(status: PoolStatus) -> None:
    from workbench.benchmarks.curating.types import SOURCES

    click.echo(aligned_rows(SOURCES, (*status.sources, status.total)))
    show()
    show(f"Out: {counted(status.total.excluded)}")
    show(f"Origin of types: {counted(status.total.origins)}")
    for name, n in status.total.drawn.items():
        show(f"Drawn for {name}: {n:,}")
    if status.stale:
        say(f"{status.stale:,} duplicates of an excluded question: see workbench curate DB duplicates --undo")


# -- ``workbench curate DB licence SOURCE LICENCE``


class CurateLicenceOptions(Options, frozen=True, kw_only=True):
    source: Annotated[str | None, argument()] = None
    licence: Annotated[str | None, argument()] = None
    as_published: Annotated[
        bool, option("For each VerifyBench source without a licence, set the licence from table 7 of the paper.")
    ] = False


@verb(within=True)
def licence_command(project: Project, options: CurateLicenceOptions) -> Output:
    """Set a source's licence if its files name none, or a wrong one.

    workbench curate DB licence math_reasoning/GSM8K MIT

    workbench curate DB licence --as-published
    """
    if options.as_published != (options.source is None) or (options.source is None) != (options.licence is None):
        raise UsageError("Write: SOURCE LICENCE, or --as-published.", "See: workbench curate DB licence --help")
    if options.source is None or options.licence is None:
        from workbench.benchmarks.presets import licence_lines, license_as_published

        return Output(license_as_published(project), licence_lines)
    from workbench.benchmarks.curating.pool import set_licence

    known = set_licence(project, options.source, options.licence)
    return Output({"source": options.source, "licence": known}, lambda _: [f"{options.source}: {known or 'unknown'}"])


# -- ``workbench curate DB exclude ID… --reason CODE``, ``--undo``, ``--list`` and ``--candidates``


class CurateExcludeOptions(Options, frozen=True, kw_only=True):
    ids: Annotated[tuple[str, ...], argument("[QUESTION_ID]…")] = ()
    scope: Scope = Scope()
    reason: ExclusionReason = None
    note: ExclusionNote = ""
    by: By = BY
    candidates: Annotated[bool, option("List questions that a rule or a model finds unsuitable, with the reasons.")] = (
        False
    )
    accept: Annotated[
        bool,
        option("With --candidates: exclude the listed questions, each for its listed reason.", needs="candidates"),
    ] = False
    listing: Annotated[bool, option("List every excluded question, with reason and author.", "--list")] = False
    undo: Annotated[
        bool, option("Include excluded questions again: the named ones, or all that were excluded for this --reason.")
    ] = False


@verb(within=True)
def exclude_command(project: Project, options: CurateExcludeOptions) -> Output:
    """Exclude questions from the pool, or list those that are excluded.

    workbench curate DB exclude --candidates

    workbench curate DB exclude --candidates --reason proof --accept --by amira

    workbench curate DB exclude q3 q7 --reason unanswerable --by amira

    Excluded questions are never drawn, and stay in the database. To exclude their items from tables: workbench exclude
    """
    require_one(options, "candidates", "listing", "undo", optional=True)
    if options.ids and (options.candidates or options.listing):
        raise UsageError("--candidates and --list select the questions themselves.", "Leave the ids out.")
    if not (options.candidates or options.listing or options.undo or (options.ids and options.reason)):
        raise UsageError("Name the questions and the reason.", "Write: ID… --reason CODE, or --candidates")
    scope = options.scope
    from workbench.benchmarks.curating import pool

    if options.listing:
        return Output(pool.out_questions(project, scope, options.reason), _out_lines)
    if options.candidates and not options.accept:
        return Output(list(pool.candidate_questions(project, scope, options.reason)), _candidate_lines)
    if options.undo:
        done = run_job(pool.restore, options, project)
    elif options.accept:
        done = run_job(pool.exclude_candidates, options, project)
    else:
        done = run_job(pool.exclude, options, project)
    return Output(
        done,
        lambda found: [
            f"{found.excluded:,} excluded, {found.restored:,} included again, {found.unchanged:,} unchanged"
        ],
    )


def _out_lines(found: Sequence[OutQuestion]) -> Iterator[str]:
    for one in found:
        like = f"like {one.of} ({one.similarity:.3f})" if one.of and one.similarity is not None else ""
        yield "\t".join((one.question_id, one.reason, one.by, one.note or like))
    yield f"{len(found):,} out"


def _candidate_lines(found: Sequence[CandidateQuestion]) -> Iterator[str]:
    for one in found:
        yield "\t".join((one.question_id, one.reason, one.by, one.why))
    yield f"{len(found):,} found; a person decides"


# -- ``workbench curate DB duplicates``


class CurateDuplicatesOptions(Options, frozen=True, kw_only=True):
    scope: Scope = Scope()
    threshold: Annotated[
        float, option("Minimum similarity of duplicates: the share of common shingles.", gt=0, le=1)
    ] = 0.7
    shingle: Annotated[int, option("Length of a shingle: its number of words and numbers.", ge=1, le=20)] = 2
    pairs: Annotated[bool, option("List each duplicate together with the question that is kept instead.")] = False
    dry_run: Annotated[bool, option("Show what would be excluded without writing anything.")] = False
    undo: Annotated[bool, option("Include all excluded duplicates again.")] = False
    by: By = BY


@verb(within=True)
def duplicates_command(project: Project, options: CurateDuplicatesOptions) -> Output:
    """Find duplicate questions, within a source and across sources, and exclude them.

    Spaces, case, punctuation and LaTeX layout don't matter. Numbers, operators and variables do: questions that differ
    in a number are all kept. Questions that differ in other words are kept, too, unless their reference answers are
    equal and distinctive. Of several duplicates, the one with the most metadata is kept; if these are equal, the first
    by data set and id. Nothing is deleted; --undo includes the excluded questions again.
    """
    from workbench.benchmarks.curating.duplicates import find_duplicates, take_in_again

    scope = options.scope
    if options.undo:
        restored = take_in_again(project, scope, by=options.by)
        return Output({"restored": restored}, lambda _: [f"{restored:,} duplicates are included again"])

    report = find_duplicates(
        project,
        scope,
        threshold=options.threshold,
        shingle=options.shingle,
        by=options.by,
        dry_run=options.dry_run,
        with_pairs=options.pairs,
    )
    return Output(report, _print_duplicates, after=["Nothing was written (--dry-run)."] if options.dry_run else ())


def _print_duplicates(report: DuplicatesReport) -> None:
    rows = [(one.source, f"{one.before:,}", f"{one.after:,}") for one in report.sources]
    left = report.questions - report.duplicates
    click.echo(aligned([("source", "before", "after"), *rows, ("all", f"{report.questions:,}", f"{left:,}")]))
    show()
    how = f"shingles of {report.shingle}, {report.threshold:g}"
    show(
        f"{report.duplicates:,} duplicates ({how}), {report.across:,} of them of a question of another source; "
        f"{report.excluded:,} excluded"
    )
    for pair in report.pairs or ():
        show(f"{pair.similarity:.3f}\t{pair.question_id} ({pair.source})\tis similar to {pair.of} ({pair.of_source})")


# -- ``workbench curate DB types --model NAME``, ``--set QUESTION=SUBTYPE`` and ``--list``


class CurateTypesOptions(Options, frozen=True, kw_only=True):
    scope: Scope = Scope()
    model: Annotated[str | None, model_option("Model that proposes types")] = None
    settings: ModelSettings = NONE_GIVEN
    name: Annotated[str | None, option("Name under which the proposals are stored.  [default: the model's name]")] = (
        None
    )
    template: Annotated[
        Path | None,
        option(
            "Prompt file to use, such as your copy of a published prompt, with the "
            "placeholders {question} and {answer}.",
            metavar="FILE",
            needs="model",
        ),
    ] = None
    untyped: Annotated[
        bool, option("Have the model propose types only for questions without a type.", needs="model")
    ] = False
    said: Annotated[
        tuple[str, ...],
        option("Set the type of a question, such as q7=A1 (repeatable).", "--set", metavar="QUESTION=SUBTYPE"),
    ] = ()
    accept: Annotated[
        Literal["people", "model"] | None,
        option(
            "Accept unconfirmed types, so that they count everywhere: people accepts types that one annotator gave; "
            "model accepts the newest proposals for questions without a type.  [people if no value is given]",
            bare="people",
        ),
    ] = None
    by: By = BY
    listing: Annotated[bool, option("Print the newest proposals, one JSON line per question.", "--list")] = False
    trust: Trust = False


@verb(within=True)
def types_command(project: Project, options: CurateTypesOptions) -> Output | None:
    """Have a model propose answer types, set types yourself, accept proposals, or list them.

    A type counts, in accuracy and elsewhere, if it was in the imported file, if two annotators agreed on it, or if a
    third person decided it. One annotator's type and a model's proposal are kept separately; they are used by draws
    without --confirmed, and count elsewhere after --accept. A proposal is not a label: annotators don't see it. To
    import a file of annotators' types: workbench labels DB import FILE, one line per type {"question_id": …,
    "annotator": …, "answer_subtype": "A1"}. To list questions for which a model finds no type: workbench curate DB
    exclude --candidates
    """
    require_one(options, "model", "said", "listing", "accept", optional=True)
    scope = options.scope
    if options.model is not None:
        return _propose_types(project, options.model, options, scope)
    if options.said:
        return _store_stated_types(project, options)
    from workbench.benchmarks.curating.types import accept_types, proposals, types_report

    if options.accept is not None:
        taken = accept_types(project, scope, options.accept, by=options.by)
        told = some([f"{one['field']}: {one['message']}" for one in taken.refusals])
        return Output(taken, lambda found: [f"{found.imported:,} accepted: they count from now on."]).lacking(*told)
    if not options.listing:
        return Output(types_report(project, scope), _print_types)
    print_lines(proposals(project))
    return None


def _propose_types(project: Project, model: str, options: CurateTypesOptions, scope: Scope) -> Output:
    from workbench.benchmarks.curating.types import USUAL, propose_types
    from workbench.runs.generation import models_from

    models = models_from(project, [model], options.settings, USUAL)
    name = options.name or model
    work = partial(propose_types, project, name, models, scope, template=options.template)
    report = asked(partial(work, untyped_only=options.untyped), options.trust)
    say_calls(project, report.run)
    return Output(report, _proposed_lines).lacking(failed_calls(report.failed))


def _proposed_lines(report: TypesProposed) -> Iterator[str]:
    yield f"{report.asked:,} questions sent ({report.name}, run {report.run})"
    yield f"proposed: {counted(report.proposed)}"
    yield f"none of the four types: {counted(report.outside)}; unreadable: {report.unreadable:,}"


def _store_stated_types(project: Project, options: CurateTypesOptions) -> Output:
    from workbench.benchmarks.curating.types import PersonType, say_types

    pairs = [key_and_value(text, "--set") for text in options.said]
    said = [PersonType(question_id=key, subtype=subtype) for key, subtype in pairs]
    report = say_types(project, said, by=options.by, dataset=options.scope.dataset)
    told = some([f"{pairs[int(str(one['line'])) - 1][0]}: {one['message']}" for one in report.refusals])
    text = f"{report.imported} set, {report.unchanged} unchanged, {report.refused} rejected"
    return Output(report, lambda _: [text]).lacking(*told)


def _print_types(report: TypesReport) -> None:
    counts = {word: count for word, count in report.origins.items() if word in COUNTING}
    apart = {word: count for word, count in report.origins.items() if word not in COUNTING}
    show(f"{report.questions:,} questions; the types of {report.counting:,} count: {counted(counts)}")
    show(f"others: {counted(apart)}")
    if report.alone:
        instead = "" if report.origins.get("one person") else " instead of their file"
        show(f"To accept {report.alone:,} types by one annotator{instead}: workbench curate DB types --accept")
    if proposed := report.origins.get("model"):
        show(f"To accept {proposed:,} types that a model proposed: workbench curate DB types --accept model")
    for one in report.proposals:
        show(f"{one.verifier} (run {one.run}): {one.suggested:,} of {one.questions:,} questions with a proposal")
        subtype = NONE if one.accuracy is None else percent(one.accuracy)
        letter = NONE if one.type_accuracy is None else percent(one.type_accuracy)
        share = f"{letter} of {one.compared:,} by type"
        show(f"  as annotators or files: {subtype} of {one.subtyped:,} by subtype, {share}")


# -- ``workbench curate DB draw --per-type N``


@verb(within=True)
def draw_command(project: Project, options: DrawOptions) -> Output:
    """Draw a fixed number of questions per type, and freeze them as a set; use it with --where set=NAME.

    Excluded questions are never drawn. If a type has too few questions, the shortfall is reported; it is not filled
    with other types. Adding questions to the pool changes a draw as little as possible. The same command gives the same
    set.
    """
    from workbench.benchmarks.curating.drawing import draw

    report = draw(project, options)
    more = (
        f"origin of types: {counted(report.origins)}; without a type: {counted(report.untyped)}",
        f"sources: {counted(report.sources)}",
    )
    return built(report, dry_run=options.dry_run, more=more)
