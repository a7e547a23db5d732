"""Which questions make a balanced set: as many of each stratum as wanted, within caps on sources and models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from workbench.benchmarks.capping import STEP, Caps, Chosen, fullest
from workbench.benchmarks.questions import Question, pick
from workbench.benchmarks.quotas import Quotas, apportioned
from workbench.core.sets import Fill
from workbench.data.draws import first_drawn

StratumOf = Callable[[Question], str]


class Balanced(Struct, frozen=True):
    """A choice of questions.

    Attributes:
        chosen: Each with its correct and its incorrect completion.
        available: Type -> stratum -> questions that could be taken; types that something is wanted of at least.
        taken: Stratum -> questions taken.
    """

    chosen: Chosen
    available: dict[str, dict[str, int]]
    taken: Counter[str]


def balance(questions: Sequence[Question], quotas: Quotas, caps: Caps, fill: Fill, seed: int) -> Balanced:
    """As many questions of each stratum as wanted, and others in the place of what is missing if ``fill`` says so.

    Args:
        questions: Those with a type and at least one correct and one incorrect completion.
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
        # What caps keep out of a stratum is asked of the others.
        room = {
            type_: {name: taken[name] if name in capped else count for name, count in strata.items()}
            for type_, strata in room.items()
        }


def choose(
    questions: Sequence[Question], stratum: StratumOf, quotas: Mapping[str, int], caps: Caps, seed: int
) -> Chosen:
    """Questions and their completions, as many of each stratum as its quota.

    Without caps, and where they don't bind, the first of each stratum in drawn order are taken, which no choice can
    exceed. Where caps bind, no choice that keeps to them has more questions; see `capping.fullest`.

    Args:
        questions: Those with at least one correct and one incorrect completion.
        stratum: A question's stratum.
        quotas: Stratum -> questions; nothing is taken of others.
        caps: What one source and one model may give.
        seed: Of the draw.
    """
    parts: dict[str, list[Question]] = {}
    for question in questions:
        parts.setdefault(stratum(question), []).append(question)
    first = [
        (question, pick(question, 1, seed, STEP))
        for name, count in quotas.items()
        for question in first_drawn(parts.get(name, ()), count, seed, lambda one: one.drawn_by(STEP))
    ]
    if caps.hold(first):
        return first
    wanted = [question for name, count in quotas.items() if count for question in parts.get(name, ())]
    return fullest(wanted, [stratum(question) for question in wanted], quotas, caps, seed)
