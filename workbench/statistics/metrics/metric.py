"""The declaration of a metric, which is the metadata of a record's field."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal, get_type_hints

from msgspec import Meta, Struct

from workbench.core.text.figures import NONE, percent

if TYPE_CHECKING:
    from workbench.statistics.confusion import Confusion

_KEY: Final = "metric"


class Metric(Struct, frozen=True, kw_only=True):
    """The computation and the display of a metric.

    Attributes:
        name: Its name in sentences.
        heading: Its heading in tables.
        short: Its heading where there is little room.
        help: Its meaning, without a full stop.
        undefined: When it is None.
        hint: Its meaning in a few words; empty if the name says it.
        of: Computes it from counts of verdicts against gold; None if it is computed from something else.
        unit: ``%`` for a share, which reports and screens show in percent.
        low: The lowest possible value; the highest is 1.
        better: Whether high or low values are good.
        interval: The record's field with its 95 % interval; empty for none.
        is_optional: Whether tables leave it out if no row has it.
    """

    name: str
    heading: str
    short: str
    help: str
    undefined: str
    hint: str = ""
    of: Callable[[Confusion], float | None] | None = None
    unit: Literal["%", ""] = "%"
    low: float = 0.0
    better: Literal["high", "low"] = "high"
    interval: str = ""
    is_optional: bool = False

    @property
    def scale(self) -> str:
        return "in %" if self.unit else f"from {self.low:g} to 1"

    @property
    def worst(self) -> Literal["high", "low"]:
        return "low" if self.better == "high" else "high"

    def text(self, value: float | None) -> str:
        """Format a value for a screen."""
        return percent(value) if self.unit else NONE if value is None else f"{value:.3f}"

    def field(self) -> Meta:
        """Return the metadata of a field with this metric; its help is the field's description in the schema."""
        return Meta(description=f"{self.help}; null {self.undefined}.", extra={_KEY: self})


def metrics_of(record: type[Struct]) -> dict[str, Metric]:
    """Return the metrics of a record by field, in the order of its fields."""
    return {
        name: note.extra[_KEY]
        for name, type_ in get_type_hints(record, include_extras=True).items()
        for note in getattr(type_, "__metadata__", ())
        if isinstance(note, Meta) and note.extra and _KEY in note.extra
    }


def ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
