"""Quotas of answer types and subtypes, stratified samples, and balanced choices of questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct

from workbench.benchmarks.capping import STEP, Caps, Chosen, Question, choose_most, pick
from workbench.core.errors import UsageError
from workbench.core.options import grouped
from workbench.core.sets import Fill, Preset, Strata, Stratum
from workbench.core.taxonomy import TYPES, UNTYPED, parse_type
from workbench.data.alike import first_drawn

# -- The number to take from each stratum: largest remainders, and redistribution if a stratum is too small.


def largest_remainder(weights: Mapping[str, int], count: int) -> dict[str, int]:
    """Divide ``count`` (n) among strata in proportion to their weights W_s, whose sum is W.

    Each stratum gets ``floor(n W_s / W)``; the rest is given out one by one in the order of descending fractional
    parts, ties by name. All numbers are 0 if all weights are 0.
    """
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(weights, 0)
    shares = {name: count * weight // total for name, weight in weights.items()}
    by_fraction = sorted(weights, key=lambda name: (-(count * weights[name] % total), name))
    for name in by_fraction[: count - sum(shares.values())]:
        shares[name] += 1
    return shares


def apportion(weights: Mapping[str, int], count: int, room: Mapping[str, int]) -> dict[str, int]:
    """Run `largest_remainder`, but give a stratum no more than it has room for.

    The rest goes to the other strata by the same rule, repeatedly. Once all strata with a weight are full, it goes to
    strata without weight in proportion to their room. The sum is ``count``, or the total room if that is smaller.
    """
    taken = dict.fromkeys(weights, 0)
    while left := count - sum(taken.values()):
        open_ = {name: weight for name, weight in weights.items() if taken[name] < room[name]}
        if not any(open_.values()):
            open_ = {name: room[name] - taken[name] for name in open_}
        if not open_:
            break
        for name, share in largest_remainder(open_, left).items():
            taken[name] += min(share, room[name] - taken[name])
    return taken


PAPER: Final[dict[str, int]] = (
    {"A1": 64, "A2": 64, "A3": 62, "A4": 62, "A5": 62, "A6": 62, "A7": 62, "A8": 62}
    | {"B1": 130, "B2": 64, "B3": 128, "B4": 50, "B5": 128}
    | {"C1": 164, "C2": 168, "C4": 168}
    | {"D1": 344, "D2": 156}
)
"""Tuples of each subtype in VerifyBench: half as many questions (recovered from the fractions of table 5)."""
_MULTIPLE_CHOICE: Final = ("C2", "C3")
"""The released codes have a gap, so Multiple Choice may have either code."""


class Quotas(Struct, frozen=True):
    """The requested number of questions of each stratum.

    Attributes:
        wanted: Type -> stratum -> number of questions. A stratum is a subtype, or the type itself if it is not divided.
        same: Subtype -> the subtype as which it counts.
    """

    wanted: dict[str, dict[str, int]]
    same: dict[str, str] = {}

    def stratum(self, question: Question) -> str:
        if question.type in self.wanted.get(question.type, {}):
            return question.type
        if question.subtype == UNTYPED:
            return f"{question.type}/{UNTYPED}"
        return self.same.get(question.subtype, question.subtype)


def undivided(per_type: int, types: set[str]) -> Quotas:
    return Quotas({type_: {type_: per_type} for type_ in sorted({*TYPES, *types})})


def preset(name: Preset, per_type: int, there: Mapping[str, Mapping[str, int]]) -> Quotas:
    """Return ``per_type`` questions of each type, divided among its subtypes by largest remainders.

    Args:
        name: How subtypes are weighted: ``verifybench`` as in the paper, ``equal`` all subtypes that occur equally,
            ``proportional`` by their numbers of available questions.
        there: Type -> subtype -> number of available questions.
    """
    wanted = dict(undivided(per_type, set(there)).wanted)
    for type_ in wanted:
        weights = _weights(name, type_, there.get(type_, {}))
        if any(weights.values()):
            wanted[type_] = largest_remainder(weights, per_type)
    ours, other = _MULTIPLE_CHOICE
    if name != "verifybench":
        return Quotas(wanted)
    if other in there.get("C", {}) and ours not in there["C"]:
        wanted["C"] = {other if code == ours else code: count for code, count in wanted["C"].items()}
        return Quotas(wanted)
    return Quotas(wanted, {other: ours})


def _weights(name: Preset, type_: str, there: Mapping[str, int]) -> dict[str, int]:
    if name == "verifybench":
        return {code: tuples for code, tuples in PAPER.items() if code[0] == type_}
    return dict(there) if name == "proportional" else dict.fromkeys(there, 1)


def apportioned(quotas: Quotas, room: Mapping[str, Mapping[str, int]], fill: Fill) -> dict[str, int]:
    """Return each stratum's quota after other strata have made up for those that are too small.

    Args:
        quotas: The requested numbers.
        room: Type -> stratum -> number of available questions, also of strata without a quota.
        fill: Which other strata, if any, make up for a shortfall.

    Returns:
        Stratum -> number of questions, which exceeds its room only if no other stratum makes up for it.
    """
    wanted = {type_: {**dict.fromkeys(room.get(type_, {}), 0), **quotas.wanted.get(type_, {})} for type_ in room}
    if fill == "none":
        return {name: count for strata in wanted.values() for name, count in strata.items()}
    total = {type_: sum(strata.values()) for type_, strata in wanted.items()}
    if fill == "types":
        total = apportion(total, sum(total.values()), {type_: sum(room[type_].values()) for type_ in room})
    return {
        name: count
        for type_, strata in wanted.items()
        for name, count in apportion(strata, total[type_], {name: room[type_].get(name, 0) for name in strata}).items()
    }


# -- The questions of a balanced benchmark: the requested number from each stratum, within caps on sources and models.


StratumOf = Callable[[Question], str]


class Balanced(Struct, frozen=True):
    """A choice of questions.

    Attributes:
        chosen: The chosen questions, each with its correct and its incorrect completion.
        available: Type -> stratum -> number of available questions, at least for every type with a quota.
        taken: Stratum -> number of chosen questions.
    """

    chosen: Chosen
    available: dict[str, dict[str, int]]
    taken: Counter[str]


def balance(questions: Sequence[Question], quotas: Quotas, caps: Caps, fill: Fill, seed: int) -> Balanced:
    """Choose the requested number of questions from each stratum; ``fill`` determines which strata replace missing
    questions.

    Args:
        questions: Questions with a type and at least one correct and one incorrect completion.
    """
    available: dict[str, dict[str, int]] = {type_: {} for type_ in quotas.wanted}
    for question in questions:
        strata = available.setdefault(question.type, {})
        strata[quotas.stratum(question)] = strata.get(quotas.stratum(question), 0) + 1
    room = {type_: dict(strata) for type_, strata in available.items()}
    while True:
        aims = apportioned(quotas, room, fill)
        chosen = choose(questions, quotas.stratum, aims, caps, seed)
        taken = Counter(quotas.stratum(question) for question, _ in chosen)
        capped = {name for name, aim in aims.items() if taken[name] < aim}
        if fill == "none" or not capped:
            return Balanced(chosen, available, taken)
        # What caps exclude from a stratum is made up by the others.
        room = {
            type_: {name: taken[name] if name in capped else count for name, count in strata.items()}
            for type_, strata in room.items()
        }


def choose(
    questions: Sequence[Question], stratum: StratumOf, quotas: Mapping[str, int], caps: Caps, seed: int
) -> Chosen:
    """Choose questions and their completions, as many of each stratum as its quota.

    Questions have a random order that depends on ``seed``. If no cap is exceeded by the first questions of each
    stratum in this order, they are chosen, which is optimal. Otherwise as many questions are chosen as the caps allow;
    see `capping.fullest`.

    Args:
        questions: Questions with at least one correct and one incorrect completion.
        stratum: A question's stratum.
        quotas: Stratum -> number of questions; other strata are not used.
        caps: Limits for one source and one model.
        seed: Seed of the draw.
    """
    parts = grouped((stratum(question), question) for question in questions)
    first = [
        (question, pick(question, 1, seed, STEP))
        for name, count in quotas.items()
        for question in first_drawn(parts.get(name, ()), count, seed, lambda one: one.drawn_by(STEP))
    ]
    if caps.are_met(first):
        return first
    wanted = [question for name, count in quotas.items() if count for question in parts.get(name, ())]
    return choose_most(wanted, [stratum(question) for question in wanted], quotas, caps, seed)


# -- Stratified samples: a total divided among strata in proportion to their sizes, or evenly.


T = TypeVar("T")


def sample(
    sizes: Mapping[str, int],
    count: int,
    members: Callable[[str], Iterable[T]],
    seed: int,
    key: Callable[[T], tuple[str | int, ...]],
    how: Strata = "proportional",
) -> dict[str, list[T]]:
    """Draw the apportioned number of members of each stratum: the first ones in a random order that depends on
    ``seed`` and the key.

    Args:
        sizes: Stratum -> number of its members.
        count: Sample size over all strata.
        members: Iterates over a stratum's members.
        key: Returns a member's key, which is the same in every database.
        how: The weights of strata; the part of a share that exceeds a stratum's size goes to the other strata.
    """
    taken = apportion(_stratum_weights(sizes, how), count, sizes)
    return {name: first_drawn(members(name), taken[name], seed, key) for name in sorted(sizes)}


def strata(sizes: Mapping[str, int], count: int, how: Strata = "proportional") -> tuple[Stratum, ...]:
    weights = _stratum_weights(sizes, how)
    quotas, taken = largest_remainder(weights, count), apportion(weights, count, sizes)
    return tuple(
        Stratum(name=name, population=sizes[name], quota=quotas[name], taken=taken[name]) for name in sorted(sizes)
    )


def _stratum_weights(sizes: Mapping[str, int], how: Strata) -> Mapping[str, int]:
    return sizes if how == "proportional" else {name: int(size > 0) for name, size in sizes.items()}


# -- Quotas from a TOML file.


_FORM = 'Write [questions] and below it lines such as  A1 = 32  or  "B4 - Set" = 25.'


def read_quotas(document: dict[str, Any], place: str) -> Quotas:
    """Read quotas from the table ``[questions]``, which maps a subtype or a whole type to a number of questions.

    Args:
        place: Name of the document in messages.

    Raises:
        UsageError: The table is missing, a key is not an answer type, a value is not a number of questions, or a type
            is listed together with its subtypes.
    """
    table = document.get("questions")
    if not isinstance(table, dict) or len(document) > 1 or not table:
        raise UsageError(f"{place}: there must be one table [questions], and nothing else.", _FORM)
    wanted: dict[str, dict[str, int]] = {}
    for key, count in table.items():
        code = parse_type(key)
        if code is None:
            raise UsageError(f"{place}:questions.{key}: it is not a valid answer type or subtype.", _FORM)
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise UsageError(f"{place}:questions.{key}: it is not a number of questions.", _FORM)
        strata = wanted.setdefault(code.code[0], {})
        if code.code in strata:
            raise UsageError(f"{place}:questions.{key}: {code.code} occurs twice.", "Keep one.")
        strata[code.code] = count
    for type_, strata in wanted.items():
        if type_ in strata and len(strata) > 1:
            raise UsageError(f"{place}:questions: {type_} is given both as a whole and by subtypes.", "Keep one.")
    return Quotas(wanted)
