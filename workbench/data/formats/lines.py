"""Lines of a byte stream, read in big blocks; a line ends at LF alone."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Literal, Protocol

from msgspec import Struct

from workbench.core.item import KEPT_RAW

BLOCK = 1 << 20
DEFAULT_MAX_LINE = 16 << 20

Fault = Literal["too_long", "unterminated", "damaged"]
"""``too_long``: only the first 64 KiB are there; ``unterminated``: the file ends without a line end;
``damaged``: the compressed stream breaks off here."""


class Stream(Protocol):
    """What lines are read from."""

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; none at the end."""
        ...


class LineRefusedError(Exception):
    """A line can't be taken; ``field`` and the message say why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class NumberedLine(Struct, frozen=True, gc=False):
    """One line without its line end, numbered from 1."""

    number: int
    raw: bytes
    fault: Fault | None


def read_lines(stream: Stream, max_line: int = DEFAULT_MAX_LINE) -> Iterator[NumberedLine]:
    """All lines in order; one that exceeds ``max_line`` bytes is never held in memory whole."""
    number = 0
    rest = b""
    too_long = False
    while True:
        try:
            block = stream.read(BLOCK)
        except (EOFError, zlib.error):
            yield NumberedLine(number + 1, rest[:KEPT_RAW], "damaged")
            return
        if not block:
            break
        if too_long:
            _, end, block = block.partition(b"\n")
            if not end:
                continue
            too_long = False
            number += 1
            yield NumberedLine(number, rest, "too_long")
            rest = b""
        *lines, rest = (rest + block).split(b"\n")
        for raw in lines:
            number += 1
            yield (
                NumberedLine(number, raw, None)
                if len(raw) <= max_line
                else NumberedLine(number, raw[:KEPT_RAW], "too_long")
            )
        if len(rest) > max_line:
            rest, too_long = rest[:KEPT_RAW], True
    if rest:
        yield NumberedLine(number + 1, rest, "too_long" if too_long else "unterminated")
