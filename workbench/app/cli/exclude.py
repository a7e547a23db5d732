"""``workbench exclude DB --where … --reason CODE``, ``--undo``, ``--list`` and ``--candidates``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.common import required_selection, selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.label import EXCLUSION_REASONS, ExcludedItem
from workbench.core.options import By, Limit, Options, Where, option

if TYPE_CHECKING:
    from workbench.core.project import Project
    from workbench.labelling.excluded import CandidateItem


class ExcludeOptions(Options, frozen=True, kw_only=True):
    where: Where = ()
    limit: Limit = None
    reason: Annotated[
        str | None,
        option(
            "Why nobody could judge them: " + "; ".join(f"{code}: {text}" for code, text in EXCLUSION_REASONS.items()),
            choices=tuple(EXCLUSION_REASONS),
        ),
    ] = None
    note: Annotated[str, option("What else there is to say; needed with --reason other.", metavar="TEXT")] = ""
    by: By = "coordinator"
    undo: Annotated[bool, option("Lift what coordinators have excluded.")] = False
    listing: Annotated[bool, option("List every excluded item: why, and who said so.", "--list")] = False
    candidates: Annotated[bool, option("List items that a rule takes for unsuitable, each with why.")] = False


@verb
def command(project: Project, options: ExcludeOptions) -> Output:
    """Take items out of every table, or list those that are out.

    Items leave the benchmark when two people call them unsuitable, when the third person does, or here.

    workbench exclude DB --candidates

    workbench exclude DB --where question_id=q3 --reason proof
    """
    if sum((options.reason is not None, options.undo, options.listing, options.candidates)) != 1:
        raise UsageError("Give one of --reason, --undo, --list and --candidates.", "See: workbench exclude --help")
    from workbench.labelling import coordinating, excluded

    if options.listing:
        return Output(excluded.excluded_items(project, selection_of(options.where, options.limit)), _excluded_lines)
    if options.candidates:
        found = list(excluded.candidate_items(project, selection_of(options.where, options.limit)))
        return Output(found, _candidate_lines)
    selection = required_selection(options.where, options.limit)
    if options.reason is None:
        lifted = coordinating.lift(project, selection, note=options.note, by=options.by)
        return Output(lifted, lambda done: [f"{done.lifted} lifted, {done.skipped} skipped"])
    done = coordinating.exclude(project, selection, reason=options.reason, note=options.note, by=options.by)
    return Output(done, lambda done: [f"{done.excluded} excluded, {done.skipped} skipped"])


def _excluded_lines(found: Sequence[ExcludedItem]) -> Iterator[str]:
    for item in found:
        notes = "; ".join(filter(None, item.notes))
        yield "\t".join((item.completion_id, item.reason, item.how, ", ".join(item.people), notes))
    yield f"{len(found)} excluded"


def _candidate_lines(found: Sequence[CandidateItem]) -> Iterator[str]:
    for item in found:
        yield "\t".join((item.completion_id, item.reason, item.why))
    yield f"{len(found)} found by rule; a person decides"
