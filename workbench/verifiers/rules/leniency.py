"""Strictness of `rules`: the user's options."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Meta

from workbench.core.options import Options

if TYPE_CHECKING:
    from workbench.verifiers.rules.quantities import Quantity


class Leniency(Options, frozen=True, kw_only=True):
    """The options of `rules`; defaults are omitted from a configuration."""

    tolerance: Annotated[float, Meta(ge=0, le=1, description="relative tolerance of numbers, such as 0.01")] = 0.0
    units: Annotated[
        Literal["optional", "required"], Meta(description="whether an answer must have the reference's unit")
    ] = "optional"
    form: Annotated[
        Literal["asked", "any"],
        Meta(description="form of a correct answer: asked (as the question asks for it) or any"),
    ] = "asked"

    def near(self, reference: Quantity, candidate: Quantity) -> Quantity:
        if not self.tolerance or reference.pi != candidate.pi or _offset(reference) != _offset(candidate):
            return candidate
        wanted, scale = reference.number.value * _factor(reference, candidate), _factor(candidate, reference)
        found = candidate.number.value * scale
        if wanted == found or abs(found - wanted) > abs(wanted) * Fraction(self.tolerance):
            return candidate
        return candidate._replace(number=candidate.number._replace(value=wanted / scale))


AS_IT_IS: Final = Leniency()
"""The default options."""


def _factor(side: Quantity, other: Quantity) -> Fraction:
    return Fraction(side.unit.factor) if side.unit and other.unit else Fraction(1)


def _offset(side: Quantity) -> object:
    return side.unit if side.unit and side.unit.offset else None
