"""Messages between a pool and its workers: a length, then a record as MessagePack.

Nothing is ever unpickled, so a worker that misbehaves can send wrong data but not code.
"""

from __future__ import annotations

import socket
import struct
from typing import BinaryIO

import msgspec
from msgspec import Struct

from workbench.core.verdict import Verdict

LENGTH = struct.Struct("!Q")
"""What stands before each message."""

_CHUNK = 1 << 18
_LONGEST_REPLY = 1 << 26


class Setup(Struct, frozen=True, kw_only=True):
    """What the server and its workers are told at their start.

    Attributes:
        path: The pool's ``sys.path``.
        control: File descriptor on which sockets for new workers arrive.
        kind: The verifier's name.
        target: Its class as ``module:class``.
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
    """A worker's first words, before it loads anything."""

    pid: int


class Loaded(Struct, frozen=True, kw_only=True):
    """A worker's second message: it can take items, or why it never will."""

    failure: str | None = None


class WorkerAnswer(Struct, frozen=True, kw_only=True):
    """A verdict on an item, and whether the worker ends after it (it has grown too large)."""

    item: int
    verdict: Verdict
    last: bool = False


def pack(message: Struct) -> bytes:
    """A message ready to be sent."""
    body = msgspec.msgpack.encode(message)
    return LENGTH.pack(len(body)) + body


def read(stream: BinaryIO) -> bytes | None:
    """The next message's body, waiting for it; None when the other side has gone."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    body = stream.read(length)
    return body if len(body) == length else None


def message(incoming: bytearray) -> bytes | None:
    """Take the first complete message's body out of what came; None when there is none yet."""
    if len(incoming) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack_from(incoming)
    end = LENGTH.size + length
    if len(incoming) < end:
        return None
    body = bytes(incoming[LENGTH.size : end])
    del incoming[:end]
    return body


class Channel:
    """The pool's end of one worker's socket; it never waits for the worker."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self.sock = sock
        self._outgoing = memoryview(b"")
        self._incoming = bytearray()

    @property
    def unsent(self) -> bool:
        """Whether part of a message still waits for room in the socket."""
        return bool(self._outgoing)

    def send(self, message: Struct) -> None:
        """Start sending a message; ``flush`` sends the rest."""
        self._outgoing = memoryview(pack(message))
        self.flush()

    def flush(self) -> None:
        """Send what the socket has room for; a closed socket shows when it is read."""
        try:
            while self._outgoing:
                self._outgoing = self._outgoing[self.sock.send(self._outgoing) :]
        except BlockingIOError:
            return
        except ConnectionError:
            self._outgoing = memoryview(b"")

    def receive(self) -> bytes | None:
        """The next complete message's body, or None when there is none yet.

        Raises:
            EOFError: The worker has gone, or sends nonsense.
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
        if len(self._incoming) >= LENGTH.size and LENGTH.unpack_from(self._incoming)[0] > _LONGEST_REPLY:
            raise EOFError
        return message(self._incoming)

    def close(self) -> None:
        """Close the socket."""
        self.sock.close()
