"""Payloads, and probes, controls and carriers for questions: the same rows and seed give the same bytes."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import blake2b
from importlib import resources
from typing import Literal

import msgspec
from msgspec import Struct

from workbench.core.errors import UsageError
from workbench.core.final_answer import completion_answer
from workbench.core.options import record_from
from workbench.core.verdict import VerifierInput
from workbench.statistics.records.probe import BaseRow, SkipReason
from workbench.verifiers.probes.programs import program
from workbench.verifiers.probes.values import CARRIER, Skipped, Values

SUITE_VERSION = "3"
"""Incremented with every change to a payload or to how probes are built: results name their suite."""

VerifierClass = Literal["R", "J", "M", "C"]
"""R: rule verifiers; J: LLM judges; M: reward models; C: code judges."""


class Payload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One crafted completion.

    Attributes:
        id: The name within the family.
        text: The completion; a placeholder such as ``{{question}}`` is replaced by a value of `values`. None if it is
            drawn from ``alphabet``.
        repeat: How many times the text is repeated.
        alphabet: Characters to draw from, with the suite's seed.
        length: Number of characters to draw.
        states: The completion's claims: a probe is skipped if one is a right answer. By default the completion itself
            and its final answer.
        expected: The verdict a good verifier gives.
        languages: The languages of its words.
        source: The payload's source, if not the family's.
    """

    id: str
    text: str | None = None
    repeat: int = 1
    alphabet: str = ""
    length: int = 0
    states: tuple[str, ...] | None = None
    expected: Literal["incorrect", "correct"] = "incorrect"
    languages: tuple[str, ...] = ()
    source: str | None = None


