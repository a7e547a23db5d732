"""Work that is read from its source only while there is room for its results, and assigned to workers in leases."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, Generic, TypeVar

from msgspec import Struct

_MAX_LEASE_PIECES: Final = 3000
"""Maximum pieces of a lease."""
_LAST_LEASES_PER_WORKER: Final = 8
"""Leases known ahead for each worker; with fewer left, the remaining work is divided into smaller leases."""
_MAX_LEASE_CHARACTERS: Final = 4_000_000
"""A lease with this many characters gets no more pieces."""
LEASES_PER_NODE: Final = 2
"""Number of leases that a node holds at a time: it has the next one when it finishes the first."""

T = TypeVar("T")
Payload = TypeVar("Payload")
Key = TypeVar("Key")


def always() -> bool:
    return True


class PacedIterator(Iterator[T]):
    """Yields from a source; stops while there is no room, but unlike other iterators it may continue later.

    Args:
        has_room: Whether there is room; false only while some yielded work is in progress.
    """

    def __init__(self, source: Iterable[T], has_room: Callable[[], bool]) -> None:
        self._source, self._has_room = iter(source), has_room

    def __next__(self) -> T:
        if not self._has_room():
            raise StopIteration
        return next(self._source)


class WorkPiece(Struct, Generic[Key, Payload]):
    """A piece of work.

    Attributes:
        key: The identity of the piece.
        tries: Number of nodes that died while they worked on it, before they had finished any work.
    """

    key: Key
    payload: Payload
    tries: int = 0


class Feed(Generic[Key, Payload]):
    """Work in leases, taken from its source as nodes become free.

    The last leases get smaller and smaller, so that no node stays busy for long while others have no work.

    Args:
        source: Pairs of a key and a piece of work.
        characters: Returns the length of a piece of work in characters.
        most: Maximum number of pieces in a lease, for each worker of the node.
    """

    def __init__(self, source: Iterable[tuple[Key, Payload]], characters: Callable[[Payload], int], most: int) -> None:
        self._source, self._characters, self._most = iter(source), characters, most
        self._ahead = deque[WorkPiece[Key, Payload]]()
        self._read_ahead()

    @property
    def ended(self) -> bool:
        return not self._ahead

    def give_back(self, pieces: Sequence[WorkPiece[Key, Payload]]) -> None:
        self._ahead.extendleft(reversed(pieces))

    def drop(self, is_gone: Callable[[Key], bool]) -> None:
        self._ahead = deque(piece for piece in self._ahead if not is_gone(piece.key))

    def take(self, workers: int, nodes: int) -> list[WorkPiece[Key, Payload]]:
        """Return the next lease for a node with ``workers`` workers, one of ``nodes``; empty if no work is left."""
        size = min(self._most * workers, _MAX_LEASE_PIECES)
        if len(self._ahead) < _LAST_LEASES_PER_WORKER * self._most:
            size = min(size, -(-len(self._ahead) // (2 * LEASES_PER_NODE * nodes)))
        lease, characters = list[WorkPiece[Key, Payload]](), 0
        while self._ahead and len(lease) < max(size >> self._ahead[0].tries, 1) and characters < _MAX_LEASE_CHARACTERS:
            lease.append(piece := self._ahead.popleft())
            characters += self._characters(piece.payload)
        self._read_ahead()
        return lease

    def _read_ahead(self) -> None:
        short = _LAST_LEASES_PER_WORKER * self._most - len(self._ahead)
        self._ahead.extend(WorkPiece(key, payload) for key, payload in islice(self._source, max(short, 0)))
