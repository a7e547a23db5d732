"""What figures can be broken down by: properties of items and verdicts, alone or crossed."""

from __future__ import annotations

from typing import Final

from workbench.core.errors import UsageError
from workbench.core.taxonomy import type_display

GROUPS: Final = ("type", "subtype", "domain", "source", "model", "dataset", "reason", "length")
"""``reason`` is the verdict's, the others are the item's; ``length`` is the completion's, in `LENGTHS`."""

JOINED: Final = " · "
"""Between the parts of a crossing's group."""

LENGTHS: Final = ("<1k", "1k-2k", "2k-5k", "5k-10k", "10k-20k", "20k-50k", "50k+")
"""Names of the lengths of completions, in thousands of characters; a length belongs to what begins with it."""

LENGTH_BOUNDS: Final = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
"""Where each of `LENGTHS` but the first begins, in characters (Unicode code points)."""

NAMELESS: Final = "(none)"
"""How the group of what has no source, domain or model is called."""

UNKNOWN: Final = "unknown"
"""The group of completions whose length is not known."""


def crossing(by: str) -> tuple[str, ...]:
    """The parts of ``"type"`` or of a crossing such as ``"type,domain"``.

    Raises:
        UsageError: A part is none of `GROUPS`, or stands there twice.
    """
    parts = tuple(part.strip() for part in by.split(","))
    unknown = [part for part in parts if part not in GROUPS]
    if unknown:
        raise UsageError(
            f"Figures can't be broken down by {unknown[0]!r}.",
            f"Use one of {', '.join(GROUPS)}, or several with commas between them.",
        )
    if len(set(parts)) < len(parts):
        raise UsageError(f"{by!r} names a property twice.", "Name each once, such as type,domain.")
    return parts


def group_name(group: str | None, by: str | None) -> str:
    """A group for people: ``"all"``, ``"A - Numeric Values"``, ``"A - Numeric Values · algebra"``, a source's name.

    Args:
        by: What it is a group of. A name that holds `JOINED` itself can't be told from a crossing: it stands as it is.
    """
    if group is None:
        return "all"
    fields, parts = crossing(by) if by else (), group.split(JOINED)
    if len(fields) != len(parts):
        return group
    return JOINED.join(_part_name(part, field) for part, field in zip(parts, fields, strict=True))


def _part_name(part: str, field: str) -> str:
    return type_display(part) if field in ("type", "subtype") else part or NAMELESS
