"""Batches of providers that take a file of calls and give files of results: OpenAI, Gemini and Mistral.

Sources: openai 3.52.0 ``resources/batches.py`` and ``files.py``; mistralai ``client/models/createbatchjobrequest.py``,
``batchjob.py``; Google's page "OpenAI compatibility", whose endpoint has ``batches`` and leaves files to the Files API
of google-genai (``upload/v1beta/files``, ``download/v1beta/…:download``).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Iterable, Iterator
from tempfile import TemporaryFile
from typing import Any, BinaryIO, ClassVar, Final, TypeVar

import msgspec
from msgspec import Struct

from workbench.llm.batches.server import BatchServer
from workbench.llm.dialects.openai import decoded, entries, mapping, optional_text
from workbench.llm.failures import AttemptFailed, classify_error_object, classify_response, malformed
from workbench.llm.records import FailureCode
from workbench.llm.waits import requested_wait

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


_MAX_PAGES: Final = 20
"""Pages of a list that are searched; the newest come first."""
PAGE_SIZE: Final = 100
_NOT_MADE: Final[dict[str, tuple[FailureCode, str]]] = {
    "batch_expired": ("timeout", EXPIRED),
    "batch_cancelled": ("cancelled", CANCELLED),
}
"""OpenAI's error codes of calls that were not made."""


class _CallResponse(Struct):
    status_code: int = 200
    body: msgspec.Raw = msgspec.Raw(b"null")


class _FileLine(Struct):
    custom_id: str
    response: _CallResponse | None = None
    error: Any = None


class BatchApi:
    """One provider's batches; by default those of OpenAI, ``/v1/batches``.

    Attributes:
        most_calls: Maximum calls of one batch.
        most_bytes: Maximum size of one batch as it is sent.
        path: The path of the provider's batches.
        status_field: The field of a batch's status.
        ended: The status of batches that have ended.
        failed: The status of a batch none of whose calls was made.
        result_fields: Fields with the names of files of results.
        after_field: The parameter of the last batch of the page before.
    """

    most_calls: int = 50_000
    most_bytes: int = 200 * 10**6
    path: ClassVar[str] = "batches"
    status_field: ClassVar[str] = "status"
    ended: ClassVar[frozenset[str]] = frozenset({"failed", "completed", "expired", "cancelled"})
    failed: ClassVar[str] = "failed"
    result_fields: ClassVar[tuple[str, ...]] = ("output_file_id", "error_file_id")
    after_field: ClassVar[str] = "after"

    def line(self, call: str, body: bytes, path: str) -> bytes:
        name, url = msgspec.json.encode(call), msgspec.json.encode(f"/v1/{path}")
        return b'{"custom_id":%s,"method":"POST","url":%s,"body":%s}' % (name, url, body)

    async def upload(self, server: BatchServer, file: BinaryIO, batch: NewBatch) -> str | None:
        """Upload the calls, which isn't charged; return the file's name, or None if `create` sends the calls."""
        boundary = f"workbench-{batch.token}"
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="workbench-{batch.token}.jsonl"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        )
        with TemporaryFile() as form:
            form.write(head.encode())
            file.seek(0)
            shutil.copyfileobj(file, form)
            form.write(f"\r\n--{boundary}--\r\n".encode())
            headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
            received = await server.send(server.url("files"), form, headers)
        return name_in(mapping(decoded(received.body), "the reply"))

    async def find(self, server: BatchServer, input_file: str | None, batch: NewBatch) -> str | None:
        """Return the name of the batch if it already exists, else None.

        Raises:
            NotYetKnown: A batch that may be this one has to end before its calls can be seen.
        """
        async for one in self.listed(server):
            if input_file in (one.get("input_file_id"), *entries(one.get("input_files") or [], "the files of a batch")):
                return name_in(one)
        return None

    async def listed(self, server: BatchServer) -> AsyncIterator[dict[str, Any]]:
        """Yield the provider's batches, the newest first."""
        after = ""
        for _ in range(_MAX_PAGES):
            page = await server.json(f"{self.path}?limit={PAGE_SIZE}{after}")
            found = [mapping(one, "a batch") for one in entries(page.get("data"), "the list of batches")]
            for one in found:
                yield one
            if not page.get("has_more") or not found:
                return
            after = f"&{self.after_field}={name_in(found[-1])}"

    async def create(self, server: BatchServer, input_file: str | None, file: BinaryIO, batch: NewBatch) -> str:
        """Create the batch and return its name. This is the step that is charged."""
        asked = {
            **self.order(input_file, batch),
            "endpoint": f"/v1/{batch.path}",
            "metadata": {"workbench": batch.token},
        }
        return name_in(await server.json(self.path, msgspec.json.encode(asked)))

    def order(self, input_file: str | None, batch: NewBatch) -> dict[str, Any]:
        return {"input_file_id": input_file, "completion_window": "24h"}

    async def status(self, server: BatchServer, name: str) -> BatchStatus:
        received = await server.send(server.url(f"{self.path}/{name}"))
        data = mapping(decoded(received.body), "the batch")
        words = optional_text(data, self.status_field) or ""
        results = tuple(name_in(data, field) for field in self.result_fields if data.get(field))
        return BatchStatus(
            ended=words in self.ended,
            words=words,
            results=results,
            problems=_problems(data.get("errors")) if words == self.failed and not results else (),
            wait=requested_wait(received.headers, server.date()),
        )

    async def fetch(self, server: BatchServer, source: str, sink: BinaryIO) -> None:
        await server.send(server.url(f"files/{source}/content"), sink=sink)

    def result(self, line: bytes) -> BatchResult:
        """Parse a line of results.

        Raises:
            AttemptFailed: The line can't be parsed.
        """
        found = decoded_line(line, _FileLine)
        call, response, error = found.custom_id, found.response, found.error
        if response is not None and 200 <= response.status_code < 300:
            return BatchResult(call=call, body=bytes(response.body))
        if response is not None:
            return BatchResult(call=call, failure=classify_response(response.status_code, {}, bytes(response.body)))
        error = {"message": error} if isinstance(error, str) else mapping(error, "the error of a result")
        if (code := error.get("code")) in _NOT_MADE:
            return BatchResult(call=call, failure=AttemptFailed(*_NOT_MADE[code]), made=False)
        return BatchResult(call=call, failure=classify_error_object(error))

    async def cancel(self, server: BatchServer, name: str) -> None:
        """Cancel the remaining calls; completed ones still have results."""
        await server.json(f"{self.path}/{name}/cancel", b"")


