"""``workbench exclude DB --where … --reason CODE``, ``--undo``, ``--list`` and ``--candidates``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli.common import (
    by_option,
    database_argument,
    json_option,
    limit_option,
    print_json,
    project_at,
    required_selection,
    selection_of,
    show,
    where_option,
)
from workbench.errors import UsageError
from workbench.model.label import EXCLUSION_REASONS

if TYPE_CHECKING:
    from workbench.model.selection import Selection
    from workbench.services.project import Project


@click.command()
@database_argument
@where_option
@limit_option
@click.option(
    "--reason",
    type=click.Choice(list(EXCLUSION_REASONS)),
    help="Why nobody could judge them: " + "; ".join(f"{code}: {text}" for code, text in EXCLUSION_REASONS.items()),
)
@click.option("--note", default="", metavar="TEXT", help="What else there is to say; needed with --reason other.")
@by_option
@click.option("--undo", is_flag=True, help="Lift what coordinators have excluded.")
@click.option("--list", "listing", is_flag=True, help="List every excluded item: why, and who said so.")
@click.option("--candidates", is_flag=True, help="List items that a rule takes for unsuitable, each with why.")
@json_option
def command(
    database: str,
    where: tuple[str, ...],
    limit: int | None,
    reason: str | None,
    note: str,
    by: str,
    undo: bool,
    listing: bool,
    candidates: bool,
    as_json: bool,
) -> None:
    """Take items out of every table, or list those that are out.

    Items leave the benchmark when two people call them unsuitable, when the third person does, or here.

    workbench exclude DB --candidates

    workbench exclude DB --where question_id=q3 --reason proof
    """
    if sum((reason is not None, undo, listing, candidates)) != 1:
        raise UsageError("Give one of --reason, --undo, --list and --candidates.", "See: workbench exclude --help")
    with project_at(database) as project:
        if listing:
            _list(project, selection_of(where, limit), as_json)
        elif candidates:
            _list_candidates(project, selection_of(where, limit), as_json)
        else:
            _change(project, required_selection(where, limit), reason, note, by, as_json)


def _change(project: Project, selection: Selection, reason: str | None, note: str, by: str, as_json: bool) -> None:
    from workbench.services.labelling import coordinating

    if reason is None:
        lifted = coordinating.lift(project, selection, note=note, by=by)
        print_json(lifted) if as_json else show(f"{lifted.lifted} lifted, {lifted.skipped} skipped")
        return
    done = coordinating.exclude(project, selection, reason=reason, note=note, by=by)
    print_json(done) if as_json else show(f"{done.excluded} excluded, {done.skipped} skipped")


def _list(project: Project, selection: Selection, as_json: bool) -> None:
    from workbench.services.labelling import excluded

    found = excluded.excluded_items(project, selection)
    if as_json:
        print_json(found)
        return
    for item in found:
        notes = "; ".join(filter(None, item.notes))
        show("\t".join((item.completion_id, item.reason, item.how, ", ".join(item.people), notes)))
    show(f"{len(found)} excluded")


def _list_candidates(project: Project, selection: Selection, as_json: bool) -> None:
    from workbench.services.labelling import excluded

    found = list(excluded.candidate_items(project, selection))
    if as_json:
        print_json(found)
        return
    for item in found:
        show("\t".join((item.completion_id, item.reason, item.why)))
    show(f"{len(found)} found by rule; a person decides")
