"""What the tables of comparisons are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from workbench.model.comparison import PairedFigures
from workbench.render.bars import NONE
from workbench.reports.document import Table, heads, row

SELF: Final = "·"
"""Stands where a verifier meets itself."""


def signed(value: float | None) -> str:
    """A difference to three digits, with its sign."""
    return NONE if value is None else f"{value:+.3f}"


def signed_interval(ends: tuple[float, float] | None) -> str:
    """A difference's interval."""
    return NONE if ends is None else f"[{ends[0]:+.3f}, {ends[1]:+.3f}]"


def one_decimal(value: float | None) -> str:
    """An expected count."""
    return NONE if value is None else f"{value:,.1f}"


def detectable(figures: PairedFigures) -> str:
    """The difference such data would show in four of five cases; none above 1."""
    return NONE if figures.detectable is None or figures.detectable > 1 else f"{figures.detectable:.3f}"


def matrix(names: Sequence[str], cell: Callable[[str, str], str], caption: str) -> Table:
    """Names by names; columns carry the numbers of the rows."""
    return Table(
        caption=caption,
        head=(heads("", "", *(str(place) for place in range(1, len(names) + 1))),),
        left=2,
        rows=tuple(
            row(str(place), name, *(SELF if name == other else cell(name, other) for other in names))
            for place, name in enumerate(names, 1)
        ),
    )
