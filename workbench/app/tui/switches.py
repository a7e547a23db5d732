"""Stepping to the next of several choices, and finding an item's position in a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Choice = TypeVar("Choice")


def following(present: Choice, choices: tuple[Choice, ...]) -> Choice:
    return choices[(choices.index(present) + 1) % len(choices)]


def index_of(ids: Sequence[int], wanted: int) -> int | None:
    try:
        return ids.index(wanted)
    except ValueError:
        return None
