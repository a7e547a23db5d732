"""Chance that can be repeated: every draw has a seed of its own, made of what it is for."""

from __future__ import annotations

from hashlib import blake2b
from random import Random


def draw(seed: int, *parts: str | int) -> Random:
    """A generator for one draw.

    Args:
        seed: The evolution's.
        parts: What is drawn: the problem's id, the round, the step.
    """
    digest = blake2b(digest_size=16)
    for part in (seed, *parts):
        content = str(part).encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "big") + content)
    return Random(int.from_bytes(digest.digest(), "big"))
