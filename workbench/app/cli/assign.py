"""``workbench assign DB --annotators a,b,c --per-item 2``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import click

from workbench.app.cli.common import say, selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Drawn, Options, Seed, Where, Whole, option
from workbench.core.project import Project
from workbench.statistics.records.ordering import BatchOrder, OrderName

if TYPE_CHECKING:
    from workbench.labelling.assigning import Assigned


class AssignOptions(Options, frozen=True, kw_only=True):
    annotators: Annotated[str, option("Who may claim the slots; unknown people are added.", metavar="A,B,C")]
    per_item: Annotated[int, option("How many people label each item.")] = 2
    adjudicator: Annotated[
        str | None, option("Who settles conflicts of these items; without it, any third person.", metavar="D")
    ] = None
    cap: Annotated[
        str | None,
        option("The most items a person does of this batch; a number alone holds for everybody.", metavar="A=50,B=20"),
    ] = None
    where: Where = ()
    order: Annotated[OrderName, option("What comes first; annotators never see it.")] = "random"
    verifiers: Annotated[tuple[str, ...], option("Whose verdicts decide the order.", "--verifier", metavar="NAME")] = ()
    per_subtype: Annotated[Whole | None, option("At most so many items of an answer subtype.", metavar="K")] = None
    limit: Drawn = None
    seed: Seed = 0


@verb
def command(project: Project, options: AssignOptions) -> Output:
    """Open label slots on items; a slot gets its person when somebody claims it.

    Every item is labelled by exactly --per-item different people, in a random order that is the same for all. Every
    combination of people is meant for equally many items of each source; what is meant for somebody who does not
    come is left to the others in the end.

    --limit N draws the items by chance, spread evenly over their questions, each equally likely: labels of them speak
    for all items (workbench estimate, plan). The same --seed draws the same ones, and a larger N adds to them.

    With --order disagreement those items come first on which the verifiers' newest complete runs are split most
    evenly, with --order uncertainty those of which they are least sure; --per-subtype and --limit keep the first ones.
    Labels of them are no random sample; estimate and plan say so.

    Items that are assigned already get the slots they lack, if --per-item is larger now. In any case the people named
    here may also claim what is still open on them, and in their batches; --cap sets a person's cap there anew.
    """
    from workbench.labelling import people
    from workbench.measuring.ordering import ordering_by

    if options.verifiers and options.order == "random":
        raise click.UsageError("--verifier is for --order disagreement or uncertainty.")
    by_chance = options.order == "random" and options.per_subtype is None
    wanted = BatchOrder(
        name=options.order,
        verifiers=options.verifiers,
        per_subtype=options.per_subtype,
        limit=None if by_chance else options.limit,
    )
    names = [name.strip() for name in options.annotators.split(",") if name.strip()]
    done = people.assign(
        project,
        names,
        per_item=options.per_item,
        adjudicator=options.adjudicator,
        selection=selection_of(options.where, options.limit if by_chance else None),
        caps=None if options.cap is None else _caps(options.cap),
        ordering=ordering_by(project, wanted),
        seed=options.seed,
    )
    if done.beyond_caps:
        say(f"{done.beyond_caps} slots are meant for nobody: the caps leave too few labels.")
    return Output(done, _lines)


def _lines(done: Assigned) -> Iterator[str]:
    from workbench.labelling.assigning import chosen_text

    if done.nothing:
        yield f"No slot was opened. {done.nothing}"
    else:
        yield chosen_text(done)
        yield f"{done.assigned:,} slots opened on items, {done.type_slots:,} on questions."
    if done.joined:
        yield f"{done.joined} added to batches with open slots on these items."


def _caps(text: str) -> dict[str, int] | int:
    """One number, or one for each name."""
    if _is_number(text):
        return int(text)
    caps: dict[str, int] = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        if not equals or not name.strip() or not _is_number(number):
            raise click.BadParameter("Write a number, or NAME=NUMBER,NAME=NUMBER.", param_hint="--cap")
        caps[name.strip()] = int(number)
    return caps


def _is_number(text: str) -> bool:
    """Whether a text is a number that SQLite's integers hold, too."""
    return text.strip().isdecimal() and len(text.strip()) <= 18
