"""Batches of providers that take a file of calls and give files of results: OpenAI, Gemini and Mistral.

Sources: openai 3.52.0 ``resources/batches.py`` and ``files.py``; mistralai ``client/models/createbatchjobrequest.py``,
``batchjob.py``; Google's page "OpenAI compatibility", whose endpoint has ``batches`` and leaves files to the Files API
of google-genai (``upload/v1beta/files``, ``download/v1beta/…:download``).
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import Any, BinaryIO, ClassVar, Final

import msgspec

from workbench.llm.batches.records import BatchResult, BatchStatus, NewBatch, openai_result
from workbench.llm.batches.server import BatchServer
from workbench.llm.dialects.openai import decoded, entries, mapping, optional_text
from workbench.llm.failures import malformed
from workbench.llm.waits import requested_wait

_ENDED: Final = frozenset({"failed", "completed", "expired", "cancelled"})
_MAX_PAGES: Final = 20
"""Pages of a list that are searched; the newest come first."""
_PAGE_SIZE: Final = 100


class OpenAIBatches:
    """``/v1/batches``."""

    most_calls: int = 50_000
    most_bytes: int = 200 * 10**6

    def line(self, call: str, body: bytes, path: str) -> bytes:
        name, url = msgspec.json.encode(call), msgspec.json.encode(f"/v1/{path}")
        return b'{"custom_id":%s,"method":"POST","url":%s,"body":%s}' % (name, url, body)

    async def upload(self, server: BatchServer, file: BinaryIO, batch: NewBatch) -> str | None:
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
        after = ""
        for _ in range(_MAX_PAGES):
            page = await server.json(f"batches?limit={_PAGE_SIZE}{after}")
            found = [mapping(one, "a batch") for one in entries(page.get("data"), "the list of batches")]
            for one in found:
                if one.get("input_file_id") == input_file:
                    return name_in(one)
            if not page.get("has_more") or not found:
                break
            after = f"&after={name_in(found[-1])}"
        return None

    async def create(self, server: BatchServer, input_file: str | None, file: BinaryIO, batch: NewBatch) -> str:
        asked = {
            "input_file_id": input_file,
            "endpoint": f"/v1/{batch.path}",
            "completion_window": "24h",
            "metadata": {"workbench": batch.token},
        }
        return name_in(await server.json("batches", msgspec.json.encode(asked)))

    async def status(self, server: BatchServer, name: str) -> BatchStatus:
        received = await server.send(server.url(f"batches/{name}"))
        data = mapping(decoded(received.body), "the batch")
        words = optional_text(data, "status") or ""
        errors = data.get("errors")
        problems = errors.get("data") if isinstance(errors, dict) else None
        return BatchStatus(
            ended=words in _ENDED,
            words=words,
            results=_object_names(data, ("output_file_id", "error_file_id")),
            problems=_problems(problems) if words == "failed" else (),
            wait=requested_wait(received.headers, server.date()),
        )

    async def fetch(self, server: BatchServer, source: str, sink: BinaryIO) -> None:
        await server.send(server.url(f"files/{source}/content"), sink=sink)

    def result(self, line: bytes) -> BatchResult:
        return openai_result(line)

    async def cancel(self, server: BatchServer, name: str) -> None:
        await server.json(f"batches/{name}/cancel", b"")


class GeminiBatches(OpenAIBatches):
    """``/v1beta/openai/batches``; files go through the Files API next to it, which needs the key in another header."""

    most_bytes: int = 2 * 10**9

    async def upload(self, server: BatchServer, file: BinaryIO, batch: NewBatch) -> str | None:
        key = await _google_key_header(server)
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
        await server.send(url, headers=await _google_key_header(server), sink=sink)


async def _google_key_header(server: BatchServer) -> dict[str, str]:
    return {"x-goog-api-key": await server.key()}


class MistralBatches(OpenAIBatches):
    """``/v1/batch/jobs``; files are in OpenAI's format."""

    most_calls: int = 1_000_000
    most_bytes: int = 512 * 10**6
    _ENDED: ClassVar[frozenset[str]] = frozenset({"SUCCESS", "FAILED", "TIMEOUT_EXCEEDED", "CANCELLED"})

    def line(self, call: str, body: bytes, path: str) -> bytes:
        return b'{"custom_id":%s,"body":%s}' % (msgspec.json.encode(call), body)

    async def find(self, server: BatchServer, input_file: str | None, batch: NewBatch) -> str | None:
        for number in range(_MAX_PAGES):
            page = await server.json(f"batch/jobs?page={number}&page_size={_PAGE_SIZE}")
            found = [mapping(one, "a job") for one in entries(page.get("data") or [], "the list of jobs")]
            for one in found:
                if input_file in entries(one.get("input_files") or [], "the files of a job"):
                    return name_in(one)
            if len(found) < _PAGE_SIZE:
                break
        return None

    async def create(self, server: BatchServer, input_file: str | None, file: BinaryIO, batch: NewBatch) -> str:
        asked = {
            "input_files": [input_file],
            "model": batch.model,
            "endpoint": f"/v1/{batch.path}",
            "metadata": {"workbench": batch.token},
        }
        return name_in(await server.json("batch/jobs", msgspec.json.encode(asked)))

    async def status(self, server: BatchServer, name: str) -> BatchStatus:
        received = await server.send(server.url(f"batch/jobs/{name}"))
        data = mapping(decoded(received.body), "the job")
        words = optional_text(data, "status") or ""
        results = _object_names(data, ("output_file", "error_file"))
        return BatchStatus(
            ended=words in self._ENDED,
            words=words,
            results=results,
            problems=_problems(data.get("errors")) if words == "FAILED" and not results else (),
            wait=requested_wait(received.headers, server.date()),
        )

    async def cancel(self, server: BatchServer, name: str) -> None:
        await server.json(f"batch/jobs/{name}/cancel", b"")


def name_in(data: dict[str, Any], field: str = "id") -> str:
    """Return the provider's name of an object; it becomes a part of paths.

    Raises:
        AttemptFailed: The object has no name, or an invalid one.
    """
    name = data.get(field)
    if not isinstance(name, str) or not name.replace("/", "").replace("-", "").replace("_", "").isalnum():
        raise malformed(f"the reply names no {field}")
    return name


def _object_names(data: dict[str, Any], fields: Sequence[str]) -> tuple[str, ...]:
    return tuple(name_in(data, field) for field in fields if data.get(field))


def _problems(found: Any) -> tuple[tuple[str, str], ...]:
    errors = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    said = tuple((optional_text(one, "code") or "", optional_text(one, "message") or "") for one in errors)
    return said or (("", "it failed without a word"),)
