"""Messages between a pool and its workers: a length, then a record as MessagePack.

Nothing is unpickled, so a faulty worker can send wrong data but not code.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from typing import BinaryIO

import msgspec
from msgspec import Struct

from workbench.core.verdict import Verdict, VerifierInput
from workbench.verifiers.base import Pending

LENGTH = struct.Struct("!Q")
"""The header of each message."""

_CHUNK = 1 << 18
_LONGEST_REPLY = 1 << 26


class Setup(Struct, frozen=True, kw_only=True):
    """The configuration of the server and its workers at their start.

    Attributes:
        path: The pool's ``sys.path``.
        control: File descriptor on which sockets for new workers arrive.
        kind: The verifier's kind.
        target: The verifier's class as ``module:class``.
        deadline: Seconds an item may take.
        memory_bytes: Resident memory a worker may use.
    """

    path: list[str]
    control: int
    kind: str
    target: str
    options: dict[str, str]
    preload: tuple[str, ...]
    deadline: float
    memory_bytes: int


class Hello(Struct, frozen=True, kw_only=True):
    """A worker's first message, before it loads anything."""

    pid: int


class Loaded(Struct, frozen=True, kw_only=True):
    """A worker's second message: it is ready, or why it isn't."""

    failure: str | None = None


class WorkerTask(Struct, eq=False):
    """Items for a worker.

    Attributes:
        first: Whether only the first stage judges them; else there is one item.
    """

    items: Sequence[VerifierInput]
    first: bool = False


class WorkerAnswer(Struct, frozen=True, kw_only=True):
    """The answer to each item of a task, and whether the worker ends after it because it has grown too large."""

    found: list[Verdict | Pending]
    last: bool = False


def pack(message: Struct) -> bytes:
    body = msgspec.msgpack.encode(message)
    return LENGTH.pack(len(body)) + body


def read(stream: BinaryIO) -> bytes | None:
    """Read the next message's body, waiting for it; None if the other side has closed."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    body = stream.read(length)
    return body if len(body) == length else None


class Channel:
    """The pool's end of one worker's socket; it never waits for the worker."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self.sock = sock
        self._outgoing = memoryview(b"")
        self._incoming = bytearray()

    @property
    def unsent(self) -> bool:
        return bool(self._outgoing)

    def send(self, message: Struct) -> None:
        self._outgoing = memoryview(pack(message))
        self.flush()

    def flush(self) -> None:
        """Send as much as the socket accepts; a closed socket is detected when it is read."""
        try:
            while self._outgoing:
                self._outgoing = self._outgoing[self.sock.send(self._outgoing) :]
        except BlockingIOError:
            return
        except ConnectionError:
            self._outgoing = memoryview(b"")

    def receive(self) -> bytes | None:
        """Return the next message's body; None if it has not arrived completely.

        Raises:
            EOFError: The worker has ended, or sends invalid data.
        """
        body = self._next()
        while body is None:
            try:
                data = self.sock.recv(_CHUNK)
            except BlockingIOError:
                return None
            except ConnectionError as error:
                raise EOFError from error
            if not data:
                raise EOFError
            self._incoming += data
            body = self._next()
        return body

    def _next(self) -> bytes | None:
        if len(self._incoming) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack_from(self._incoming)
        if length > _LONGEST_REPLY:
            raise EOFError
        if len(self._incoming) < (end := LENGTH.size + length):
            return None
        body = bytes(self._incoming[LENGTH.size : end])
        del self._incoming[:end]
        return body

    def close(self) -> None:
        self.sock.close()
