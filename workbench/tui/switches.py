"""Keys that go through a few choices."""

from __future__ import annotations

from typing import TypeVar

Choice = TypeVar("Choice")


def following(present: Choice, choices: tuple[Choice, ...]) -> Choice:
    """The choice after the present one; the first after the last."""
    return choices[(choices.index(present) + 1) % len(choices)]
