"""Providers that process calls in batches, on the loopback: ``with batching("openai", reply) as provider:``.

Modelled on openai 3.52.0 (``resources/batches.py``, ``files.py``), anthropic 2.12.0
(``resources/messages/batches.py``), mistralai (``client/models/batchjob.py``, ``batchrequest.py``) and Google's Files
API in google-genai 3.4.0.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received, Scripted

Reply = Callable[[Any], "dict[str, Any] | Scripted"]
"""Returns the reply to a call's body, in a batch or alone."""


class BatchProvider:
    """A provider, and its counts.

    Attributes:
        made: How often each request came in a batch, by the hash of its body.
        calls: How often each request came alone.
        batches: Each batch's name and number of calls, in order of arrival.
        uploads: The number of uploaded files.
        steps: The number of requests by step.
        polls: How often a batch is polled before it ends.
        expires: The number of calls of the first batch that expire.
        strangers: The number of results in each batch that belong to no call.
        refuses: Returns the rejection of a new batch by its number of calls; None accepts it.
        holds: Steps whose response waits for an event, after the request has been processed.
        refused: Steps that are rejected with 503 and have no effect.
        cancels: Batches that were cancelled.
        wrong_key: Whether every request is rejected for its key.
    """

    def __init__(self, kind: str, reply: Reply) -> None:
        self.kind, self._reply = kind, reply
        self.made: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.batches: list[tuple[str, int]] = []
        self.uploads = 0
        self.steps: Counter[str] = Counter()
        self.polls = 1
        self.expires = 0
        self.strangers = 0
        self.refuses: Callable[[int], tuple[str, str] | None] = lambda calls: None
        self.holds: dict[str, threading.Event] = {}
        self.refused: set[str] = set()
        self.cancels: list[str] = []
        self.wrong_key = False
        self._files: dict[str, bytes] = {}
        self._found: dict[str, dict[str, Any]] = {}
        self.server: ScriptedServer

    @property
    def url(self) -> str:
        root = f"http://127.0.0.1:{self.server.port}"
        return f"{root}/v1beta/openai" if self.kind == "gemini" else f"{root}/v1"

    def options(self, **more: object) -> dict[str, str]:
        """Return options of a judge that calls this provider."""
        models = {"openai": "gpt-4o-mini", "anthropic": "claude-haiku-4-5", "gemini": "gemini-2.5-flash"}
        base = {"server": self.kind, "base_url": self.url, "model": models.get(self.kind, "mistral-small-latest")}
        return {**base, "api_key_env": "BATCH_KEY", **{name: str(value) for name, value in more.items()}}

    def answer(self, received: Received) -> Scripted:
        step, found = self._route(received)
        self.steps[step] += 1
        if self.wrong_key:
            error = {"message": "Incorrect API key provided.", "code": "invalid_api_key"}
            return Scripted(401, body={"error": error})
        if step in self.refused:
            return Scripted(503, {"retry-after": "0.2"}, {"error": {"message": "try again"}})
        response = found(received)
        if (hold := self.holds.get(step)) is not None:
            return Scripted(response.status, response.headers, response.body, hold)
        return response

    def _route(self, received: Received) -> tuple[str, Callable[[Received], Scripted]]:
        path, method = received.path.partition("?")[0], received.method
        if path.endswith(("/chat/completions", "/messages", "/responses")):
            return "call", self._call
        if path.startswith("/upload/v1beta/files"):
            step = "begin" if received.headers.get("x-goog-upload-command") == "start" else "upload"
            return step, self._google_upload
        if path.endswith("/files"):
            return "upload", self._upload
        if path.startswith("/download/") or path.endswith(("/content", "/results")):
            name = path.removeprefix("/download/v1beta/").partition(":")[0]
            name = path.split("/")[-2] if path.endswith(("/content", "/results")) else name
            return ("errors" if name.endswith("errors") else "results"), lambda _: Scripted(body=self._files[name])
        if path.endswith("/cancel"):
            return "cancel", lambda _: self._cancel(path.removesuffix("/cancel").rsplit("/", 1)[-1])
        if path.endswith(("/batches", "/jobs")):
            return ("create", self._create) if method == "POST" else ("list", self._list)
        return "status", lambda _: self._status(path.rsplit("/", 1)[-1])

    def _call(self, received: Received) -> Scripted:
        """Answer a single call."""
        reply_text = self._reply(received.body)
        self.calls[_hash(received.body)] += 1
        return reply_text if isinstance(reply_text, Scripted) else Scripted(body=reply_text)

    # -- Files

    def _upload(self, received: Received) -> Scripted:
        boundary = received.headers["content-type"].partition("boundary=")[2]
        assert b'name="purpose"\r\n\r\nbatch\r\n' in received.raw
        file = received.raw.split(b"\r\n\r\n", 2)[2].removesuffix(f"\r\n--{boundary}--\r\n".encode())
        return Scripted(body={"id": self._keep(file), "object": "file", "purpose": "batch", "bytes": len(file)})

    def _google_upload(self, received: Received) -> Scripted:
        assert received.headers["x-goog-api-key"] == "sk-batches"
        if received.headers["x-goog-upload-command"] == "start":
            place = f"http://127.0.0.1:{self.server.port}/upload/v1beta/files?upload_id=1"
            return Scripted(200, {"x-goog-upload-url": place, "x-goog-upload-status": "active"}, {})
        return Scripted(200, {"x-goog-upload-status": "final"}, {"file": {"name": self._keep(received.raw)}})

    def _keep(self, file: bytes) -> str:
        self.uploads += 1
        name = f"{'files/' if self.kind == 'gemini' else 'file-'}{self.uploads}"
        self._files[name] = file
        return name

    def end(self) -> None:
        """Let the batches created so far end."""
        for batch in self._found.values():
            batch["polls"] = 0

    # -- Batches

    def _create(self, received: Received) -> Scripted:
        body = received.body
        if self.kind == "anthropic":
            source, calls = None, [(one["custom_id"], one["params"]) for one in body["requests"]]
        else:
            source = body["input_files"][0] if self.kind == "mistral" else body["input_file_id"]
            lines = [json.loads(line) for line in self._files[source].splitlines()]
            calls = [(one["custom_id"], one["body"]) for one in lines]
            endpoints = {one.get("url", "/v1/chat/completions") for one in lines}
            assert {body["endpoint"]} == endpoints <= {"/v1/chat/completions", "/v1/responses"}
            assert all(("input" in fields) == (body["endpoint"] == "/v1/responses") for _, fields in calls)
        assert len({name for name, _ in calls}) == len(calls)
        name = f"batch_{len(self.batches)}"
        self.batches.append((name, len(calls)))
        self._found[name] = {"source": source, "calls": calls, "at": time.time(), "polls": self.polls, "ended": False}
        self._found[name]["problem"] = self.refuses(len(calls))
        if self._found[name]["problem"] is None:
            for _, fields in calls:
                self.made[_hash(fields)] += 1
        return Scripted(body=self._described(name))

    def _list(self, received: Received) -> Scripted:
        for name, _ in self.batches:
            self._go_on(name)
        newest = [self._described(name) for name, _ in reversed(self.batches)]
        return Scripted(body={"data": newest, "has_more": False})

    def _status(self, name: str) -> Scripted:
        self._go_on(name)
        return Scripted(200, {"retry-after": "0.05"}, self._described(name))

    def _go_on(self, name: str) -> None:
        batch = self._found[name]
        batch["polls"] -= 1
        if batch["polls"] < 0 and not batch["ended"]:
            batch["ended"] = True
            if batch["problem"] is None:
                self._answer_calls(name)

    def _cancel(self, name: str) -> Scripted:
        self.cancels.append(name)
        self._found[name] |= {"cancelled": True, "polls": 0}
        return Scripted(body=self._described(name))

    def _answer_calls(self, name: str) -> None:
        """Answer in reverse order: clients must not rely on the order."""
        batch = self._found[name]
        outputs: list[bytes] = []
        errors: list[bytes] = []
        for place, (call, body) in enumerate(reversed(batch["calls"])):
            if batch.get("cancelled") and place % 2:
                errors.append(self._line(call, None, "cancelled"))
            elif place < self.expires and name == "batch_0":
                errors.append(self._line(call, None, "expired"))
            else:
                reply_text = self._reply(body)
                failed = isinstance(reply_text, Scripted) and reply_text.status != 200
                (errors if failed else outputs).append(self._line(call, reply_text, ""))
        outputs += [self._line(f"somebody-{n}", {"choices": []}, "") for n in range(self.strangers)]
        outputs += outputs[:1]
        if self.kind == "anthropic":
            self._files[name] = b"\n".join([*outputs, *errors]) + b"\n"
            return
        start = "files/" if self.kind == "gemini" else ""
        self._files |= {f"{start}{name}-out": b"\n".join(outputs), f"{start}{name}-errors": b"\n".join(errors)}
        batch |= {"out": f"{start}{name}-out", "errors": f"{start}{name}-errors" if errors else None}

    def _line(self, call: str, reply_text: Any, lost: str) -> bytes:
        status, body = (reply_text.status, reply_text.body) if isinstance(reply_text, Scripted) else (200, reply_text)
        if self.kind == "anthropic":
            result = {"type": {"expired": "expired", "cancelled": "canceled"}.get(lost, "succeeded"), "message": body}
            if lost:
                del result["message"]
            elif status != 200:
                result = {"type": "errored", "error": body}
            return json.dumps({"custom_id": call, "result": result}).encode()
        response = None if lost else {"status_code": status, "request_id": "req", "body": body}
        error = {"code": f"batch_{lost}", "message": "This request could not be executed."} if lost else None
        return json.dumps({"id": "batch_req", "custom_id": call, "response": response, "error": error}).encode()

    def _described(self, name: str) -> dict[str, Any]:
        batch = self._found[name]
        count, ended = len(batch["calls"]), batch["ended"]
        if self.kind == "anthropic":
            counts = {"processing": 0 if ended else count, "succeeded": count if ended else 0}
            return {
                "id": name,
                "type": "message_batch",
                "processing_status": "ended" if ended else "in_progress",
                "request_counts": {**counts, "errored": 0, "canceled": 0, "expired": 0},
                "created_at": datetime.fromtimestamp(batch["at"], UTC).isoformat(),
            }
        problem, cancelled = batch["problem"], batch.get("cancelled")
        errors = [] if problem is None else [{"code": problem[0], "message": problem[1]}]
        if self.kind == "mistral":
            ending = "FAILED" if problem else "CANCELLED" if cancelled else "SUCCESS"
            files = {"output_file": batch.get("out"), "error_file": batch.get("errors")}
            state = ending if ended else "RUNNING"
            counts = {"total_requests": count, "completed_requests": count if ended else 0}
            return {"id": name, "input_files": [batch["source"]], "status": state, "errors": errors, **files, **counts}
        ending = "failed" if problem else "cancelled" if cancelled else "completed"
        return {
            "id": name,
            "object": "batch",
            "input_file_id": batch["source"],
            "status": ending if ended else "in_progress",
            "output_file_id": batch.get("out"),
            "error_file_id": batch.get("errors"),
            "errors": {"object": "list", "data": errors} if errors else None,
            "request_counts": {"total": count, "completed": count if ended else 0, "failed": 0},
        }


