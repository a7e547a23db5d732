"""A batch of calls, its status at the provider, and the results of its calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final, Protocol

import msgspec
from msgspec import Struct

from workbench.llm.batches.server import BatchServer
from workbench.llm.dialects.openai import mapping, optional_text
from workbench.llm.failures import AttemptFailed, classify_response, malformed

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


class BatchApi(Protocol):
    """One provider's batches.

    Attributes:
        most_calls: Maximum calls of one batch.
        most_bytes: Maximum size of one batch as it is sent.
    """

    most_calls: int
    most_bytes: int

    def line(self, call: str, body: bytes, path: str) -> bytes: ...

    async def upload(self, server: BatchServer, file: BinaryIO, batch: NewBatch) -> str | None:
        """Upload the calls, which isn't charged; return the file's name, or None if `create` sends the calls."""
        ...

    async def find(self, server: BatchServer, input_file: str | None, batch: NewBatch) -> str | None:
        """Return the name of the batch if it already exists, else None.

        Raises:
            NotYetKnown: A batch that may be this one has to end before its calls can be seen.
        """
        ...

    async def create(self, server: BatchServer, input_file: str | None, file: BinaryIO, batch: NewBatch) -> str:
        """Create the batch and return its name. This is the step that is charged."""
        ...

    async def status(self, server: BatchServer, name: str) -> BatchStatus: ...

    async def fetch(self, server: BatchServer, source: str, sink: BinaryIO) -> None: ...

    def result(self, line: bytes) -> BatchResult:
        """Parse a line of results.

        Raises:
            AttemptFailed: The line can't be parsed.
        """
        ...

    async def cancel(self, server: BatchServer, name: str) -> None:
        """Cancel the remaining calls; completed ones still have results."""
        ...


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


class RawLine(Struct):
    """A line of results, whose parts are kept as received."""

    custom_id: str
    response: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw = msgspec.Raw(b"null")
    result: msgspec.Raw = msgspec.Raw(b"null")


def raw_line(line: bytes) -> RawLine:
    """Parse a line of results.

    Raises:
        AttemptFailed: It is invalid.
    """
    try:
        return msgspec.json.decode(line, type=RawLine)
    except (ValueError, RecursionError) as error:
        raise malformed(f"a line of a batch's results is not a result: {error}") from None


class RawResponse(Struct):
    """The part of OpenAI's line that contains the reply."""

    status_code: int = 200
    body: msgspec.Raw = msgspec.Raw(b"null")


_NOT_MADE: Final = {"batch_expired": ("timeout", EXPIRED), "batch_cancelled": ("cancelled", CANCELLED)}
"""OpenAI's error codes of calls that were not made."""


def openai_result(line: bytes) -> BatchResult:
    """Parse a line of OpenAI's output or error file, or of a provider with the same format.

    Raises:
        AttemptFailed: It is invalid.
    """
    found = raw_line(line)
    try:
        response = msgspec.json.decode(found.response, type=RawResponse | None)
        error = msgspec.json.decode(found.error)
    except (ValueError, RecursionError) as wrong:
        raise malformed(f"a line of a batch's results is not a result: {wrong}") from None
    if response is not None and 200 <= response.status_code < 300:
        return BatchResult(call=found.custom_id, body=bytes(response.body))
    if response is not None:
        return BatchResult(
            call=found.custom_id, failure=classify_response(response.status_code, {}, bytes(response.body))
        )
    return _failed_result(found.custom_id, error)


def _failed_result(call: str, error: Any) -> BatchResult:
    said = {"message": error} if isinstance(error, str) else mapping(error, "the error of a result")
    code = optional_text(said, "code") or ""
    if code in _NOT_MADE:
        kind, words = _NOT_MADE[code]
        return BatchResult(call=call, failure=AttemptFailed(kind, words), made=False)  # type: ignore[arg-type]
    status = int(code) if code.isdigit() and len(code) == 3 else 500
    return BatchResult(call=call, failure=classify_response(status, {}, msgspec.json.encode({"error": said})))
