"""Selects the items that a command works on: ``--where FIELD=VALUE``; repeated conditions are joined by "and"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.core.errors import UsageError, did_you_mean
from workbench.core.taxonomy import type_display

Operator = Literal["=", "!=", "<", ">"]
FIELDS = (
    "dataset",
    "type",
    "subtype",
    "domain",
    "source",
    "model",
    "length",
    "language",
    "difficulty",
    "state",
    "gold",
    "flagged",
    "question_id",
    "completion_id",
    "set",
    "verdict",
)
"""Fields of ``--where``; ``verdict:NAME`` and ``column:NAME`` are added to them. ``verdict`` alone refers to every
verifier that a command names, or else to the only one; see `Selection.judged_by`.
"""
COLUMN: Final = "column:"
"""Prefix of a field that is an extra column of the imported file."""
_WORD = re.compile(r'(?:[^\s"]|"[^"]*")+')
_CONDITION = re.compile(r"^(?P<field>[a-z_]+(?::[^=!<>]+)?)(?P<operator>!=|=|<|>)(?P<value>.*)$", re.DOTALL)


class Condition(Struct, frozen=True, order=True):
    """One condition; the value is always bound as a parameter, never put into SQL text."""

    field: str
    operator: Operator
    value: str

    def __str__(self) -> str:
        return f"{self.field}{self.operator}{self.value}"


class Selection(Struct, frozen=True):
    """A selection of items: those that meet all conditions; if ``limit`` is set, at most so many in the order of
    import.
    """

    conditions: tuple[Condition, ...] = ()
    limit: int | None = None

    @property
    def unlimited(self) -> Selection:
        return Selection(self.conditions)

    def __str__(self) -> str:
        words = [str(condition) for condition in self.conditions]
        if self.limit is not None:
            words.append(f"limit {self.limit}")
        return " and ".join(words) or "all items"

    @property
    def asks_for_verdicts(self) -> bool:
        """Return whether a condition uses ``verdict`` without naming the verifier."""
        return any(condition.field == "verdict" for condition in self.conditions)

    def judged_by(self, verifiers: Sequence[str]) -> Selection:
        """Return the selection in which a condition on ``verdict`` applies to each of these verifiers; all must meet
        it.

        ``verdict=correct`` then selects items that all of them accept, ``verdict!=correct`` those that all of them have
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
    """Parse ``FIELD=VALUE``, ``FIELD!=VALUE``, ``FIELD<VALUE`` or ``FIELD>VALUE``.

    Raises:
        UsageError: It is not a condition, or the field is unknown (the message lists the known ones).
    """
    match = _CONDITION.match(text)
    if match is None:
        raise UsageError(
            f"{text!r} is not a valid condition.", "Write FIELD=VALUE, FIELD!=VALUE, FIELD<VALUE or FIELD>VALUE."
        )
    field = match["field"]
    if field not in FIELDS and not field.startswith(("verdict:", COLUMN)):
        known = ", ".join((*FIELDS, "verdict:NAME", "column:NAME"))
        raise UsageError(f"Unknown field {field!r}.", did_you_mean(field, FIELDS, f"Known fields: {known}."))
    operator: Operator = match["operator"]  # type: ignore[assignment]
    return Condition(field, operator, match["value"])


def words_of(line: str) -> list[str]:
    """Split a line of conditions; a value with spaces is in quotation marks.

    Raises:
        UsageError: A quotation mark is open.
    """
    if line.count('"') % 2:
        raise UsageError("A quotation mark is open.", 'Write a value with spaces as model="a b".')
    return [word.replace('"', "") for word in _WORD.findall(line)]


def selection_of(where: Sequence[str], limit: int | None = None) -> Selection:
    """Return the selection of items for which all these conditions hold, written as for `parse_condition`."""
    return Selection(tuple(parse_condition(text) for text in where), limit)


# -- Groupings of metrics by properties of items and verdicts, by one or by several crossed properties.


GROUPS: Final = (
    "type",
    "subtype",
    "domain",
    "source",
    "model",
    "dataset",
    "reason",
    "length",
    "language",
    "difficulty",
)
"""Fields by which metrics can be grouped. ``reason`` belongs to the verdict, the others to the item; ``length`` is the
completion's, one of `LENGTHS`."""
TOLD: Final = ("language", "difficulty")
"""Groupings that are read from the field of the same name in rows or code problems, if it exists."""
JOINED: Final = " · "
"""Separator between the parts of a group's name, for a grouping by several fields."""
LENGTHS: Final = ("<1k", "1k-2k", "2k-5k", "5k-10k", "10k-20k", "20k-50k", "50k+")
"""Groups of completions by length in characters; each group includes its lower bound."""
LENGTH_BOUNDS: Final = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
"""Lower bounds of `LENGTHS` except the first, in characters (Unicode code points)."""
NAMELESS: Final = "(none)"
"""Name of the group without a source, domain or model."""
UNKNOWN: Final = "unknown"
"""The group of completions of unknown length."""


def split_grouping(by: str) -> tuple[str, ...]:
    """Split a grouping into its fields: ``"type"``, or crossed fields such as ``"type,domain"`` or
    ``"type,column:level"``.

    Raises:
        UsageError: A field is neither in `GROUPS` nor a `COLUMN`, or occurs twice.
    """
    parts = _split_fields(by)
    unknown = [part for part in parts if part not in GROUPS and not part.startswith(COLUMN)]
    if unknown:
        raise UsageError(
            f"Metrics can't be broken down by {unknown[0]!r}.",
            f"Use one of {', '.join(GROUPS)}, column:NAME, or several separated by commas.",
        )
    if len(set(parts)) < len(parts):
        raise UsageError(f"{by!r} names a field twice.", "Name each once, such as type,domain.")
    return parts


def _split_fields(by: str) -> tuple[str, ...]:
    parts: list[str] = []
    for part in by.split(","):
        known = part.strip() in GROUPS or part.lstrip().startswith(COLUMN)
        if parts and parts[-1].startswith(COLUMN) and not known:
            parts[-1] += f",{part}"
        else:
            parts.append(part.lstrip() if part.lstrip().startswith(COLUMN) else part.strip())
    return tuple(parts)


def group_name(group: str | None, by: str | None) -> str:
    """Return a group's name for display: ``"all"``, ``"A - Numeric Values"``, ``"A - Numeric Values · algebra"``, a
    source's name.

    Args:
        by: The grouping. If the group doesn't have as many parts as the grouping has fields (a name contains `JOINED`),
            it is returned unchanged.
    """
    if group is None:
        return "all"
    fields, parts = split_grouping(by) if by else (), group.split(JOINED)
    if len(fields) != len(parts):
        return group
    return JOINED.join(_part_name(part, field) for part, field in zip(parts, fields, strict=True))


def _part_name(part: str, field: str) -> str:
    return type_display(part) if field in ("type", "subtype") else part or NAMELESS


# -- Numbers from other programs, such as scores, from which metrics are computed.


MOST: Final = 1e100
"""Magnitude beyond which squares and their sums may overflow."""


def is_usable_number(value: float) -> bool:
    """Return whether a number can be used in metrics: it is finite, and not larger than any real measurement."""
    return -MOST <= value <= MOST