def _hash(body: Any) -> str:
    return hashlib.sha256(json.dumps(body).encode()).hexdigest()


@contextmanager
def batching(kind: str, reply: Reply) -> Iterator[BatchProvider]:
    """Run a provider that answers single calls and batches."""
    provider = BatchProvider(kind, reply)
    with scripted(provider.answer) as server:
        provider.server = server
        yield provider
        for hold in provider.holds.values():
            hold.set()


# -- Replies of a judge that depend on the request alone.


TOKENS = (1000, 40)
"""Tokens of each prompt and reply."""


def judge_reply(body: Any) -> dict[str, Any] | Scripted:
    """Return Yes or No depending on the request, and sometimes an unreadable, truncated, refused or overlong reply."""
    words = json.dumps(body.get("messages") or body["input"])
    draw = int(hashlib.sha256(re.sub(r"[a-z]{20,}", "", words).encode()).hexdigest(), 16) % 20
    is_messages = "max_tokens" in body and "claude" in body["model"]
    if draw == 0:
        error = {"type": "invalid_request_error", "message": "prompt is too long: 300000 tokens > 200000 maximum"}
        return Scripted(400, body={"type": "error", "error": error} if is_messages else {"error": error})
    text = "Well." if draw == 1 else f"Because.\nFinal Judgment: {'Yes' if draw % 2 else 'No'}"
    reason = "length" if draw == 2 else "stop"
    prompt, reply_text = TOKENS
    if is_messages:
        return {
            "id": "msg",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": text}],
            "stop_reason": "max_tokens" if reason == "length" else "end_turn",
            "usage": {"input_tokens": prompt, "output_tokens": reply_text},
        }
    if "input" in body:
        details = {"incomplete_details": {"reason": "max_output_tokens"}} if reason == "length" else {}
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return {
            "id": "resp",
            "object": "response",
            "model": body["model"],
            "status": "incomplete" if details else "completed",
            "output": [{"type": "message", "role": "assistant", "content": content}],
            "usage": {"input_tokens": prompt, "output_tokens": reply_text, "total_tokens": prompt + reply_text},
            **details,
        }
    return {
        "id": "chatcmpl",
        "object": "chat.completion",
        "model": body["model"],
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": reply_text, "total_tokens": prompt + reply_text},
    }
