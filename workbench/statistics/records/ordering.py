"""In what order items are labelled."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

OrderName = Literal["random", "disagreement", "uncertainty"]
"""By chance; those first on which verifiers differ most; those first of which they are least sure."""


Sample = Literal["all", "drawn", "quota", "order", "first"]
"""How the items of a batch were chosen: all that meet its conditions; by chance, spread over their questions; so many
of each answer subtype by chance; those first that verifiers differ on or are unsure of; or the first imported, as
limits were kept before schema version 8."""


class BatchSample(Struct, frozen=True, kw_only=True):
    """Labels that are no random sample, with the batch they come from.

    Attributes:
        batch: Its number.
        items: Labelled items of it.
    """

    batch: int
    sample: Sample
    items: int


class BatchOrder(Struct, frozen=True, kw_only=True):
    """Which items of a batch come first, and how many of each answer subtype it has.

    Attributes:
        verifiers: Whose newest complete runs decide; empty for all that judge completions.
        per_subtype: At most so many items of a subtype, the first ones in this order; None for all.
        limit: At most so many items, the first ones in this order; None for all.
    """

    name: OrderName = "random"
    verifiers: tuple[str, ...] = ()
    per_subtype: int | None = None
    limit: int | None = None

    def __str__(self) -> str:
        words: list[str] = [self.name]
        if self.verifiers:
            words.append(f"of {', '.join(self.verifiers)}")
        if self.per_subtype is not None:
            words.append(f"at most {self.per_subtype} of a subtype")
        if self.limit is not None:
            words.append(f"limit {self.limit}")
        return ", ".join(words)
