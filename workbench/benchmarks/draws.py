"""Chance that can be repeated: every draw has a seed of its own, made of what it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from heapq import nsmallest
from random import Random
from typing import TypeVar

T = TypeVar("T")


def draw(seed: int, *parts: str | int) -> Random:
    """A generator for one draw.

    Args:
        seed: The evolution's, or the set's.
        parts: What is drawn: the problem's id, the round, the step.
    """
    return Random(int.from_bytes(_digest(seed, *parts), "big"))


def in_drawn_order(values: Iterable[T], seed: int, key: Callable[[T], tuple[str | int, ...]]) -> list[T]:
    """Values in an order that chance has chosen: ascending hash of the seed and each one's own key.

    Taking the first n of them is a sample. Further values change only what they must: the others keep their order.

    Args:
        key: What a value is known by everywhere (its data set's name and its id, not its row number).
    """
    return sorted(values, key=lambda value: _digest(seed, *key(value)))


def first_drawn(values: Iterable[T], count: int, seed: int, key: Callable[[T], tuple[str | int, ...]]) -> list[T]:
    """The first so many of `in_drawn_order`; the others are never held together."""
    return nsmallest(count, values, key=lambda value: _digest(seed, *key(value)))


def first_drawn_of(
    values: Iterable[T], count: int, seed: int, parts: tuple[str | int, ...], name: Callable[[T], str]
) -> list[T]:
    """`first_drawn` of values that chance knows by ``(*parts, name)``; what they share is encoded once."""
    shared = b"".join(map(_content, (seed, *parts)))

    def rank(value: T) -> bytes:
        # What `_digest` does, without its calls: a million values are ranked.
        content = name(value).encode("utf-8", "surrogatepass")
        return blake2b(shared + len(content).to_bytes(8, "big") + content, digest_size=16).digest()

    return nsmallest(count, values, key=rank)


def drawn_number(seed: int, *parts: str | int) -> int:
    """A number below 2**24 that is drawn for one thing."""
    return int.from_bytes(_digest(seed, *parts)[:3], "big")


def _digest(seed: int, *parts: str | int) -> bytes:
    return _hash(b"".join(map(_content, (seed, *parts))))


def _hash(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _content(part: str | int) -> bytes:
    content = str(part).encode("utf-8", "surrogatepass")
    return len(content).to_bytes(8, "big") + content
