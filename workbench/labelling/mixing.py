"""What is mixed in among a person's items: checks, and repeats of their own.

Whether a person's next item is one follows from a hash under the database's secret: every process finds the same,
an item that is left comes again, and the person can't work it out.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal

from workbench.config.policy import AnnotationPolicy

Kind = Literal["fresh", "check", "repeat"]


def kind_of_next(secret: bytes, person: int, served: int, policy: AnnotationPolicy) -> Kind:
    """What a person is served after ``served`` items, where there is one of that kind."""
    draw = place(secret, f"next {person} {served}") / 2**64
    if draw < policy.check_rate:
        return "check"
    return "repeat" if draw < policy.check_rate + policy.repeat_share else "fresh"


def place(secret: bytes, name: str) -> int:
    """A number below 2**64 that nobody without the secret can work out."""
    return int.from_bytes(blake2b(name.encode(), key=secret, digest_size=8).digest(), "big")


def to_come(
    secret: bytes, person: int, served: int, policy: AnnotationPolicy, *, fresh: int, checks: int, repeats: int
) -> int:
    """How many items a person will be served until the last fresh one, what is mixed in among them.

    Args:
        served: How many they have been served.
        fresh: Items that are left for them.
        checks: Checks they have not answered.
        repeats: Own items that could be served again.
    """
    left = {"fresh": fresh, "check": checks, "repeat": repeats}
    coming = 0
    while left["fresh"] and (left["check"] or left["repeat"]):
        kind = kind_of_next(secret, person, served + coming, policy)
        left[kind if left[kind] else "fresh"] -= 1
        coming += 1
    return coming + left["fresh"]
