"""Figures counted twice, as an audit reports them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Family = Literal["accuracy", "confusion", "compare", "agreement", "estimates", "code", "calibration"]
"""What figures are of; a module of the plain implementation each."""


class AuditDifference(Struct, frozen=True, kw_only=True):
    """A figure that is another one when counted plainly.

    Attributes:
        figure: What it is of, such as ``forced | rules | type A | mcc``.
        shown: As the tool has it; None where it is undefined.
        plain: As the plain implementation has it; None likewise.
        absent: Which of both has no such figure at all; None where both have it.
    """

    family: Family
    figure: str
    shown: float | None
    plain: float | None
    absent: Literal["shown", "plain"] | None = None


class AuditedFamily(Struct, frozen=True, kw_only=True):
    """What was compared of one family.

    Attributes:
        figures: How many there are.
        differences: How many of them differ.
        largest: The largest difference of two defined figures, however small; None without any.
        reason: Why there are none; None where there are.
    """

    family: Family
    figures: int
    differences: int
    largest: float | None
    reason: str | None = None


class AuditReport(Struct, frozen=True, kw_only=True):
    """The comparison of all families.

    Attributes:
        tolerance: By how much two figures may differ.
        differences: The first of each family that differ by more, or that one of both lacks.
    """

    tolerance: float
    families: list[AuditedFamily]
    differences: list[AuditDifference]
