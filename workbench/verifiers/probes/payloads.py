"""The payloads: data files, one for each family, that define the completions to try."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Literal

import msgspec
from msgspec import Struct

from workbench.core.errors import UsageError

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
