"""Load for a stub server, the same for every client; uses the standard library alone, so that peers can run it."""

from __future__ import annotations

import asyncio
import json
import resource
import time
from collections.abc import Awaitable, Callable

PROMPT = "Compare the solution with the reference answer and decide whether they agree. " * 23
MODEL = "stub"

Ask = Callable[[int], Awaitable[object]]

_STEP = (
    "Let $f(x) = \\frac{a_{i}}{b[k]}$ with $x \\le y$; then d[MAX_LEN] = max(d[i], a<b) and `std::map<std::string, T>` "
    "gives \\boxed{42}. <td>42</td> ≤ 43 × 2²; see https://example.org/a/b?c=1&d=2 [1].\n"
)
LONG = f"<think>\n{_STEP * 90}</think>\nThe answer is 42."
"""A solution with mathematics and code, 20 kB."""
_texts = [PROMPT]


def take_texts(path: str) -> None:
    """Build prompts from the texts in a file, one JSON string per line."""
    with open(path, encoding="utf-8") as lines:
        _texts[:] = map(json.loads, lines)


def prompt(number: int) -> str:
    """Return a prompt of about 1.8 kB, or built from a loaded text, that is in no cache."""
    return f"Item {number}. {_texts[number % len(_texts)]}"


async def measure(ask: Ask, at_once: int, requests: int) -> None:
    """Warm the connections, let workers take requests from one queue, and print a line of measurements."""
    await _drain(ask, at_once, range(-2 * at_once, 0))
    cpu, began = time.process_time(), time.perf_counter()
    await _drain(ask, at_once, range(requests))
    report(time.perf_counter() - began, time.process_time() - cpu, requests)


async def _drain(ask: Ask, at_once: int, numbers: range) -> None:
    left = iter(numbers)

    async def work() -> None:
        for number in left:
            await ask(number)

    await asyncio.gather(*(work() for _ in range(at_once)))


def report(seconds: float, cpu: float, requests: int) -> None:
    """Print the measurements as JSON: requests per second, CPU milliseconds per request, peak MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rate": requests / seconds, "cpu_ms": cpu / requests * 1000, "rss_mb": peak}), flush=True)
