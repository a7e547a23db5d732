"""The obvious script: asyncio, httpx and one JSON line per completion, without a journal or resumption.

Usage: python -m bench.plain_completing URL QUESTIONS MODELS AT_ONCE
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time

import httpx

from bench.load import prompt, report


async def _complete(url: str, questions: int, models: int, at_once: int) -> None:
    with tempfile.TemporaryFile("w", encoding="utf-8") as lines:

        async def write(model: int) -> None:
            left = iter(range(questions))

            async def work(client: httpx.AsyncClient) -> None:
                for number in left:
                    body = {"model": f"m{model}", "messages": [{"role": "user", "content": prompt(number)}]}
                    reply = await client.post(f"{url}/chat/completions", json=body)
                    text = reply.raise_for_status().json()["choices"][0]["message"]["content"]
                    lines.write(json.dumps({"question": number, "model": model, "completion": text}) + "\n")

            async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None)) as client:
                await asyncio.gather(*(work(client) for _ in range(at_once)))

        await asyncio.gather(*(write(model) for model in range(models)))


def main() -> None:
    """Measure and print."""
    url, *numbers = sys.argv[1:]
    questions, models, at_once = map(int, numbers)
    cpu, began = time.process_time(), time.perf_counter()
    asyncio.run(_complete(url, questions, models, at_once))
    report(time.perf_counter() - began, time.process_time() - cpu, questions * models)


if __name__ == "__main__":
    main()
