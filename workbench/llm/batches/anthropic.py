"""Anthropic's message batches: all calls are sent in one request, and a batch is identified by the names of its calls.

Source: anthropic 2.12.0 ``resources/messages/batches.py`` and ``types/messages/message_batch*.py``.
"""

from __future__ import annotations

from datetime import datetime
from tempfile import TemporaryFile
from typing import Any, BinaryIO, ClassVar, Final

import msgspec
from msgspec import Struct

from workbench.llm.batches.files import (
    CANCELLED,
    EXPIRED,
    BatchApi,
    BatchResult,
    NewBatch,
    NotYetKnown,
    decoded_line,
    lines_of,
    name_in,
    write_lines,
)
from workbench.llm.batches.server import BatchServer
from workbench.llm.dialects.openai import optional_count, optional_text
from workbench.llm.failures import AttemptFailed, classify_error_object

_COUNTS: Final = ("succeeded", "errored", "canceled", "expired", "processing")
_MAX_CLOCK_SKEW_S: Final = 300.0
"""The largest difference between two clocks."""


class _MessageResult(Struct):
    type: str
    message: msgspec.Raw = msgspec.Raw(b"null")
    error: Any = None


class _MessageLine(Struct):
    custom_id: str
    result: _MessageResult


class AnthropicBatches(BatchApi):
    """``/v1/messages/batches``."""

    most_calls: int = 100_000
    most_bytes: int = 256 * 10**6
    path: ClassVar[str] = "messages/batches"
    status_field: ClassVar[str] = "processing_status"
    ended: ClassVar[frozenset[str]] = frozenset({"ended"})
    result_fields: ClassVar[tuple[str, ...]] = ("id",)
    after_field: ClassVar[str] = "after_id"

    def line(self, call: str, body: bytes, path: str) -> bytes:
        return b'{"custom_id":%s,"params":%s}' % (msgspec.json.encode(call), body)

    async def upload(self, server: BatchServer, file: BinaryIO, batch: NewBatch) -> str | None:
        return None

    async def find(self, server: BatchServer, input_file: str | None, batch: NewBatch) -> str | None:
        """See `BatchApi`. Only results contain the names of calls, so every candidate batch has to end first."""
        async for one in self.listed(server):
            if _made_at(one) < batch.since - _MAX_CLOCK_SKEW_S:
                return None
            calls = sum(optional_count(one.get("request_counts"), name) or 0 for name in _COUNTS)
            if calls == batch.calls and await self._is_batch(server, one, batch.token):
                return name_in(one)
        return None

    async def _is_batch(self, server: BatchServer, one: dict[str, Any], token: str) -> bool:
        if one.get(self.status_field) not in self.ended:
            raise NotYetKnown
        with TemporaryFile() as file:
            await self.fetch(server, name_in(one), file)
            return any(decoded_line(line, _MessageLine).custom_id.startswith(token) for line in lines_of(file))

    async def create(self, server: BatchServer, input_file: str | None, file: BinaryIO, batch: NewBatch) -> str:
        with TemporaryFile() as body:
            write_lines(body, (line.rstrip(b"\n") for line in lines_of(file)), b",", (b'{"requests":[', b"]}"))
            return name_in(await server.json(self.path, body))

    async def fetch(self, server: BatchServer, source: str, sink: BinaryIO) -> None:
        await server.send(server.url(f"{self.path}/{source}/results"), sink=sink)

    def result(self, line: bytes) -> BatchResult:
        found = decoded_line(line, _MessageLine)
        call, result = found.custom_id, found.result
        match result.type:
            case "succeeded":
                return BatchResult(call=call, body=bytes(result.message))
            case "expired":
                return BatchResult(call=call, failure=AttemptFailed("timeout", EXPIRED), made=False)
            case "canceled":
                return BatchResult(call=call, failure=AttemptFailed("cancelled", CANCELLED), made=False)
        return BatchResult(call=call, failure=classify_error_object(result.error))


def _made_at(batch: dict[str, Any]) -> float:
    """Return when a batch was created, in seconds since 1970; the current time if unknown, so that it is examined."""
    try:
        return datetime.fromisoformat(optional_text(batch, "created_at") or "").timestamp()
    except ValueError:
        return float("inf")
