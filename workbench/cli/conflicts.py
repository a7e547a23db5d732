"""``workbench conflicts DB list | settle | undo --as NAME``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.common import (
    REFUSED_SOME,
    database_argument,
    json_option,
    print_json,
    project_at,
    say,
    selection_of,
    show,
)
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.services.labelling.conflict_classes import ClassRow, ConflictClasses, Settled
    from workbench.services.labelling.rulings import Ruling


@click.command()
@database_argument
@click.argument("verb", type=click.Choice(["list", "settle", "undo"]), default="list")
@click.option("--as", "person", required=True, metavar="NAME", help="Whose conflicts: those this person may settle.")
@click.option("--class", "name", metavar="CLASS", help="Conflicts of this kind, such as correct/incorrect or A1/A7.")
@click.option(
    "--where",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Only these of the kind (repeated = and). Fields: completion_id, question_id, dataset.",
)
@click.option("--verdict", type=click.Choice(["correct", "incorrect", "unsuitable"]), help="Settle so.")
@click.option("--reason", metavar="REASON", help="Why unsuitable: proof, open_ended, bad_reference, …")
@click.option("--subtype", metavar="CODE", help="Settle the answer type so, such as A7.")
@click.option("--note", default="", help="A note on every decision.")
@json_option
def command(
    database: str,
    verb: str,
    person: str,
    name: str | None,
    where: tuple[str, ...],
    verdict: Any,
    reason: str | None,
    subtype: str | None,
    note: str,
    as_json: bool,
) -> None:
    """List conflicts by kind, and settle many alike.

    list shows how many there are of each kind, and with --class the items with both sides, without names. settle
    decides all of one kind, or those that --where picks; what has changed
    meanwhile or is not this person's to settle is left out and listed (exit code 3). undo takes the last decision
    back, on however many it was taken.

    workbench conflicts DB --as chen

    workbench conflicts DB settle --as chen --class correct/incorrect --where completion_id=c7 --verdict correct
    """
    from workbench.services.labelling.conflict_classes import ConflictClasses
    from workbench.services.labelling.rulings import Ruling

    ruling = Ruling(verdict=verdict, reason=reason, subtype=subtype, note=note)
    if verb != "settle" and ruling != Ruling():
        raise UsageError("A decision is given to settle.", "Write: workbench conflicts DB settle --as NAME --class …")
    with project_at(database) as project:
        session = ConflictClasses(project, person)
        if verb == "undo":
            _undo(session, as_json)
        elif verb == "settle":
            _settle(session, name, where, ruling, as_json)
        else:
            _list(session, name, where, as_json)


def _list(session: ConflictClasses, name: str | None, where: tuple[str, ...], as_json: bool) -> None:
    if where and name is None:
        raise UsageError("--where picks items of a kind.", "Name the kind, too: --class correct/incorrect")
    classes = session.classes()
    items: list[ClassRow] = []
    if name is not None:
        opened = session.open(name)
        items = session.rows(opened, session.among(opened, selection_of(where).conditions))
        classes = [kind for kind in classes if kind.name == name]
    if as_json:
        found = [
            {"class": kind.name, "task": kind.task, "values": kind.values, "conflicts": kind.count} for kind in classes
        ]
        print_json({"as": session.person.name, "classes": found, "items": items})
        return
    for kind in classes:
        show(f"{kind.count:>7,}  {kind.name}")
    if not classes:
        show(f"There is no conflict for {session.person.name} to settle.")
    for row in items:
        show(f"{row.completion_id}\treference {row.reference or '(none found)'}\tcompletion {row.answer or '(none)'}")
        for side in row.sides:
            unsure = f", {side.unsure} unsure" if side.unsure else ""
            show(f"  {side.value} ({side.count}{unsure})" + "".join(f"  {said}" for said in side.notes))


def _settle(session: ConflictClasses, name: str | None, where: tuple[str, ...], ruling: Ruling, as_json: bool) -> None:
    if name is None:
        raise UsageError("Which kind of conflicts?", "Name it: --class correct/incorrect (list shows the kinds).")
    opened = session.open(name)
    chosen = session.among(opened, selection_of(where).conditions)
    if not chosen:
        raise UsageError(f"No conflict {name} is meant by {' and '.join(where)}.", "list --class shows the items.")
    done: Settled = session.settle(opened, chosen, ruling)
    if as_json:
        print_json(done)
    else:
        show(f"{done.settled} settled, {len(done.left_out)} left out")
    for left in done.left_out:
        say(f"{left.completion_id}: {left.why}")
    if done.left_out:
        sys.exit(REFUSED_SOME)


def _undo(session: ConflictClasses, as_json: bool) -> None:
    count = session.undo()
    print_json({"undone": count}) if as_json else show(f"{count} decisions taken back")
