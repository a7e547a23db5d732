"""Opens slots: as many as each item still needs, for which annotators, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import combinations, islice
from math import comb
from random import Random
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from workbench.core.database import people
from workbench.core.errors import Command, UsageError, opt
from workbench.core.progress import step
from workbench.core.selection import Selection
from workbench.core.text.figures import counted
from workbench.data.store import reading
from workbench.data.store.reading import SamplingFrame
from workbench.labelling.store import assignments
from workbench.labelling.store.assignments import BatchItem, NewSlot, SubjectSlots
from workbench.statistics.records.report import Sample

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Places = npt.NDArray[np.integer[Any]]


# -- Annotators for items: combinations of people in rotation, so that no pair monopolises a kind of item.


FEW = 10_000
"""Maximum number of combinations that are listed and shuffled; if there are more, random ones are drawn."""


class SlotSubject(Struct, frozen=True, kw_only=True):
    """An item or question for which slots are opened.

    Attributes:
        stratum: The kind of item; combinations rotate separately in each stratum.
        missing: Number of slots to open.
        taken: Row ids of people who already have a slot or a label on it.
    """

    stratum: Hashable
    missing: int
    taken: frozenset[int] = frozenset()


def balanced_combinations(people: Sequence[int], size: int, seed: str) -> Iterator[tuple[int, ...]]:
    """Yield combinations of ``size`` annotators, each once, in a seeded order that uses every person equally often.

    Each combination is followed by its rotations around the circle of people, which use everyone equally.
    """
    random = Random(seed)
    circle = random.sample(list(people), len(people))
    seen = set[tuple[int, ...]]()
    for first in _shuffled_combinations(len(circle), size, random):
        for shift in range(len(circle)):
            turned = tuple(sorted((place + shift) % len(circle) for place in first))
            if turned not in seen:
                seen.add(turned)
                yield tuple(circle[place] for place in turned)


def _shuffled_combinations(people: int, size: int, random: Random) -> Iterator[tuple[int, ...]]:
    if comb(people, size) <= FEW:
        every = list(combinations(range(people), size))
        yield from random.sample(every, len(every))
    else:
        while True:
            yield tuple(random.sample(range(people), size))


def choose_annotators(
    subjects: Sequence[SlotSubject], people: Sequence[int], size: int, room: Mapping[int, int], seed: str
) -> list[tuple[int, ...]]:
    """Return the annotators for the new slots of each subject; fewer than slots if no person has room left.

    Within a stratum every combination is used equally often (the difference is at most one). The next stratum continues
    where the last one ended, so the same holds over all strata. This is no longer exact once a person's room runs out.

    Args:
        subjects: In the order in which they are served, so that limited room is spread over the strata.
        people: The candidates, at least ``size``.
        size: Number of people for each item.
        room: Person -> number of items they may still get; people without an entry have no limit.
        seed: Seed of the draw, which is deterministic.
    """
    turns = list(islice(balanced_combinations(people, size, seed), len(subjects)))
    at = _stratum_starts(subjects)
    left = dict(room)
    drawn: list[tuple[int, ...]] = []
    turns = _turns_with_room(turns, left)
    for subject in subjects:
        chosen: tuple[int, ...] = ()
        if turns:
            turn = turns[at[subject.stratum] % len(turns)]
            chosen = tuple(person for person in turn if person not in subject.taken)[: subject.missing]
        if len(chosen) < subject.missing:
            free = [person for person in people if person not in subject.taken and left.get(person, 1) > 0]
            chosen = tuple(sorted(free, key=lambda person: -left.get(person, 0))[: subject.missing])
        at[subject.stratum] += 1
        drawn.append(chosen)
        if _use_room(left, chosen):
            turns = _turns_with_room(turns, left)
    return drawn


def _stratum_starts(subjects: Sequence[SlotSubject]) -> dict[Hashable, int]:
    sizes: dict[Hashable, int] = {}
    for subject in subjects:
        sizes[subject.stratum] = sizes.get(subject.stratum, 0) + 1
    starts, before = {}, 0
    for stratum, size in sizes.items():
        starts[stratum] = before
        before += size
    return starts


def _turns_with_room(turns: list[tuple[int, ...]], left: Mapping[int, int]) -> list[tuple[int, ...]]:
    full = {person for person, room in left.items() if room <= 0}
    return [turn for turn in turns if not full.intersection(turn)]


def _use_room(left: dict[int, int], chosen: Sequence[int]) -> bool:
    for person in chosen:
        if person in left:
            left[person] -= 1
    return any(left.get(person, 1) <= 0 for person in chosen)


# -- The items of a batch, and the order in which they are served.


SEED = "workbench"
"""Seed of the random order of a batch; the order of the same items is the same everywhere."""


class Ordering(Struct, frozen=True):
    """An order of items.

    Attributes:
        name: Its name, as the batch stores it.
        sample: How it samples items; "all" if only the limit chooses.
        ranked: Returns the positions of the batch's items in serving order, given the seed; None for the random order.
    """

    name: str
    sample: Sample = "all"
    ranked: Callable[[SamplingFrame, int], Places] | None = None


def random_position(key: str) -> int:
    """Return an item's position in the random order, computed from its id; below 2**63."""
    digest = blake2b(key.encode("utf-8", "surrogatepass"), key=SEED.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


RANDOM = Ordering("random")
"""The random order, the same for everyone."""


class Team(Struct, frozen=True, kw_only=True):
    """The annotators of a batch, by row ids.

    Attributes:
        caps: Person -> maximum number of items of the batch; people without an entry have no limit.
    """

    annotators: list[int]
    adjudicator: int | None
    caps: Mapping[int, int]


class Assigned(Struct, frozen=True, kw_only=True):
    """The result of ``assign``, as numbers of slots, people and items.

    Attributes:
        assigned: Slots created on the correctness task.
        filled: Those of ``assigned`` that earlier labels fill at once; the others are open.
        type_slots: Slots created on the type task (one question may serve several items).
        types_given: Those of ``type_slots`` that stay closed, since the types came with the data.
        joined: People who may now claim slots that were already open on the items, counted once a batch.
        beyond_caps: Slots created without an intended annotator, since all caps are reached.
        items: Items chosen, with or without missing slots.
        questions: Questions of these items.
        chosen_from: Items that meet the conditions, without checks.
        sample: How the items were sampled from ``chosen_from``.
        seed: Seed of the random choice; None without one.
        final: Chosen items without a new slot because their label is final.
        full: Other chosen items that already have all their slots.
        labelled: Remaining items that already have a label, which fills one of their slots.
        nothing: Why no slot was opened, in a sentence; "" if one was.
    """

    assigned: int
    type_slots: int
    types_given: int = 0
    filled: int = 0
    joined: int = 0
    beyond_caps: int = 0
    items: int = 0
    questions: int = 0
    chosen_from: int = 0
    sample: Sample = "all"
    seed: int | None = None
    final: int = 0
    full: int = 0
    labelled: int = 0
    nothing: str = ""


def chosen_text(done: Assigned) -> str:
    items = f"{counted(done.items, 'item')} of {counted(done.questions, 'question')}"
    of_all = f"of {done.chosen_from:,}"
    return {
        "all": f"{items}: all that match the conditions.",
        "drawn": f"{items}, drawn at random {of_all}, spread over the questions (seed {done.seed}).",
        "quota": f"{items} {of_all}: so many of each answer subtype, drawn at random (seed {done.seed}).",
        "order": f"{items} {of_all}, in the requested order: not a random sample.",
        "first": f"{items}: the first {of_all}.",
    }[done.sample]


def earlier_text(done: Assigned) -> str:
    """Describe the effect of earlier labels and slots; "" if there were none, or ``nothing`` reports them already."""
    earlier = done.final + done.full + done.labelled
    if not earlier or (done.nothing and done.final in (0, done.items)):
        return ""
    text = (
        _count_text(done.final, "has its final label and is left out", "have their final label and are left out"),
        _count_text(done.labelled, "has a label, which fills a slot of it", "have a label, which fills a slot of each"),
        _count_text(done.full, "has all its slots already", "have all their slots already"),
        _count_text(done.items - earlier, "is new", "are new"),
    )
    begin = "Labels given earlier count: of" if done.final + done.labelled else "Of"
    return f"{begin} {counted(done.items, 'item')}, {'; '.join(filter(None, text))}."


def _count_text(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}" if number else ""


def open_batch(
    connection: people.Connection,
    team: Team,
    *,
    per_item: int,
    selection: Selection,
    ordering: Ordering = RANDOM,
    seed: int = reading.SEED,
    final_too: bool = False,
) -> Assigned:
    """Open the slots that the selected items lack, and let the team claim their open slots.

    Args:
        selection: If it has a limit, that number of items is drawn; see `drawing.chance`.
        seed: Seed of the draw.
        final_too: Open slots also on items whose label is final.

    Raises:
        UsageError: An item has fewer people than slots, a team member is the adjudicator of an item, or the adjudicator
            has labelled an item.
    """
    with step("choosing items"):
        found = reading.sampling_frame(connection, selection.unlimited, checks=False)
        kept, sample = _sample(found, selection.limit, ordering, seed)
    items = assignments.chosen(connection, kept.item.tolist())
    places = {
        item.completion: random_position(item.key) if ordering.ranked is None else place
        for place, item in enumerate(items)
    }
    by_chance = seed if sample in ("drawn", "quota") else None
    joined = _join_batches(connection, team, items)
    final = set[int]() if final_too else assignments.final(connection, items)
    wanted = [item for item in items if item.completion not in final]
    _require_third_person(connection, team, wanted)
    labelled = assignments.labelled(connection, (item.completion for item in wanted))
    completions = list(_item_slots(connection, team, per_item, wanted, places))
    served = {slot.subject for slot in completions}
    questions = list(_question_slots(connection, per_item, wanted, places))
    if completions or questions:
        batch = assignments.create(
            connection,
            team.annotators,
            team.caps,
            per_item=per_item,
            adjudicator=team.adjudicator,
            selection=selection,
            ordering=ordering.name,
            sample=sample,
            seed=by_chance,
        )
        assignments.open_slots(connection, batch, "correctness", completions)
        assignments.open_slots(connection, batch, "type", questions)
    return Assigned(
        assigned=len(completions),
        type_slots=len(questions),
        types_given=len(questions) - assignments.count_type_questions(connection, (slot.subject for slot in questions)),
        joined=joined,
        beyond_caps=sum(slot.meant_for is None for slot in completions),
        items=len(items),
        questions=len({item.question for item in items}),
        chosen_from=len(found.item),
        sample=sample,
        seed=by_chance,
        final=len(final),
        full=len(wanted) - len(served),
        labelled=len(labelled & served),
        nothing=""
        if completions or questions
        else _reason_for_no_slots(connection, selection, items, len(wanted), per_item),
    )


def _reason_for_no_slots(
    connection: people.Connection, selection: Selection, items: Sequence[BatchItem], wanted: int, per_item: int
) -> str:
    if wanted:
        slots = "its slot" if per_item == 1 else f"its {per_item} slots"
        return f"Each of {counted(wanted, 'item')} has {slots} already; a larger {opt.per_item} gives them more."
    if items:
        return f"Each of {counted(len(items), 'item')} has its final label; {opt.final_too} has them labelled again."
    if checks := len(reading.sampling_frame(connection, selection.unlimited).item):
        return f"All {counted(checks, 'item')} that match the conditions are checks, which need no slots."
    if selection.conditions:
        return f"No item matches {' and '.join(map(str, selection.conditions))}."
    if reading.any_item(connection):
        return f"All items are excluded: {Command('exclude DB', list=True)} says which."
    return f"There are no items yet: {Command('import DB FILE')}"


def _sample(found: SamplingFrame, limit: int | None, ordering: Ordering, seed: int) -> tuple[SamplingFrame, Sample]:
    if ordering.ranked is not None:
        found = found.of(ordering.ranked(found, seed))
    if limit is None or limit >= len(found.item):
        return found, ordering.sample
    if ordering.ranked is not None:
        return SamplingFrame(found.item[:limit], found.question[:limit]), ordering.sample
    return reading.draw_items(found, limit, seed), "drawn"


def _join_batches(connection: people.Connection, team: Team, items: Sequence[BatchItem]) -> int:
    slots = assignments.open_on(connection, (item.completion for item in items))
    if assignments.adjudicators(connection, slots).intersection(team.annotators):
        raise UsageError("One of these people is the adjudicator of these items.", "Name others to label them.")
    return sum(assignments.join(connection, batch, team.annotators, team.caps) for batch in slots)


def _require_third_person(connection: people.Connection, team: Team, items: Sequence[BatchItem]) -> None:
    if team.adjudicator is None:
        return
    if own := assignments.labelled_by(connection, team.adjudicator, (item.completion for item in items)):
        raise UsageError(
            f"The adjudicator has labelled {own:,} of these items, and nobody may adjudicate items that they labelled.",
            "Name a third person, or none: then any third person may.",
        )


def _item_slots(
    connection: people.Connection, team: Team, per_item: int, items: Sequence[BatchItem], places: Mapping[int, int]
) -> Iterator[NewSlot]:
    slots = assignments.subject_slots(connection, "correctness", places)
    lacking = [item for item in items if len(slots[item.completion].slots) < per_item]
    lacking.sort(key=lambda item: places[item.completion])
    subjects = [_slot_subject(item, slots[item.completion], per_item) for item in lacking]
    for subject in subjects:
        if len(subject.taken.union(team.annotators)) < per_item:
            raise UsageError(
                f"{per_item} labels per item need at least {per_item} annotators, "
                f"not {len(subject.taken.union(team.annotators))}."
            )
    size = min(per_item, len(team.annotators))
    drawn = choose_annotators(subjects, team.annotators, size, team.caps, SEED)
    for item, meant in zip(lacking, drawn, strict=True):
        place = places[item.completion]
        yield from _missing_slots(item.completion, slots[item.completion], per_item, place, meant)


def _slot_subject(item: BatchItem, standing: SubjectSlots, per_item: int) -> SlotSubject:
    return SlotSubject(stratum=item.stratum, missing=per_item - len(standing.slots), taken=standing.people)


def _question_slots(
    connection: people.Connection, per_item: int, items: Sequence[BatchItem], places: Mapping[int, int]
) -> Iterator[NewSlot]:
    first: dict[int, int] = {}
    for item in items:
        first[item.question] = min(places[item.completion], first.get(item.question, places[item.completion]))
    slots = assignments.subject_slots(connection, "type", first)
    settled = assignments.typed(connection, first)
    for question, place in first.items():
        if question not in settled:
            yield from _missing_slots(question, slots[question], per_item, place, ())


def _missing_slots(
    subject: int, standing: SubjectSlots, per_item: int, place: int, meant: Sequence[int]
) -> Iterator[NewSlot]:
    numbers = [number for number in range(1, per_item + 1) if number not in standing.slots]
    for at, number in enumerate(numbers):
        yield NewSlot(subject, standing.round, number, place, meant[at] if at < len(meant) else None)


def assigned_lines(done: Assigned) -> Iterator[str]:
    if done.nothing:
        yield f"No slot was opened. {done.nothing}"
    else:
        yield chosen_text(done)
        yield f"{done.assigned:,} slots opened on items{_type_slots_text(done)}."
        if done.filled:
            left = done.assigned - done.filled
            yield f"Earlier labels fill {done.filled:,} of them; {left:,} are open."
    yield from filter(None, [earlier_text(done)])
    if done.type_slots > done.types_given:
        yield "They also give answer types, unless accepted (Home: Derive types) or imported for all questions."
    if done.joined:
        yield f"{done.joined} added to batches with open slots on these items."


def _type_slots_text(done: Assigned) -> str:
    asked, given = done.type_slots - done.types_given, done.types_given
    for_asked = f", {asked:,} for the answer types of their questions" if asked else ""
    for_given = f", {given:,} for answer types, which came with the data and are not asked for" if given else ""
    return for_asked + for_given
