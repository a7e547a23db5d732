"""How figures were counted, in the line that stands above them."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.core.verdict import GoldChoice, Protocol3


def counting(protocol: Protocol3, choice: GoldChoice, gold: Mapping[str, int]) -> str:
    """The protocol and the gold that were asked for, and where the items have it from."""
    return f"protocol {protocol}, {gold_counting(choice, gold)}"


def gold_counting(choice: GoldChoice, gold: Mapping[str, int]) -> str:
    """The same of figures that no protocol changes."""
    sources = ", ".join(f"{number:,} {name}" for name, number in gold.items())
    return f"gold {choice} ({sources})"