class GeminiBatches(BatchApi):
    """``/v1beta/openai/batches``; files go through the Files API next to it, which needs the key in another header."""

    most_bytes: int = 2 * 10**9

    async def upload(self, server: BatchServer, file: BinaryIO, batch: NewBatch) -> str | None:
        key = await self._key_header(server)
        start = {
            **key,
            "x-goog-upload-protocol": "resumable",
            "x-goog-upload-command": "start",
            "x-goog-upload-header-content-length": str(file.seek(0, 2)),
            "x-goog-upload-header-content-type": "application/jsonl",
        }
        named = msgspec.json.encode({"file": {"display_name": f"workbench-{batch.token}"}})
        begun = await server.send(f"{server.origin}/upload/v1beta/files", named, start)
        place = begun.headers.get("x-goog-upload-url", "")
        whole = {**key, "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0"}
        received = await server.send(place, file, whole)
        described = mapping(decoded(received.body), "the reply").get("file")
        return name_in(mapping(described, "the file"), "name")

    async def fetch(self, server: BatchServer, source: str, sink: BinaryIO) -> None:
        url = f"{server.origin}/download/v1beta/{source}:download?alt=media"
        await server.send(url, headers=await self._key_header(server), sink=sink)

    async def _key_header(self, server: BatchServer) -> dict[str, str]:
        return {"x-goog-api-key": (await server.endpoint.secrets(os.environ)).key or ""}


class MistralBatches(BatchApi):
    """``/v1/batch/jobs``; files are in OpenAI's format."""

    most_calls: int = 1_000_000
    most_bytes: int = 512 * 10**6
    path: ClassVar[str] = "batch/jobs"
    ended: ClassVar[frozenset[str]] = frozenset({"SUCCESS", "FAILED", "TIMEOUT_EXCEEDED", "CANCELLED"})
    failed: ClassVar[str] = "FAILED"
    result_fields: ClassVar[tuple[str, ...]] = ("output_file", "error_file")

    def line(self, call: str, body: bytes, path: str) -> bytes:
        return b'{"custom_id":%s,"body":%s}' % (msgspec.json.encode(call), body)

    async def listed(self, server: BatchServer) -> AsyncIterator[dict[str, Any]]:
        for number in range(_MAX_PAGES):
            page = await server.json(f"{self.path}?page={number}&page_size={PAGE_SIZE}")
            found = entries(page.get("data") or [], "the list of batches")
            for one in found:
                yield mapping(one, "a batch")
            if len(found) < PAGE_SIZE:
                return

    def order(self, input_file: str | None, batch: NewBatch) -> dict[str, Any]:
        return {"input_files": [input_file], "model": batch.model}


def name_in(data: dict[str, Any], field: str = "id") -> str:
    """Return the provider's name of an object; it becomes a part of paths.

    Raises:
        AttemptFailed: The object has no name, or an invalid one.
    """
    name = data.get(field)
    if not isinstance(name, str) or not name.replace("/", "").replace("-", "").replace("_", "").isalnum():
        raise malformed(f"the reply names no {field}")
    return name


def _problems(found: Any) -> tuple[tuple[str, str], ...]:
    found = found.get("data") if isinstance(found, dict) else found
    errors = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    problems = tuple((optional_text(one, "code") or "", optional_text(one, "message") or "") for one in errors)
    return problems or (("", "it failed without a word"),)
