"""A batch of calls, how it stands at its provider, and what came of each of its calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final, Protocol

import msgspec
from msgspec import Struct

from workbench.llm.batches.server import BatchServer
from workbench.llm.dialects.openai import mapping, optional_text
from workbench.llm.failures import AttemptFailed, malformed, of_response

EXPIRED: Final = "the batch ended before this request's turn came"
CANCELLED: Final = "the batch was cancelled before this request's turn came"


class NewBatch(Struct, frozen=True, kw_only=True):
    """A batch that is to be made.

    Attributes:
        token: Its own, which the names of its calls begin with.
        calls: How many there are.
        since: Seconds since 1970, shortly before it was first tried to be made.
        path: Where its calls would go by themselves, behind the base URL.
    """

    token: str
    model: str
    calls: int
    since: float
    path: str


class BatchStatus(Struct, frozen=True, kw_only=True):
    """How a batch stands.

    Attributes:
        ended: Nothing more will come.
        words: The provider's word for it.
        done: Calls that it has answered or failed, as far as it says.
        results: What `BatchApi.results` reads.
        problems: What was wrong with the whole batch, so that no call was made: code and words each.
        wait: Seconds that the provider asks to wait before the next look.
    """

    ended: bool
    words: str
    done: int | None = None
    results: tuple[str, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    wait: float | None = None

    @property
    def of_the_rest(self) -> tuple[AttemptFailed, bool]:
        """What became of calls without a result, and whether they were made."""
        words = self.words.lower()
        if words in {"expired", "timeout_exceeded"}:
            return AttemptFailed("timeout", EXPIRED), False
        if words == "cancelled":
            return AttemptFailed("cancelled", CANCELLED), False
        return AttemptFailed("malformed", "the batch ended without a word on this request"), True


class BatchResult(Struct, frozen=True, kw_only=True):
    """What came of one call.

    Attributes:
        call: Its name.
        body: The reply's bytes, as they would have come by themselves.
        failure: Why there is none.
        made: Whether the call was made: one that wasn't costs nothing.
    """

    call: str
    body: bytes = b""
    failure: AttemptFailed | None = None
    made: bool = True


class BatchApi(Protocol):
    """One provider's batches.

    Attributes:
        most_calls: In one batch.
        most_bytes: Of one batch as it is sent.
    """

    most_calls: int
    most_bytes: int

    def line(self, call: str, body: bytes, path: str) -> bytes:
        """A call to a path as it stands in a batch, under a name."""
        ...

    async def upload(self, server: BatchServer, file: BinaryIO, batch: NewBatch) -> str | None:
        """Put the lines there, which costs nothing; returns their name there, None where they go with `create`."""
        ...

    async def find(self, server: BatchServer, input_file: str | None, batch: NewBatch) -> str | None:
        """The name of a batch that may have been made already; None where it wasn't.

        Raises:
            NotYetKnown: That can't be told before another batch has ended.
        """
        ...

    async def create(self, server: BatchServer, input_file: str | None, file: BinaryIO, batch: NewBatch) -> str:
        """Have the calls made; returns the batch's name there. This is what is paid for."""
        ...

    async def status(self, server: BatchServer, name: str) -> BatchStatus:
        """How it stands."""
        ...

    async def fetch(self, server: BatchServer, source: str, sink: BinaryIO) -> None:
        """Write one of `BatchStatus.results` into a file."""
        ...

    def result(self, line: bytes) -> BatchResult:
        """What a line of it says.

        Raises:
            AttemptFailed: Nothing.
        """
        ...

    async def cancel(self, server: BatchServer, name: str) -> None:
        """Have no more of its calls made; what was made is still answered."""
        ...


class NotYetKnown(Exception):
    """Whether a batch was made can't be told for now."""


# -- Lines of JSON, in files: a batch may be larger than what should be held.


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """The lines that aren't empty, from the beginning."""
    file.seek(0)
    return (line for line in file if line.strip())


def write_lines(
    file: BinaryIO, lines: Iterable[bytes], between: bytes = b"\n", ends: tuple[bytes, bytes] = (b"", b"\n")
) -> None:
    """Write lines, one behind the other."""
    file.write(ends[0])
    for place, line in enumerate(lines):
        file.write(between + line if place else line)
    file.write(ends[1])


class RawLine(Struct):
    """A line whose parts are kept as they came."""

    custom_id: str
    response: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw = msgspec.Raw(b"null")
    result: msgspec.Raw = msgspec.Raw(b"null")


def raw_line(line: bytes) -> RawLine:
    """A line of results.

    Raises:
        AttemptFailed: It is none.
    """
    try:
        return msgspec.json.decode(line, type=RawLine)
    except (ValueError, RecursionError) as error:
        raise malformed(f"a line of a batch's results is no result: {error}") from None


class RawResponse(Struct):
    """OpenAI's part with the reply."""

    status_code: int = 200
    body: msgspec.Raw = msgspec.Raw(b"null")


_NOT_MADE: Final = {
    "batch_expired": ("timeout", EXPIRED),
    "batch_cancelled": ("cancelled", CANCELLED),
}
"""OpenAI's codes of calls that were not made."""


def openai_result(line: bytes) -> BatchResult:
    """A line of OpenAI's output or error file, and of those of providers that took its form.

    Raises:
        AttemptFailed: It is none.
    """
    found = raw_line(line)
    try:
        response = msgspec.json.decode(found.response, type=RawResponse | None)
        error = msgspec.json.decode(found.error)
    except (ValueError, RecursionError) as wrong:
        raise malformed(f"a line of a batch's results is no result: {wrong}") from None
    if response is not None and 200 <= response.status_code < 300:
        return BatchResult(call=found.custom_id, body=bytes(response.body))
    if response is not None:
        return BatchResult(call=found.custom_id, failure=of_response(response.status_code, {}, bytes(response.body)))
    return _failed(found.custom_id, error)


def _failed(call: str, error: Any) -> BatchResult:
    said = {"message": error} if isinstance(error, str) else mapping(error, "the error of a result")
    code = optional_text(said, "code") or ""
    if code in _NOT_MADE:
        kind, words = _NOT_MADE[code]
        return BatchResult(call=call, failure=AttemptFailed(kind, words), made=False)  # type: ignore[arg-type]
    status = int(code) if code.isdigit() and len(code) == 3 else 500
    return BatchResult(call=call, failure=of_response(status, {}, msgspec.json.encode({"error": said})))
