"""Records of metrics that are computed twice, as an audit reports them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Family = Literal["accuracy", "confusion", "compare", "agreement", "estimates", "code", "calibration"]
"""The families of metrics; each has a module in the plain implementation."""


class AuditDifference(Struct, frozen=True, kw_only=True):
    """A metric whose plain computation differs.

    Attributes:
        figure: The path of the metric, such as ``forced | rules | type A | mcc``.
        shown: The tool's value; None where it is undefined.
        plain: The value of the plain implementation; None where it is undefined.
        absent: Which of the two lacks the metric; None if both have it.
    """

    family: Family
    figure: str
    shown: float | None
    plain: float | None
    absent: Literal["shown", "plain"] | None = None


class AuditedFamily(Struct, frozen=True, kw_only=True):
    """The comparison of one family.

    Attributes:
        figures: The number of metrics.
        differences: The number of metrics that differ.
        largest: The largest difference of two defined metrics, however small; None without any.
        reason: Why there are no metrics; None if there are.
    """

    family: Family
    figures: int
    differences: int
    largest: float | None
    reason: str | None = None


class AuditReport(Struct, frozen=True, kw_only=True):
    """The comparison of all families.

    Attributes:
        tolerance: The allowed difference of two metrics.
        differences: The first metrics of each family that differ by more, or that only one implementation has.
    """

    tolerance: float
    families: list[AuditedFamily]
    differences: list[AuditDifference]
