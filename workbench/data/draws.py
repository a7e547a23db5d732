"""Chance that can be repeated: every draw has a seed of its own, made of what it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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


def drawn_places(names: Sequence[str], count: int, seed: int, *parts: str | int) -> list[int]:
    """Where the names stand that come first in `in_drawn_order` of values known by ``(*parts, name)``."""
    # What `_digest` does, without its calls: a million names are ranked.
    contents = [name.encode("utf-8", "surrogatepass") for name in names]
    shared = b"".join(map(_content, (seed, *parts)))
    begun = {size: _begun(shared + _size(size)) for size in set(map(len, contents))}
    ranks = []
    for content in contents:
        one = begun[len(content)].copy()
        one.update(content)
        ranks.append(one.digest())
    return [place for _, place in nsmallest(count, zip(ranks, range(len(ranks)), strict=True))]


def drawn_number(seed: int, *parts: str | int) -> int:
    """A number below 2**24 that is drawn for one thing."""
    return int.from_bytes(_digest(seed, *parts)[:3], "big")


def _digest(seed: int, *parts: str | int) -> bytes:
    return _begun(b"".join(map(_content, (seed, *parts)))).digest()


def _begun(content: bytes) -> blake2b:
    return blake2b(content, digest_size=16)


def _content(part: str | int) -> bytes:
    content = str(part).encode("utf-8", "surrogatepass")
    return _size(len(content)) + content


def _size(size: int) -> bytes:
    return size.to_bytes(8, "big")
