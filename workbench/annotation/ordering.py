"""In what order a batch's items are served."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b

from msgspec import Struct

from workbench.store.batches import Chosen

SEED = "workbench"
"""Seed of the random order of a batch; the same items come in the same order everywhere."""


class Ordering(Struct, frozen=True):
    """An order of items.

    Attributes:
        name: What the batch remembers of it.
        positions: The place of every given item, in their order; smaller comes first, None is left out of the batch.
    """

    name: str
    positions: Callable[[Sequence[Chosen]], Sequence[int | None]]


def random_position(key: str) -> int:
    """An item's place in the random order, from its own id; below 2**63."""
    digest = blake2b(key.encode("utf-8", "surrogatepass"), key=SEED.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


RANDOM = Ordering("random", lambda items: [random_position(item.key) for item in items])
"""No order of the items' own; the same for everyone."""
