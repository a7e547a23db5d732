"""Throughput of the reward server: large requests, many concurrent clients, several processes, tests as reward.

Usage: python -m bench.throughput [--rounds 12] [--seconds 4] [--clients 64] [--solutions 512]

The server runs as users start it; this process sends prepared requests and reads only the length of a response, but
shares the cores with the server. Each rate is reported with the processor time per completion of all the server's
processes, which is more reliable on a busy machine, and with the number of cores they used. Ratios compare consecutive
measurements.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import psutil
from msgspec import Struct

from bench.figures import left_out, median, report
from bench.rewarding import p99
from tests.rewarding import Launched, launched
from workbench.core.verdict import VerifierInput
from workbench.verifiers.base import Pending
from workbench.verifiers.execution.levels import best_level
from workbench.verifiers.rules.verifier import Rules

ROOT = Path(__file__).resolve().parents[1]
_SAMPLE = ROOT / "sample_data" / "tuples.jsonl"
_CODE = ROOT.parent / "shared" / "data" / "code"
_LARGE = 512
_SMALL = 16
_PER_SECOND, _P99_MS, _RATIO, _SOLUTIONS_PER_SECOND = 5_000.0, 60.0, 1.8, 250.0
_WARM = 3


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12, help="requests, and turns of a ratio")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each turn")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--solutions", type=int, default=512)
    options, _ = parser.parse_known_args()
    items = _decided_at_once()
    with tempfile.TemporaryDirectory() as folder:
        _large(Path(folder), items, options.rounds)
        _clients(Path(folder), items, options.clients, options.seconds)
        _processes(Path(folder), items, options.clients, options.seconds, max(3, options.rounds // 4))
        _tests(Path(folder), options.solutions, max(3, options.rounds // 4))


# -- Requests


def _decided_at_once() -> Iterator[dict[str, Any]]:
    """Yield endless sample rows that need no worker, with different texts."""
    rows = [json.loads(line) for line in _SAMPLE.read_text(encoding="utf-8").splitlines()]
    quick = [
        {"question": row["question"], "reference": row["answer"], "completion": row["completion"]}
        for row in rows
        if not isinstance(Rules().quick(_input(row)), Pending)
    ]
    for number in itertools.count():
        row = quick[number % len(quick)]
        yield row | {"completion": f"Attempt {number}. {row['completion']}", "id": number}


def _sums() -> Iterator[dict[str, Any]]:
    """Yield completions that are typical of training: a boxed number after 900 characters, eight per question."""
    draw = random.Random(0)
    for number in itertools.count():
        a, b = draw.randrange(10, 9_999), draw.randrange(10, 9_999)
        question = f"A bakery sells {a} loaves before noon and {b} behind it. How many loaves are these?"
        for sample in range(8):
            boxed = a + b + draw.choice((0, 0, draw.randrange(1, 9)))
            working = f"Before noon and behind it are added, says attempt {sample}. " * 15
            completion = f"{working}\n\nSo {a} + {b} = {boxed}, and the answer is \\boxed{{{boxed}}}."
            yield {"question": question, "reference": str(a + b), "completion": completion, "id": f"{number}.{sample}"}


def _input(row: dict[str, Any]) -> VerifierInput:
    return VerifierInput(item=0, question=row["question"], reference=row["answer"], completion=row["completion"])


def _request(path: str, document: object) -> bytes:
    body = msgspec.json.encode(document)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def _batch(items: Iterator[dict[str, Any]], size: int) -> bytes:
    return _request("/reward", {"items": list(itertools.islice(items, size))})


# -- Clients


class Taken(Struct, frozen=True):
    """The measurements of some requests.

    Attributes:
        seconds: The seconds of each request.
        wall: Seconds from the first to the last.
        cpu: Processor seconds of the server and its processes.
    """

    seconds: list[float]
    wall: float
    cpu: float


def _in_turn(server: Launched, requests: Sequence[bytes]) -> Taken:
    """Send one request after the other over one connection."""
    seconds = []
    with socket.create_connection(("127.0.0.1", server.port)) as sock, sock.makefile("rb") as stream:
        before, start = _cpu(server), time.perf_counter()
        for request in requests:
            began = time.perf_counter()
            sock.sendall(request)
            status, length = stream.readline(), 0
            while (line := stream.readline()) != b"\r\n":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            stream.read(length)
            seconds.append(time.perf_counter() - began)
            _require_taken(status)
    return Taken(seconds, time.perf_counter() - start, _cpu(server) - before)


class _ClosedLoop(asyncio.Protocol):
    """A client that sends its next request when it has the response to the last."""

    def __init__(
        self, requests: Iterator[bytes], ends: float, seconds: list[float], over: asyncio.Future[None]
    ) -> None:
        self._requests, self._ends, self._seconds, self._over = requests, ends, seconds, over
        self._data = b""
        self._began = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def _send(self) -> None:
        self._began = time.perf_counter()
        self._transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, found, body = self._data.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        _require_taken(head)
        self._data = b""
        self._seconds.append(time.perf_counter() - self._began)
        if time.perf_counter() < self._ends:
            self._send()
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._over.set_result(None)


def _at_once(server: Launched, requests: Sequence[bytes], clients: int, seconds: float) -> Taken:
    """Run many clients, each with one request at a time, for some seconds."""

    async def drive() -> list[float]:
        loop = asyncio.get_running_loop()
        found: list[float] = []
        sent, ends = itertools.cycle(requests), time.perf_counter() + seconds
        over = [loop.create_future() for _ in range(clients)]
        for one in over:
            await loop.create_connection(partial(_ClosedLoop, sent, ends, found, one), "127.0.0.1", server.port)
        await asyncio.gather(*over)
        return found

    before, start = _cpu(server), time.perf_counter()
    found = asyncio.run(drive())
    return Taken(found, time.perf_counter() - start, _cpu(server) - before)


def _require_taken(answer: bytes) -> None:
    if not answer.startswith(b"HTTP/1.1 200"):
        raise SystemExit(f"A request was not taken: {answer[:200]!r}")


def _cpu(server: Launched) -> float:
    """Return the processor seconds of a server and its children so far, including ended ones."""
    process = psutil.Process(server.process.pid)
    return sum(sum(one.cpu_times()[:4]) for one in (process, *process.children(recursive=True)))


# -- Metrics


def _large(folder: Path, items: Iterator[dict[str, Any]], rounds: int) -> None:
    for name, some in (("512_sums", _sums()), ("512", items)):
        with _ready(folder) as server:
            _in_turn(server, [_batch(some, _LARGE) for _ in range(_WARM)])
            taken = _in_turn(server, [_batch(some, _LARGE) for _ in range(rounds)])
        rate = _LARGE / median(taken.seconds)
        report(f"throughput_{name}_completions_per_second", rate, "completions/s", _PER_SECOND, at_least=True)
        report(f"throughput_{name}_best", _LARGE / min(taken.seconds), "completions/s")
        _cores(name, taken, rounds * _LARGE)


def _clients(folder: Path, items: Iterator[dict[str, Any]], clients: int, seconds: float) -> None:
    requests = [_request("/reward", item) for item in itertools.islice(items, 4_096)]
    with _ready(folder, "--processes", 2) as server:
        _at_once(server, requests, clients, seconds / 4)
        taken = _at_once(server, requests, clients, seconds)
    report("throughput_clients_p99", 1000 * p99(taken.seconds), "ms", _P99_MS)
    report("throughput_clients_p50", 1000 * median(taken.seconds), "ms")
    report("throughput_clients_requests_per_second", len(taken.seconds) / taken.wall, "requests/s")
    _cores("clients", taken, len(taken.seconds))


def _processes(folder: Path, items: Iterator[dict[str, Any]], clients: int, seconds: float, turns: int) -> None:
    """Requests of a few completions: the client's time hardly matters."""
    requests = [_batch(items, _SMALL) for _ in range(256)]
    taken: dict[int, list[Taken]] = {1: [], 2: []}
    with ExitStack() as exits:
        servers = {count: exits.enter_context(_ready(folder, "--processes", count)) for count in taken}
        for server in servers.values():
            _at_once(server, requests, clients, seconds / 4)
        for _ in range(turns):
            for count, server in servers.items():
                taken[count].append(_at_once(server, requests, clients, seconds))
    rates = {count: [_SMALL * len(one.seconds) / one.wall for one in turn] for count, turn in taken.items()}
    ratios = [two / one for one, two in zip(rates[1], rates[2], strict=True)]
    report("throughput_2_processes_to_1", median(ratios), "x", _RATIO, at_least=True)
    for count, turn in taken.items():
        report(f"throughput_{count}_processes_completions_per_second", median(rates[count]), "completions/s")
        whole = Taken([], sum(one.wall for one in turn), sum(one.cpu for one in turn))
        _cores(f"{count}_processes", whole, _SMALL * sum(len(one.seconds) for one in turn))


