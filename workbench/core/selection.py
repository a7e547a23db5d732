"""Which items a command speaks of: ``--where FIELD=VALUE``, repeated conditions joined by "and"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.core.errors import UsageError, did_you_mean

Operator = Literal["=", "!=", "<", ">"]

FIELDS = (
    "dataset",
    "type",
    "subtype",
    "domain",
    "source",
    "model",
    "length",
    "state",
    "gold",
    "flagged",
    "question_id",
    "completion_id",
    "set",
    "verdict",
)
"""Fields of ``--where``; ``verdict:NAME`` comes beside them. ``verdict`` alone is that of every verifier that a
command names, or else of the only one there is: see `Selection.judged_by`."""

_CONDITION = re.compile(r"^(?P<field>[a-z_]+(?::[^=!<>]+)?)(?P<operator>!=|=|<|>)(?P<value>.*)$", re.DOTALL)


class Condition(Struct, frozen=True, order=True):
    """One condition; the value is always bound as a parameter, never put into SQL text."""

    field: str
    operator: Operator
    value: str

    def __str__(self) -> str:
        return f"{self.field}{self.operator}{self.value}"


class Selection(Struct, frozen=True):
    """A choice of items: all conditions hold, at most ``limit`` items in the order of import."""

    conditions: tuple[Condition, ...] = ()
    limit: int | None = None

    @property
    def unlimited(self) -> Selection:
        """All that meet the conditions."""
        return Selection(self.conditions)

    def __str__(self) -> str:
        words = [str(condition) for condition in self.conditions]
        if self.limit is not None:
            words.append(f"limit {self.limit}")
        return " and ".join(words) or "all items"

    @property
    def asks_for_verdicts(self) -> bool:
        """Whether a condition speaks of ``verdict`` without saying whose."""
        return any(condition.field == "verdict" for condition in self.conditions)

    def judged_by(self, verifiers: Sequence[str]) -> Selection:
        """The same with ``verdict`` meaning the verdict of each of these verifiers: the condition must hold for all.

        So ``verdict=correct`` are items that all of them accept, ``verdict!=correct`` those that all of them have
        judged and none accepts; an abstention or an error is neither correct nor incorrect.
        """
        conditions = (
            [replace(condition, field=f"verdict:{name}") for name in verifiers]
            if condition.field == "verdict"
            else [condition]
            for condition in self.conditions
        )
        return Selection(tuple(chain.from_iterable(conditions)), self.limit)


def parse_condition(text: str) -> Condition:
    """Read ``FIELD=VALUE``, ``FIELD!=VALUE``, ``FIELD<VALUE`` or ``FIELD>VALUE``.

    Raises:
        UsageError: It is no condition, or the field is unknown (the message lists the known ones).
    """
    match = _CONDITION.match(text)
    if match is None:
        raise UsageError(f"{text!r} is no condition.", "Write FIELD=VALUE, FIELD!=VALUE, FIELD<VALUE or FIELD>VALUE.")
    field = match["field"]
    if field not in FIELDS and not field.startswith("verdict:"):
        known = ", ".join((*FIELDS, "verdict:NAME"))
        raise UsageError(f"Unknown field {field!r}.", did_you_mean(field, FIELDS, f"Known fields: {known}."))
    operator: Operator = match["operator"]  # type: ignore[assignment]
    return Condition(field, operator, match["value"])
