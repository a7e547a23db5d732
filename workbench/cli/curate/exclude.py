"""``workbench curate DB exclude ID… --reason CODE``, ``--undo``, ``--list`` and ``--candidates``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli.common import by_option, json_option, print_json, project_at, show
from workbench.cli.curate.common import scope_of, scope_options
from workbench.errors import UsageError
from workbench.model.label import EXCLUSION_REASONS

if TYPE_CHECKING:
    from workbench.model.curation import PoolChanged, Scope
    from workbench.services.project import Project


@click.command()
@click.argument("ids", nargs=-1, metavar="[QUESTION_ID]…")
@scope_options
@click.option(
    "--reason",
    type=click.Choice(list(EXCLUSION_REASONS)),
    help="Why they are out: " + "; ".join(f"{code}: {text}" for code, text in EXCLUSION_REASONS.items()),
)
@click.option("--note", default="", metavar="TEXT", help="What else there is to say; needed with --reason other.")
@by_option
@click.option("--candidates", is_flag=True, help="List questions that a rule or a model finds unsuitable, with why.")
@click.option("--accept", is_flag=True, help="With --candidates: take out what is listed, each for its reason.")
@click.option("--list", "listing", is_flag=True, help="List every question that is out: why, and who said so.")
@click.option("--undo", is_flag=True, help="Take questions in again: those named, or all with that --reason.")
@json_option
@click.pass_obj
def command(
    database: str,
    ids: tuple[str, ...],
    dataset: str | None,
    source: str | None,
    reason: str | None,
    note: str,
    by: str,
    candidates: bool,
    accept: bool,
    listing: bool,
    undo: bool,
    as_json: bool,
) -> None:
    """Take questions out of the pool, or list those that are out.

    workbench curate DB exclude --candidates

    workbench curate DB exclude --candidates --reason proof --accept --by amira

    workbench curate DB exclude q3 q7 --reason unanswerable --by amira

    They are never drawn, and stay in the database. Items of them are taken out of tables with: workbench exclude
    """
    _check(ids, reason, candidates=candidates, accept=accept, listing=listing, undo=undo)
    scope = scope_of(dataset, source)
    with project_at(database) as project:
        if listing:
            _list(project, scope, reason, as_json)
        elif candidates and not accept:
            _list_candidates(project, scope, reason, as_json)
        else:
            from workbench.services.curating import exclusion

            if undo:
                done = exclusion.restore(project, scope, ids=ids, reason=reason, note=note, by=by)
            elif accept:
                done = exclusion.accept(project, scope, reason=reason, note=note, by=by)
            else:
                done = exclusion.exclude(project, ids, reason=str(reason), note=note, by=by, dataset=dataset)
            _told(done, as_json)


def _check(
    ids: tuple[str, ...], reason: str | None, *, candidates: bool, accept: bool, listing: bool, undo: bool
) -> None:
    if sum((candidates, listing, undo)) > 1:
        raise UsageError("Give one of --candidates, --list and --undo.", "See: workbench curate DB exclude --help")
    if accept and not candidates:
        raise UsageError("--accept goes with --candidates.")
    if ids and (candidates or listing):
        raise UsageError("--candidates and --list name questions themselves.", "Leave the ids out.")
    if not (candidates or listing or undo or (ids and reason)):
        raise UsageError("Say which questions, and why they go out.", "Write: ID… --reason CODE, or --candidates")


def _told(done: PoolChanged, as_json: bool) -> None:
    if as_json:
        print_json(done)
    else:
        show(f"{done.excluded:,} taken out, {done.restored:,} taken in again, {done.unchanged:,} unchanged")


def _list(project: Project, scope: Scope, reason: str | None, as_json: bool) -> None:
    from workbench.services.curating.exclusion import out_questions

    found = out_questions(project, scope, reason)
    if as_json:
        print_json(found)
        return
    for one in found:
        like = f"like {one.of} ({one.similarity:.3f})" if one.of and one.similarity is not None else ""
        show("\t".join((one.question_id, one.reason, one.by, one.note or like)))
    show(f"{len(found):,} out")


def _list_candidates(project: Project, scope: Scope, reason: str | None, as_json: bool) -> None:
    from workbench.services.curating.exclusion import candidate_questions

    found = list(candidate_questions(project, scope, reason))
    if as_json:
        print_json(found)
        return
    for one in found:
        show("\t".join((one.question_id, one.reason, one.by, one.why)))
    show(f"{len(found):,} found; a person decides")
