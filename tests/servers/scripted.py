"""A real model server that returns scripted replies: ``with scripted(answer) as server:``."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.servers.wire import Connection, Received, Scripted, port_of, serve

__all__ = ["Received", "Scripted", "ScriptedServer", "chat_reply", "messages_reply", "scores_reply", "scripted"]

Numbers = Sequence[float] | Sequence[Sequence[float]]
Answer = Callable[[Received], str | Numbers | Scripted]
"""Called on one thread, a request at a time; returns a chat reply, numbers or vectors for scores, or a response."""


class ScriptedServer:
    """A test's view of its server: its address and the requests received, in order of arrival."""

    def __init__(self, answer: Answer, latency_s: float) -> None:
        self.received: list[Received] = []
        self.port = 0
        self._answer = answer
        self._latency_s = latency_s

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def bodies(self) -> list[Any]:
        return [received.body for received in self.received]

    def times_received(self, received: Received) -> int:
        """Return how often an identical request has arrived."""
        return sum((one.path, one.raw) == (received.path, received.raw) for one in self.received)

    async def handle(self, received: Received) -> Scripted:
        self.received.append(received)
        try:
            answer = self._answer(received)
            if not isinstance(answer, Scripted) or answer.status == 200:
                await asyncio.sleep(self._latency_s * random.uniform(0.5, 1.5))
        except Exception as error:
            return Scripted(500, body={"error": {"message": f"the script raised {type(error).__name__}: {error}"}})
        if isinstance(answer, Scripted):
            return answer
        if isinstance(answer, str):
            is_messages = received.path.endswith("/messages")
            return Scripted(body=messages_reply(answer) if is_messages else chat_reply(answer))
        return Scripted(body=scores_reply(received.path, answer))


@contextmanager
def scripted(answer: Answer, latency_s: float = 0.0) -> Iterator[ScriptedServer]:
    """Run a server in a thread; ``server.url`` is its base URL. Replies have a latency, rejections do not."""
    server = ScriptedServer(answer, latency_s)
    ready = threading.Event()
    over = asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def live() -> None:
        loops.append(asyncio.get_running_loop())
        connections: set[Connection] = set()
        listener = await serve(server.handle, connections)
        server.port = port_of(listener)
        ready.set()
        await over.wait()
        listener.close()
        for connection in list(connections):
            connection.close()

    # asyncio.run cancels pending responses at the end and waits for them.
    thread = threading.Thread(target=lambda: asyncio.run(live()), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loops[0].call_soon_threadsafe(over.set)
        thread.join()


def chat_reply(content: str | None, **choice: Any) -> dict[str, Any]:
    """Return a reply in OpenAI's chat form; keyword arguments go into the choice."""
    message = {"role": "assistant", "content": content, **choice.pop("message", {})}
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "scripted-model",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def messages_reply(content: str, stop_reason: str = "end_turn") -> dict[str, Any]:
    """Return a reply in Anthropic's form."""
    return {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": "scripted-model",
        "content": [{"type": "text", "text": content}],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def scores_reply(path: str, numbers: Numbers) -> dict[str, Any]:
    """Return scores in vLLM's forms; reranked ones come best first, as from a real server, others in mixed order."""
    task = path.rsplit("/", 1)[-1]
    entries: list[tuple[int, Any]] = list(enumerate(numbers))
    usage = {"prompt_tokens": 50, "total_tokens": 50, "completion_tokens": 0}
    head = {"id": f"{task}-scripted", "object": "list", "created": 1_700_000_000, "model": "scripted-model"}
    if task == "rerank":
        ranked = sorted(entries, key=lambda entry: entry[1], reverse=True)
        results = [{"index": index, "document": {"text": ""}, "relevance_score": score} for index, score in ranked]
        return {"id": "rerank-scripted", "model": "scripted-model", "usage": {"total_tokens": 50}, "results": results}
    data: list[dict[str, Any]] = []
    for index, value in reversed(entries):
        match task:
            case "score":
                data.append({"index": index, "object": "score", "score": value})
            case "classify":
                probabilities = [value] if isinstance(value, int | float) else list(value)
                data.append({"index": index, "label": "LABEL_0", "probs": probabilities})
            case _:
                data.append({"index": index, "object": "pooling", "data": value})
    return {**head, "data": data, "usage": usage}
