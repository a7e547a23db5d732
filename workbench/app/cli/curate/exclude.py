"""``workbench curate DB exclude ID… --reason CODE``, ``--undo``, ``--list`` and ``--candidates``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.curate.common import ScopeDataset, ScopeSource, scope_of
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.label import EXCLUSION_REASONS
from workbench.core.options import By, Options, argument, option
from workbench.measuring.records.curation import CandidateQuestion, OutQuestion

if TYPE_CHECKING:
    from workbench.core.project import Project


class CurateExcludeOptions(Options, frozen=True, kw_only=True):
    ids: Annotated[tuple[str, ...], argument("[QUESTION_ID]…")] = ()
    dataset: ScopeDataset = None
    source: ScopeSource = None
    reason: Annotated[
        str | None,
        option(
            "Why they are out: " + "; ".join(f"{code}: {text}" for code, text in EXCLUSION_REASONS.items()),
            choices=tuple(EXCLUSION_REASONS),
        ),
    ] = None
    note: Annotated[str, option("What else there is to say; needed with --reason other.", metavar="TEXT")] = ""
    by: By = "coordinator"
    candidates: Annotated[bool, option("List questions that a rule or a model finds unsuitable, with why.")] = False
    accept: Annotated[bool, option("With --candidates: take out what is listed, each for its reason.")] = False
    listing: Annotated[bool, option("List every question that is out: why, and who said so.", "--list")] = False
    undo: Annotated[bool, option("Take questions in again: those named, or all with that --reason.")] = False


@verb(within=True)
def command(project: Project, options: CurateExcludeOptions) -> Output:
    """Take questions out of the pool, or list those that are out.

    workbench curate DB exclude --candidates

    workbench curate DB exclude --candidates --reason proof --accept --by amira

    workbench curate DB exclude q3 q7 --reason unanswerable --by amira

    They are never drawn, and stay in the database. Items of them are taken out of tables with: workbench exclude
    """
    _check(options)
    scope = scope_of(options.dataset, options.source)
    from workbench.benchmarks.curating import exclusion

    if options.listing:
        return Output(exclusion.out_questions(project, scope, options.reason), _out_lines)
    if options.candidates and not options.accept:
        return Output(list(exclusion.candidate_questions(project, scope, options.reason)), _candidate_lines)
    if options.undo:
        done = exclusion.restore(
            project, scope, ids=options.ids, reason=options.reason, note=options.note, by=options.by
        )
    elif options.accept:
        done = exclusion.accept(project, scope, reason=options.reason, note=options.note, by=options.by)
    else:
        done = exclusion.exclude(
            project,
            options.ids,
            reason=str(options.reason),
            note=options.note,
            by=options.by,
            dataset=options.dataset,
        )
    return Output(
        done,
        lambda found: [
            f"{found.excluded:,} taken out, {found.restored:,} taken in again, {found.unchanged:,} unchanged"
        ],
    )


def _check(options: CurateExcludeOptions) -> None:
    if sum((options.candidates, options.listing, options.undo)) > 1:
        raise UsageError("Give one of --candidates, --list and --undo.", "See: workbench curate DB exclude --help")
    if options.accept and not options.candidates:
        raise UsageError("--accept goes with --candidates.")
    if options.ids and (options.candidates or options.listing):
        raise UsageError("--candidates and --list name questions themselves.", "Leave the ids out.")
    if not (options.candidates or options.listing or options.undo or (options.ids and options.reason)):
        raise UsageError("Say which questions, and why they go out.", "Write: ID… --reason CODE, or --candidates")


def _out_lines(found: Sequence[OutQuestion]) -> Iterator[str]:
    for one in found:
        like = f"like {one.of} ({one.similarity:.3f})" if one.of and one.similarity is not None else ""
        yield "\t".join((one.question_id, one.reason, one.by, one.note or like))
    yield f"{len(found):,} out"


def _candidate_lines(found: Sequence[CandidateQuestion]) -> Iterator[str]:
    for one in found:
        yield "\t".join((one.question_id, one.reason, one.by, one.why))
    yield f"{len(found):,} found; a person decides"
