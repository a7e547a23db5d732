"""In what order a batch's items are served, and which of them it has."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from workbench.data.store.drawing import SamplingFrame
from workbench.statistics.records.ordering import Sample

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Places = npt.NDArray[np.integer[Any]]

SEED = "workbench"
"""Seed of the random order of a batch; the same items come in the same order everywhere."""


class Ordering(Struct, frozen=True):
    """An order of items.

    Attributes:
        name: What the batch remembers of it.
        sample: How it chooses items; "all" where it leaves that to the limit.
        ranked: The places of the items that the batch has, the first to be served first, with this seed; None
            for the random order.
    """

    name: str
    sample: Sample = "all"
    ranked: Callable[[SamplingFrame, int], Places] | None = None


def random_position(key: str) -> int:
    """An item's place in the random order, from its own id; below 2**63."""
    digest = blake2b(key.encode("utf-8", "surrogatepass"), key=SEED.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


RANDOM = Ordering("random")
"""No order of the items' own; the same for everyone."""
