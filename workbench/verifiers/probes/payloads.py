"""The payloads: data files, one a family, that define the completions to try."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Literal

import msgspec
from msgspec import Struct

from workbench.core.errors import UsageError

SUITE_VERSION = "3"
"""Raised with every change to a payload or to how probes are built: results name the suite they come from."""

VerifierClass = Literal["R", "J", "M", "C"]
"""Rule verifiers, LLM judges, reward models, code judges."""


class Payload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One crafted completion.

    Attributes:
        id: Its name within the family.
        text: The completion; a placeholder such as ``{{question}}`` stands for what `values` makes of the question.
            None if it is drawn from ``alphabet``.
        repeat: How many times the text is repeated.
        alphabet: Characters to draw from, with the suite's seed.
        length: How many to draw.
        states: The completion's claim, in case that is a right answer somewhere: such probes are left out. By
            default the completion itself and the final answer read from it.
        expected: The verdict a good verifier gives.
        languages: The languages of its words.
        source: Its source, if not the family's.
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
    """Payloads that try the same weakness.

    Attributes:
        family: Its number, such as ``"P4"``.
        applies_to: The verifiers it is meant for.
        source: The source of the idea or the texts; ``"own"`` is ours.
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
    """Return the families of these numbers (``"P4"``, any case) in the suite's order; all without a name.

    Raises:
        UsageError: There is no such family; the message lists the families.
    """
    wanted = {name.upper() for name in names}
    unknown = wanted - {family.family for family in suite()}
    if unknown:
        known = ", ".join(f"{family.family} ({family.name})" for family in suite())
        raise UsageError(f"There is no family of probes {sorted(unknown)[0]!r}.", f"There are: {known}.")
    return tuple(family for family in suite() if not wanted or family.family in wanted)
