"""A batch of calls, its status at the provider, and the results of its calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, TypeVar

import msgspec
from msgspec import Struct

from workbench.llm.failures import AttemptFailed, malformed

EXPIRED: Final = "the batch ended before this request's turn came"
CANCELLED: Final = "the batch was cancelled before this request's turn came"


class NewBatch(Struct, frozen=True, kw_only=True):
    """A batch to create.

    Attributes:
        token: A unique text with which the names of the batch's calls begin.
        calls: Number of calls.
        since: Seconds since 1970, shortly before the first attempt to create it.
        path: The path of a single call, after the base URL.
    """

    token: str
    model: str
    calls: int
    since: float
    path: str


class BatchStatus(Struct, frozen=True, kw_only=True):
    """The status of a batch.

    Attributes:
        ended: Whether all results are available.
        words: The provider's name of the status.
        results: The sources that `BatchApi.fetch` reads.
        problems: Errors of the whole batch, none of whose calls was made: code and message each.
        wait: Seconds that the provider asks to wait before the next poll.
    """

    ended: bool
    words: str
    results: tuple[str, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    wait: float | None = None

    @property
    def failure_of_missing_calls(self) -> tuple[AttemptFailed, bool]:
        words = self.words.lower()
        if words in {"expired", "timeout_exceeded"}:
            return AttemptFailed("timeout", EXPIRED), False
        if words == "cancelled":
            return AttemptFailed("cancelled", CANCELLED), False
        return AttemptFailed("malformed", "the batch ended without a word on this request"), True


class BatchResult(Struct, frozen=True, kw_only=True):
    """The result of one call.

    Attributes:
        call: The call's name.
        body: The reply's bytes, as a call outside a batch would have returned them.
        failure: Why the call has no reply; None if it has one.
        made: Whether the call was made; otherwise it costs nothing.
    """

    call: str
    body: bytes = b""
    failure: AttemptFailed | None = None
    made: bool = True


class NotYetKnown(Exception):
    """It can't be determined yet whether a batch was created."""


# -- JSON lines, processed from files: a batch may be too large for memory.


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    return (line for line in file if line.strip())


def write_lines(
    file: BinaryIO, lines: Iterable[bytes], between: bytes = b"\n", ends: tuple[bytes, bytes] = (b"", b"\n")
) -> None:
    file.write(ends[0])
    for place, line in enumerate(lines):
        file.write(between + line if place else line)
    file.write(ends[1])


Line = TypeVar("Line", bound=Struct)


def decoded_line(line: bytes, kind: type[Line]) -> Line:
    """Parse a line of results.

    Raises:
        AttemptFailed: It is invalid.
    """
    try:
        return msgspec.json.decode(line, type=kind)
    except (ValueError, RecursionError) as error:
        raise malformed(f"a line of a batch's results is not a result: {error}") from None