def _tests(folder: Path, solutions: int, turns: int) -> None:
    if not _CODE.is_dir():
        left_out("throughput_tests", "the real data folder ../shared/data is not here")
        return
    at = f"solutions/s at {best_level()} on {os.cpu_count()} cores"
    with _ready(folder, "--verifier", "execution") as server:
        for name, suites in (("tests", ["tests"]), ("more_tests", ["tests", "plus_tests"])):
            request = _request("/trl", _solutions(solutions, suites))
            _in_turn(server, [request])
            taken = _in_turn(server, [request] * turns)
            goal = _SOLUTIONS_PER_SECOND if name == "tests" else None
            report(f"throughput_{name}", solutions / median(taken.seconds), at, goal, at_least=True)
            _cores(name, taken, turns * solutions)


@contextmanager
def _ready(folder: Path, *arguments: object) -> Iterator[Launched]:
    with launched(folder, *arguments) as server:
        server.until_ready()
        yield server


def _cores(name: str, taken: Taken, completions: int) -> None:
    report(f"throughput_{name}_cpu", 1e6 * taken.cpu / completions, "µs/completion")
    report(f"throughput_{name}_cores", taken.cpu / taken.wall, "cores")


def _solutions(count: int, suites: Sequence[str]) -> dict[str, list[Any]]:
    """Return real solutions with their problems' tests, as TRL's columns, without those that time out."""
    problems = {row["task_id"]: row for row in _lines(_CODE / "problems.jsonl")}
    rows = [row for row in _lines(_CODE / "solutions.jsonl") if "t" not in row["per_test"] + row["plus"]]
    some = list(itertools.islice(itertools.cycle(rows), count))
    known = [problems[row["task_id"]] for row in some]
    return {
        "prompts": [one["prompt"] for one in known],
        "completions": [row["code"] for row in some],
        "tests": [[test for suite in suites for test in one[suite]] for one in known],
        "entry_point": [one["entry_point"] for one in known],
        "setup": [one["setup"] for one in known],
    }


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


if __name__ == "__main__":
    main()
