"""How many questions of each answer type and subtype a balanced set is to have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from workbench.benchmarks.apportioning import apportion, largest_remainder
from workbench.benchmarks.questions import Question
from workbench.core.sets import Fill, Preset
from workbench.core.taxonomy import TYPES, UNTYPED

PAPER: Final[dict[str, int]] = {
    "A1": 64,
    "A2": 64,
    "A3": 62,
    "A4": 62,
    "A5": 62,
    "A6": 62,
    "A7": 62,
    "A8": 62,
    "B1": 130,
    "B2": 64,
    "B3": 128,
    "B4": 50,
    "B5": 128,
    "C1": 164,
    "C2": 168,
    "C4": 168,
    "D1": 344,
    "D2": 156,
}
"""Tuples of each subtype in VerifyBench: half as many questions (recovered from the fractions of table 5)."""

_MULTIPLE_CHOICE: Final = ("C2", "C3")
"""The released codes have a gap: whichever of the two it is, it is the paper's Multiple Choice."""


class Quotas(Struct, frozen=True):
    """Questions wanted of each stratum.

    Attributes:
        wanted: Type -> stratum -> questions. A stratum is a subtype, or the type itself where it is not divided.
        same: Subtypes that count as another one.
    """

    wanted: dict[str, dict[str, int]]
    same: dict[str, str] = {}

    def stratum(self, question: Question) -> str:
        """The stratum of a question that has a type."""
        if question.type in self.wanted.get(question.type, {}):
            return question.type
        if question.subtype == UNTYPED:
            return f"{question.type}/{UNTYPED}"
        return self.same.get(question.subtype, question.subtype)


def undivided(per_type: int, types: set[str]) -> Quotas:
    """So many questions of each type, whatever their subtypes; other letters than the four where they occur."""
    return Quotas({type_: {type_: per_type} for type_ in sorted({*TYPES, *types})})


def preset(name: Preset, per_type: int, there: Mapping[str, Mapping[str, int]]) -> Quotas:
    """So many questions of each type, divided among its subtypes by largest remainders.

    Args:
        name: ``verifybench``: as in the paper; ``equal``: the same for all subtypes that occur; ``proportional``: as
            many as there are.
        there: Type -> subtype -> questions that could be taken.
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
    """What each stratum is to give where some can't give what is wanted of them.

    Args:
        quotas: What is wanted.
        room: Type -> stratum -> questions that can be taken; strata that nothing is wanted of too.
        fill: Whether others give more in their place.

    Returns:
        Stratum -> questions; more than its room only where nobody fills in.
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
