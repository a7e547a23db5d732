"""Anthropic's message batches: all calls are sent in one request, and a batch is identified by the names of its calls.

Source: anthropic 2.12.0 ``resources/messages/batches.py`` and ``types/messages/message_batch*.py``.
"""

from __future__ import annotations

from datetime import datetime
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

import msgspec
from msgspec import Struct

from workbench.llm.batches.files import name_in
from workbench.llm.batches.records import (
    CANCELLED,
    EXPIRED,
    BatchResult,
    BatchStatus,
    NewBatch,
    NotYetKnown,
    lines_of,
    raw_line,
    write_lines,
)
from workbench.llm.batches.server import BatchServer
from workbench.llm.dialects.openai import decoded, entries, mapping, optional_count, optional_text
from workbench.llm.failures import AttemptFailed, classify_response, malformed
from workbench.llm.waits import requested_wait

_COUNTS: Final = ("succeeded", "errored", "canceled", "expired")
_STATUSES: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
"""The HTTP status of an error that arrives without one."""
_MAX_CLOCK_SKEW_S: Final = 300.0
"""The largest difference between two clocks."""
_MAX_PAGES: Final = 20


class _AnthropicResult(Struct):
    type: str
    message: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw = msgspec.Raw(b"null")


class AnthropicBatches:
    """``/v1/messages/batches``."""

    most_calls: int = 100_000
    most_bytes: int = 256 * 10**6

    def line(self, call: str, body: bytes, path: str) -> bytes:
        return b'{"custom_id":%s,"params":%s}' % (msgspec.json.encode(call), body)

    async def upload(self, server: BatchServer, file: BinaryIO, batch: NewBatch) -> str | None:
        return None

    async def find(self, server: BatchServer, input_file: str | None, batch: NewBatch) -> str | None:
        """See `BatchApi`. Only results contain the names of calls, so every candidate batch has to end first."""
        after = ""
        for _ in range(_MAX_PAGES):
            page = await server.json(f"messages/batches?limit=100{after}")
            found = [mapping(one, "a batch") for one in entries(page.get("data"), "the list of batches")]
            for one in found:
                if _made_at(one) < batch.since - _MAX_CLOCK_SKEW_S:
                    return None
                if _count_calls(one) == batch.calls and await self._is_batch(server, one, batch.token):
                    return name_in(one)
            if not page.get("has_more") or not found:
                break
            after = f"&after_id={name_in(found[-1])}"
        return None

    async def _is_batch(self, server: BatchServer, one: dict[str, Any], token: str) -> bool:
        if one.get("processing_status") != "ended":
            raise NotYetKnown
        with TemporaryFile() as file:
            await self.fetch(server, name_in(one), file)
            return any(raw_line(line).custom_id.startswith(token) for line in lines_of(file))

    async def create(self, server: BatchServer, input_file: str | None, file: BinaryIO, batch: NewBatch) -> str:
        with TemporaryFile() as body:
            write_lines(body, (line.rstrip(b"\n") for line in lines_of(file)), b",", (b'{"requests":[', b"]}"))
            return name_in(await server.json("messages/batches", body))

    async def status(self, server: BatchServer, name: str) -> BatchStatus:
        received = await server.send(server.url(f"messages/batches/{name}"))
        data = mapping(decoded(received.body), "the batch")
        words = optional_text(data, "processing_status") or ""
        return BatchStatus(
            ended=words == "ended",
            words=words,
            results=(name,),
            wait=requested_wait(received.headers, server.date()),
        )

    async def fetch(self, server: BatchServer, source: str, sink: BinaryIO) -> None:
        await server.send(server.url(f"messages/batches/{source}/results"), sink=sink)

    def result(self, line: bytes) -> BatchResult:
        found = raw_line(line)
        try:
            result = msgspec.json.decode(found.result, type=_AnthropicResult)
        except (ValueError, RecursionError) as wrong:
            raise malformed(f"a line of a batch's results is not a result: {wrong}") from None
        if result.type == "succeeded":
            return BatchResult(call=found.custom_id, body=bytes(result.message))
        if result.type == "expired":
            return BatchResult(call=found.custom_id, failure=AttemptFailed("timeout", EXPIRED), made=False)
        if result.type == "canceled":
            return BatchResult(call=found.custom_id, failure=AttemptFailed("cancelled", CANCELLED), made=False)
        return BatchResult(
            call=found.custom_id, failure=classify_response(_error_status(result.error), {}, bytes(result.error))
        )

    async def cancel(self, server: BatchServer, name: str) -> None:
        await server.json(f"messages/batches/{name}/cancel", b"")


def _error_status(error: msgspec.Raw) -> int:
    said = mapping(msgspec.json.decode(error), "the error")
    inner = said.get("error")
    kind = optional_text(inner, "type") if isinstance(inner, dict) else None
    return _STATUSES.get(kind or "", 500)


def _count_calls(batch: dict[str, Any]) -> int:
    return sum(optional_count(batch.get("request_counts"), name) or 0 for name in (*_COUNTS, "processing"))


def _made_at(batch: dict[str, Any]) -> float:
    """Return when a batch was created, in seconds since 1970; the current time if unknown, so that it is examined."""
    try:
        return datetime.fromisoformat(optional_text(batch, "created_at") or "").timestamp()
    except ValueError:
        return float("inf")
