"""``workbench assign DB --annotators a,b,c --per-item 2``."""

from __future__ import annotations

from typing import get_args

import click

from workbench.cli.common import (
    database_argument,
    draw_option,
    json_option,
    print_json,
    project_at,
    say,
    seed_option,
    selection_of,
    show,
    where_option,
    whole_number,
)
from workbench.model.ordering import BatchOrder, OrderName


@click.command()
@database_argument
@click.option("--annotators", required=True, metavar="A,B,C", help="Who may claim the slots; unknown people are added.")
@click.option("--per-item", default=2, show_default=True, help="How many people label each item.")
@click.option("--adjudicator", metavar="D", help="Who settles conflicts of these items; without it, any third person.")
@click.option(
    "--cap",
    metavar="A=50,B=20",
    help="The most items a person does of this batch; a number alone holds for everybody.",
)
@where_option
@click.option(
    "--order",
    type=click.Choice(get_args(OrderName)),
    default="random",
    show_default=True,
    help="What comes first; annotators never see it.",
)
@click.option("--verifier", "verifiers", multiple=True, metavar="NAME", help="Whose verdicts decide the order.")
@click.option("--per-subtype", type=whole_number, metavar="K", help="At most so many items of an answer subtype.")
@draw_option
@seed_option
@json_option
def command(
    database: str,
    annotators: str,
    per_item: int,
    adjudicator: str | None,
    cap: str | None,
    where: tuple[str, ...],
    order: OrderName,
    verifiers: tuple[str, ...],
    per_subtype: int | None,
    limit: int | None,
    seed: int,
    as_json: bool,
) -> None:
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
    from workbench.services.labelling import people
    from workbench.services.labelling.assigning import chosen_text
    from workbench.services.labelling.ordering import ordering_by

    if verifiers and order == "random":
        raise click.UsageError("--verifier is for --order disagreement or uncertainty.")
    by_chance = order == "random" and per_subtype is None
    wanted = BatchOrder(name=order, verifiers=verifiers, per_subtype=per_subtype, limit=None if by_chance else limit)
    names = [name.strip() for name in annotators.split(",") if name.strip()]
    with project_at(database) as project:
        done = people.assign(
            project,
            names,
            per_item=per_item,
            adjudicator=adjudicator,
            selection=selection_of(where, limit if by_chance else None),
            caps=None if cap is None else _caps(cap),
            ordering=ordering_by(project, wanted),
            seed=seed,
        )
    if done.beyond_caps:
        say(f"{done.beyond_caps} slots are meant for nobody: the caps leave too few labels.")
    if as_json:
        print_json(done)
        return
    if done.nothing:
        show(f"No slot was opened. {done.nothing}")
    else:
        show(chosen_text(done))
        show(f"{done.assigned:,} slots opened on items, {done.type_slots:,} on questions.")
    if done.joined:
        show(f"{done.joined} added to batches with open slots on these items.")


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