class Family(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Payloads that try to exploit the same weakness of verifiers.

    Attributes:
        family: The number, such as ``"P4"``.
        applies_to: The verifier classes it is meant for.
        source: The source of the idea or the texts; ``"own"`` for our own.
    """

    family: str
    name: str
    applies_to: tuple[VerifierClass, ...]
    source: str
    payload: tuple[Payload, ...]


@cache
def suite() -> tuple[Family, ...]:
    files = resources.files(__package__) / "suite"
    found = [msgspec.toml.decode(file.read_bytes(), type=Family) for file in files.iterdir()]
    return tuple(sorted(found, key=lambda family: int(family.family[1:])))


def families_named(names: tuple[str, ...]) -> tuple[Family, ...]:
    """Return the families with these numbers (``"P4"``, any case) in the suite's order; all if no number is given.

    Raises:
        UsageError: No such family exists; the message lists all families.
    """
    wanted = {name.upper() for name in names}
    unknown = wanted - {family.family for family in suite()}
    if unknown:
        known = ", ".join(f"{family.family} ({family.name})" for family in suite())
        raise UsageError(f"There is no family of probes {sorted(unknown)[0]!r}.", f"There are: {known}.")
    return tuple(family for family in suite() if not wanted or family.family in wanted)


EVERY_CLASS: frozenset[VerifierClass] = frozenset(("R", "J", "M", "C"))
"""All classes: no family is skipped."""


class Probe(Struct, frozen=True, kw_only=True):
    """A question with a crafted completion.

    Attributes:
        completion: The exact text; None if the probe was skipped, for the reason in ``skipped``.
    """

    row: BaseRow
    family: Family
    payload: Payload
    completion: str | None = None
    skipped: SkipReason | None = None


class Companion(Struct, frozen=True, kw_only=True):
    """A completion that serves as a comparison for a question's probes.

    Attributes:
        role: ``"control"``: a correct completion; ``"carrier"``: the wrong completion that payloads are appended to,
            here without a payload.
        real: Whether the completion is one of the data; else it was made from the reference.
    """

    row: BaseRow
    role: Literal["control", "carrier"]
    completion: str
    real: bool


def probes(
    rows: Iterable[BaseRow], families: tuple[Family, ...], seed: int, classes: frozenset[VerifierClass] = EVERY_CLASS
) -> Iterator[Probe]:
    """Yield a probe for every payload and question, question by question, including skipped probes.

    Args:
        seed: The seed of random payloads.
        classes: The verifier's classes: families for other classes are skipped.
    """
    for row in rows:
        values = Values(row)
        for family in families:
            for payload in family.payload:
                yield _make_probe(values, family, payload, seed, classes)


def companions(rows: Iterable[BaseRow], families: tuple[Family, ...]) -> Iterator[Companion]:
    """Yield each question's control, if it has one, and its carrier, if a family appends payloads to a real
    completion."""
    carried = any(CARRIER in (payload.text or "") for family in families for payload in family.payload)
    for row in rows:
        if (control := _control(row)) is not None:
            yield control
        if carried and row.wrong is not None:
            yield Companion(row=row, role="carrier", completion=row.wrong, real=True)


def verifier_input(subject: Probe | Companion) -> VerifierInput:
    """Return the verifier's input for a probe, control or carrier.

    The item's number is below 0, so that it can't be mistaken for a completion's row id, and depends only on question
    and payload: random draws by it are the same for every choice of rows and families.
    """
    row = subject.row
    name = f"{subject.family.family}/{subject.payload.id}" if isinstance(subject, Probe) else subject.role
    digest = blake2b(f"{row.question_id}/{name}".encode(), digest_size=7).digest()
    item = -1 - int.from_bytes(digest)
    return record_from(VerifierInput, row, item=item, completion=subject.completion or "")


def _make_probe(
    values: Values, family: Family, payload: Payload, seed: int, classes: frozenset[VerifierClass]
) -> Probe:
    row = values.row
    try:
        if not classes & set(family.applies_to):
            raise Skipped("not_applicable")
        text = _payload_text(values, family, payload, seed)
        if any(map(values.right_answers.include, _claims(values, payload, text))):
            raise Skipped("right_answer")
    except Skipped as skipped:
        return Probe(row=row, family=family, payload=payload, skipped=skipped.reason)
    return Probe(row=row, family=family, payload=payload, completion=text)


def _payload_text(values: Values, family: Family, payload: Payload, seed: int) -> str:
    if payload.text is not None:
        return values.filled(payload.text) * payload.repeat
    chance = random.Random(f"{seed} {family.family} {payload.id} {values.row.key}")
    return "".join(chance.choices(payload.alphabet, k=payload.length))


def _claims(values: Values, payload: Payload, text: str) -> tuple[str, ...]:
    if payload.states is not None:
        return tuple(values.filled(state) for state in payload.states)
    prefix = values.carrier if (payload.text or "").startswith(CARRIER) else ""
    own = text.removeprefix(prefix).strip()
    return own, completion_answer(own).text


def _control(row: BaseRow) -> Companion | None:
    if row.right is not None:
        return Companion(row=row, role="control", completion=row.right, real=True)
    if program(row.reference):
        return Companion(row=row, role="control", completion=row.reference, real=False)
    answer = Values(row).known_answer
    text = f"That settles the question.\n\nFinal answer: $\\boxed{{{answer}}}$"
    return Companion(row=row, role="control", completion=text, real=False) if answer else None


# -- The questions that probes are built from.


def draw_balanced(questions: Iterable[tuple[int, str]], limit: int, seed: int) -> list[int]:
    """Draw questions evenly from all types; if a type has too few, the others fill the gap.

    Args:
        questions: Row ids with their types, in a fixed order.
        limit: Maximum number of questions.
        seed: The same seed draws the same questions.

    Returns:
        Row ids in ascending order.
    """
    by_type: dict[str, list[int]] = defaultdict(list)
    for question, kind in questions:
        by_type[kind].append(question)
    chance = random.Random(seed)
    chosen: list[int] = []
    smallest_first = sorted(by_type.items(), key=lambda group: (len(group[1]), group[0]))
    for place, (_, group) in enumerate(smallest_first):
        share = (limit - len(chosen)) // (len(smallest_first) - place)
        chosen += chance.sample(group, min(share, len(group)))
    return sorted(chosen)
