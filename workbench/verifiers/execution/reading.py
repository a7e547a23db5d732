"""What a child wrote, taken apart; it may be anything."""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec import Struct

from workbench.verifiers.execution.compare import MalformedOutputError
from workbench.verifiers.execution.inside.frames import HEAD

_CHUNK = 1 << 20


class OutcomeFrame(Struct, frozen=True):
    """What was said of one test.

    Attributes:
        number: The test's place, or `inside.frames.START` for the program itself.
        letter: An outcome, or ``v`` for a value.
        micros: Processor time its thread took, in microseconds, as the child says.
        text: The value, or the evidence.
    """

    number: int
    letter: str
    micros: int
    text: bytes


class Results:
    """The reading end of a child's pipe.

    Args:
        descriptor: Doesn't block.
        most: Bytes a child may write.
        longest: Of these, bytes of text in one frame.
    """

    def __init__(self, descriptor: int, most: int, longest: int) -> None:
        self._descriptor = descriptor
        self._left = most
        self._longest = longest
        self._data = bytearray()
        self.ended = False

    def read(self) -> None:
        """Take in what is there, but no more at once than a frame takes, and notice the end.

        Raises:
            MalformedError: It is more than the child may write.
        """
        while not self.ended and len(self._data) <= HEAD.size + self._longest:
            try:
                data = os.read(self._descriptor, _CHUNK)
            except BlockingIOError:
                return
            self.ended = not data
            self._left -= len(data)
            if self._left < 0:
                raise MalformedOutputError
            self._data += data

    def frames(self) -> Iterator[OutcomeFrame]:
        """The frames that are complete; they are forgotten.

        Raises:
            MalformedError: One is longer than any may be.
        """
        data = self._data
        while len(data) >= HEAD.size:
            number, letter, micros, length = HEAD.unpack_from(data)
            if length > self._longest:
                raise MalformedOutputError
            end = HEAD.size + length
            if len(data) < end:
                return
            yield OutcomeFrame(number, letter.decode("latin-1"), micros, bytes(data[HEAD.size : end]))
            del data[:end]

    def output(self) -> bytes:
        """All that was written, for a program whose output is the result."""
        return bytes(self._data)
