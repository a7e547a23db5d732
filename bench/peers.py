"""Other projects' clients, each in a separate environment; imports none of this project's dependencies.

Usage: PYTHON -m bench.peers NAME URL AT_ONCE REQUESTS [TEXTS]
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.load import MODEL, measure, prompt, report, take_texts

PACKAGES = {"openai": ["openai"], "openai_sqlite": ["openai"], "litellm": ["litellm"], "lm_eval": ["lm-eval[api]"]}
"""The packages to install for each."""

KEY = "key"


def _messages(number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": prompt(number)}]


def openai(url: str, at_once: int, requests: int) -> None:
    """openai's AsyncOpenAI."""
    library: Any = importlib.import_module("openai")

    async def run() -> None:
        async with library.AsyncOpenAI(base_url=url, api_key=KEY) as client:

            async def ask(number: int) -> object:
                reply = await client.chat.completions.create(model=MODEL, messages=_messages(number))
                return reply.choices[0].message.content

            await measure(ask, at_once, requests)

    asyncio.run(run())


def openai_sqlite(url: str, at_once: int, requests: int) -> None:
    """The obvious hand-written script: AsyncOpenAI, storing each request and reply in SQLite."""
    library: Any = importlib.import_module("openai")

    async def run(connection: sqlite3.Connection) -> None:
        async with library.AsyncOpenAI(base_url=url, api_key=KEY) as client:

            async def ask(number: int) -> object:
                messages = _messages(number)
                reply = await client.chat.completions.create(model=MODEL, messages=messages)
                with connection:
                    row = (number, json.dumps(messages), reply.model_dump_json())
                    connection.execute("INSERT INTO replies VALUES (?, ?, ?)", row)
                return reply.choices[0].message.content

            await measure(ask, at_once, requests)

    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "replies.db")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("CREATE TABLE replies (number INTEGER, request TEXT, reply TEXT)")
        asyncio.run(run(connection))
        connection.close()


def litellm(url: str, at_once: int, requests: int) -> None:
    """litellm's acompletion."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    library: Any = importlib.import_module("litellm")

    async def ask(number: int) -> object:
        reply = await library.acompletion(
            model=f"openai/{MODEL}", messages=_messages(number), api_base=url, api_key=KEY
        )
        return reply.choices[0].message.content

    asyncio.run(measure(ask, at_once, requests))


def lm_eval(url: str, at_once: int, requests: int) -> None:
    """lm-evaluation-harness's driver of chat servers: it takes all requests at once and has no warm connections."""
    os.environ["OPENAI_API_KEY"] = KEY
    models: Any = importlib.import_module("lm_eval.models.openai_completions")
    strings: Any = importlib.import_module("lm_eval.models.api_models")
    instances: Any = importlib.import_module("lm_eval.api.instance")
    driver = models.LocalChatCompletion(
        model=MODEL, base_url=f"{url}/chat/completions", num_concurrent=at_once, tokenizer_backend=None
    )
    made = [
        instances.Instance(
            request_type="generate_until",
            doc={},
            arguments=(strings.JsonChatStr(strings.json.dumps(_messages(number))), {"until": [], "max_gen_toks": 64}),
            idx=number,
        )
        for number in range(requests)
    ]
    cpu, began = time.process_time(), time.perf_counter()
    replies = driver.generate_until(made, disable_tqdm=True)
    report(time.perf_counter() - began, time.process_time() - cpu, requests)
    assert len(replies) == requests


PEERS: dict[str, Callable[[str, int, int], None]] = {
    "openai": openai,
    "openai_sqlite": openai_sqlite,
    "litellm": litellm,
    "lm_eval": lm_eval,
}


if __name__ == "__main__":
    for path in sys.argv[5:]:
        take_texts(path)
    PEERS[sys.argv[1]](sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
