"""A fast stub server in a separate process: latency with jitter, and faults at a given rate.

Usage: python -m tests.servers.faulty [--latency 1.0] [--jitter 0.5] [--seed 0] [--faulty] [--retry-after 0.05]

It prints its port. ``GET /counts`` returns what it has received: the client's own counts prove nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

from tests.servers.scripted import chat_reply
from tests.servers.wire import Connection, Received, Scripted, port_of, serve

FAULTS = {"rate_limit": 0.05, "server": 0.05, "hang": 0.03, "malformed": 0.04, "truncated": 0.03}
"""The share of attempts that end in each fault: 20 % in all."""

REPLY = "The solution was compared with the reference step by step. " * 11 + "\nFinal Judgment: Yes"
NEVER = Event()


class Stub:
    """Every decision follows from the seed, the request and how often it arrived, never from the order of arrival."""

    def __init__(self, *, latency: float, jitter: float, seed: int, faulty: bool, retry_after: float) -> None:
        self.requests: Counter[str] = Counter()
        self.served: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.times: list[float] = []
        self.in_flight = self.most_in_flight = 0
        self._latency, self._jitter, self._seed = latency, jitter, seed
        self._faulty, self._retry_after = faulty, retry_after
        self._good = Scripted(body=json.dumps(chat_reply(REPLY)))
        self._began = time.monotonic()

    async def handle(self, received: Received) -> Scripted:
        if received.method == "GET":
            return Scripted(body=self.counts(full=received.path == "/counts"))
        key = hashlib.sha256(received.raw).hexdigest()
        self.requests[key] += 1
        self.times.append(time.monotonic() - self._began)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            draw = random.Random(f"{self._seed} {key} {self.requests[key]}")
            fault = self._fault(draw.random())
            await asyncio.sleep(self._latency * (1 + self._jitter * draw.uniform(-1, 1)))
        finally:
            self.in_flight -= 1
        if fault is None:
            self.served[key] += 1
            return self._good
        self.faults[fault] += 1
        return self._failure(fault)

    def _fault(self, drawn: float) -> str | None:
        if not self._faulty:
            return None
        for name, share in FAULTS.items():
            if drawn < share:
                return name
            drawn -= share
        return None

    def _failure(self, fault: str) -> Scripted:
        body = self._good.content()
        match fault:
            case "rate_limit":
                headers = {"retry-after": f"{self._retry_after:g}"}
                return Scripted(429, headers, {"error": {"message": "Rate limit reached", "type": "rate_limit"}})
            case "server":
                return Scripted(500, body={"error": {"message": "The server had an error"}})
            case "hang":
                return Scripted(hold=NEVER)
            case "malformed":
                return Scripted(body=body[: len(body) // 2])
            case _:
                return Scripted(body=body, cut=len(body) // 2)

    def counts(self, *, full: bool) -> dict[str, Any]:
        totals = {
            "requests": self.requests.total(),
            "served": self.served.total(),
            "unique": len(self.served),
            "repeated": self.served.total() - len(self.served),
            "most_in_flight": self.most_in_flight,
            "faults": dict(self.faults),
        }
        by_request = {"requests_by_hash": dict(self.requests), "served_by_hash": dict(self.served), "times": self.times}
        return totals | (by_request if full else {})


class Launched:
    """A stub in a separate process, as a test or a benchmark sees it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/v1"

    def counts(self, *, full: bool = True) -> dict[str, Any]:
        """``requests``, ``served``, ``unique``, ``repeated``, ``most_in_flight``, ``faults``; when full also
        ``requests_by_hash``, ``served_by_hash`` and the arrivals' ``times`` in seconds."""
        path = "counts" if full else "totals"
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}") as response:
            counts: dict[str, Any] = json.load(response)
        return counts


@contextmanager
def launched(
    *, latency: float = 0.01, jitter: float = 0.5, seed: int = 0, faulty: bool = False, retry_after: float = 0.05
) -> Iterator[Launched]:
    """Run a stub in a separate process until the block ends."""
    command = [sys.executable, "-m", "tests.servers.faulty", "--latency", str(latency), "--jitter", str(jitter)]
    command += ["--seed", str(seed), "--retry-after", str(retry_after), *(["--faulty"] if faulty else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Launched(int(process.stdout.readline()))
        finally:
            process.kill()


async def _serve(stub: Stub) -> None:
    connections: set[Connection] = set()
    listener = await serve(stub.handle, connections)
    print(port_of(listener), flush=True)
    await listener.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=1.0, help="mean seconds to a reply")
    parser.add_argument("--jitter", type=float, default=0.5, help="uniform, as a share of the latency either way")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--faulty", action="store_true", help="20 %% of the attempts fail")
    parser.add_argument("--retry-after", type=float, default=0.05, help="seconds that a 429 asks for")
    asyncio.run(_serve(Stub(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
