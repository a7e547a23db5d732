"""``workbench conflicts DB list | settle | undo --as NAME``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.common import REFUSED_SOME, selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import Options, argument, option
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.labelling.conflict_classes import ClassRow, ConflictClass, ConflictClasses, Settled
    from workbench.labelling.rulings import Ruling


class ConflictsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["list", "settle", "undo"], argument()] = "list"
    person: Annotated[str, option("Whose conflicts: those this person may settle.", "--as", metavar="NAME")]
    name: Annotated[
        str | None, option("Conflicts of this kind, such as correct/incorrect or A1/A7.", "--class", metavar="CLASS")
    ] = None
    where: Annotated[
        tuple[str, ...],
        option(
            "Only these of the kind (repeated = and). Fields: completion_id, question_id, dataset.",
            metavar="FIELD=VALUE",
        ),
    ] = ()
    verdict: Annotated[Literal["correct", "incorrect", "unsuitable"] | None, option("Settle so.")] = None
    reason: Annotated[str | None, option("Why unsuitable: proof, open_ended, bad_reference, …", metavar="REASON")] = (
        None
    )
    subtype: Annotated[str | None, option("Settle the answer type so, such as A7.", metavar="CODE")] = None
    note: Annotated[str, option("A note on every decision.")] = ""


@verb
def command(project: Project, options: ConflictsOptions) -> Output:
    """List conflicts by kind, and settle many alike.

    list shows how many there are of each kind, and with --class the items with both sides, without names. settle
    decides all of one kind, or those that --where picks; what has changed
    meanwhile or is not this person's to settle is left out and listed (exit code 3). undo takes the last decision
    back, on however many it was taken.

    workbench conflicts DB --as chen

    workbench conflicts DB settle --as chen --class correct/incorrect --where completion_id=c7 --verdict correct
    """
    from workbench.labelling.conflict_classes import ConflictClasses
    from workbench.labelling.rulings import Ruling

    ruling = Ruling(verdict=options.verdict, reason=options.reason, subtype=options.subtype, note=options.note)
    if options.verb != "settle" and ruling != Ruling():
        raise UsageError("A decision is given to settle.", "Write: workbench conflicts DB settle --as NAME --class …")
    session = ConflictClasses(project, options.person)
    if options.verb == "undo":
        count = session.undo()
        return Output({"undone": count}, lambda _: [f"{count} decisions taken back"])
    if options.verb == "settle":
        return _settle(session, options, ruling)
    return _list(session, options)


def _list(session: ConflictClasses, options: ConflictsOptions) -> Output:
    name = options.name
    if options.where and name is None:
        raise UsageError("--where picks items of a kind.", "Name the kind, too: --class correct/incorrect")
    classes = session.classes()
    items: list[ClassRow] = []
    if name is not None:
        opened = session.open(name)
        items = session.rows(opened, session.among(opened, selection_of(options.where).conditions))
        classes = [kind for kind in classes if kind.name == name]
    found = [
        {"class": kind.name, "task": kind.task, "values": kind.values, "conflicts": kind.count} for kind in classes
    ]
    person = session.person.name
    return Output(
        {"as": person, "classes": found, "items": items}, lambda _: (*_kind_lines(classes, person), *_item_lines(items))
    )


def _kind_lines(classes: Sequence[ConflictClass], person: str) -> Iterator[str]:
    for kind in classes:
        yield f"{kind.count:>7,}  {kind.name}"
    if not classes:
        yield f"There is no conflict for {person} to settle."


def _item_lines(items: Sequence[ClassRow]) -> Iterator[str]:
    for row in items:
        yield f"{row.completion_id}\treference {row.reference or '(none found)'}\tcompletion {row.answer or '(none)'}"
        for side in row.sides:
            unsure = f", {side.unsure} unsure" if side.unsure else ""
            yield f"  {side.value} ({side.count}{unsure})" + "".join(f"  {said}" for said in side.notes)


def _settle(session: ConflictClasses, options: ConflictsOptions, ruling: Ruling) -> Output:
    name = options.name
    if name is None:
        raise UsageError("Which kind of conflicts?", "Name it: --class correct/incorrect (list shows the kinds).")
    opened = session.open(name)
    chosen = session.among(opened, selection_of(options.where).conditions)
    if not chosen:
        meant = " and ".join(options.where)
        raise UsageError(f"No conflict {name} is meant by {meant}.", "list --class shows the items.")
    done: Settled = session.settle(opened, chosen, ruling)
    return Output(
        done,
        lambda found: [f"{found.settled} settled, {len(found.left_out)} left out"],
        after=[f"{left.completion_id}: {left.why}" for left in done.left_out],
        code=REFUSED_SOME if done.left_out else 0,
    )
