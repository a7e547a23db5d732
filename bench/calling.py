"""Calls to a model server: our client against bare sockets, httpx in three forms and other projects' clients.

Usage: python -m bench.calling [--clients ours,sockets,...] [--rounds 25]

The server is a stub in a separate process that replies with 1 kB after a latency of ±50 %; each client runs in a
separate process. Peers are installed in separate environments under ``bench/.peers``; one that can't be installed is
skipped, and the reason is printed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from msgspec import Struct

from bench.clients import CLIENTS
from bench.environments import environment
from bench.figures import left_out, report
from bench.load import LONG
from bench.peers import PACKAGES
from tests.servers.faulty import Launched, launched

ROOT = Path(__file__).resolve().parents[1]

_LONGEST_S = 900
_SHARE_SLOW = 95.0
_SHARE_QUICK = 80.0
_SHARE_LONG = 85.0
_OF_SOCKETS = 97.0
_CPU_MS = 1.2
_CPU_GROWTH = 1.2
_MEMORY_MB = 10.0
_FEW, _MANY = 1_000, 100_000


class Case(Struct, frozen=True):
    """One load.

    Attributes:
        at_once: The number of concurrent calls.
        latency: Mean latency in seconds.
        rounds: The number of requests, as a multiple of the concurrent calls.
        texts: A file with texts of prompts; short ones by default.
    """

    name: str
    at_once: int
    latency: float
    rounds: int
    texts: str | None = None


class Measured(Struct, frozen=True):
    """One client under one load: requests per second, CPU milliseconds per request, peak MB."""

    rate: float
    cpu_ms: float
    rss_mb: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", default=",".join((*CLIENTS, *PACKAGES)))
    parser.add_argument("--rounds", type=int, default=25, help="of calls at once, at one second")
    options, _ = parser.parse_known_args()
    clients = options.clients.split(",")
    slow = Case("c256_1s", 256, 1.0, options.rounds)
    mild = Case("c64_50ms", 64, 0.05, 40)
    hard = Case("c256_50ms", 256, 0.05, 40)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as texts:
        texts.write(json.dumps(LONG))
        texts.flush()
        long = Case("c64_200ms_long", 64, 0.2, 20, texts.name)
        cases = (slow, mild, hard, long)
        found = {(case.name, client): _measured(case, client) for case in cases for client in clients}
    _compare(found)
    if "ours" in clients:
        _memory()


def _measured(case: Case, client: str) -> Measured | None:
    requests = case.at_once * case.rounds
    with launched(latency=case.latency) as stub:
        measured = measured_client(client, stub, case.at_once, requests, case.texts)
    if measured is None:
        return None
    share = 100 * measured.rate * case.latency / case.at_once
    name = f"calling_{client}_{case.name}"
    goal = (
        {"c256_1s": _SHARE_SLOW, "c64_50ms": _SHARE_QUICK, "c64_200ms_long": _SHARE_LONG}.get(case.name)
        if client == "ours"
        else None
    )
    report(f"{name}_rate", measured.rate, "req/s")
    report(f"{name}_share", share, "% of c/latency", goal, at_least=True)
    report(f"{name}_cpu", measured.cpu_ms, "ms/req", _CPU_MS if client == "ours" else None)
    report(f"{name}_rss", measured.rss_mb, "MB")
    return measured


def _compare(found: dict[tuple[str, str], Measured | None]) -> None:
    """Compare our client with bare sockets, and many concurrent calls with few."""
    ours, sockets = found.get(("c256_1s", "ours")), found.get(("c256_1s", "sockets"))
    if ours and sockets:
        report("calling_ours_of_sockets_c256_1s", 100 * ours.rate / sockets.rate, "%", _OF_SOCKETS, at_least=True)
    many, few = found.get(("c256_50ms", "ours")), found.get(("c64_50ms", "ours"))
    if many and few:
        report("calling_ours_cpu_c256_by_c64", many.cpu_ms / few.cpu_ms, "x", _CPU_GROWTH)


def _memory() -> None:
    peaks = []
    for requests in (_FEW, _MANY):
        with launched(latency=0.005) as stub:
            measured = measured_client("ours", stub, 64, requests)
        assert measured is not None
        peaks.append(measured.rss_mb)
    report("calling_ours_memory_growth_1k_to_100k", peaks[1] - peaks[0], "MB", _MEMORY_MB)


def measured_client(
    client: str, stub: Launched, at_once: int, requests: int, texts: str | None = None
) -> Measured | None:
    """Return the measurements of one client; None, with the reason printed, if it can't run."""
    if client in CLIENTS:
        command = [sys.executable, "-m", "bench.clients"]
    elif (python := environment(PACKAGES[client][0], tuple(PACKAGES[client]), f"calling_{client}")) is not None:
        command = [str(python), "-m", "bench.peers"]
    else:
        return None
    command += [client, stub.url, str(at_once), str(requests), *([] if texts is None else [texts])]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_LONGEST_S)
    except subprocess.TimeoutExpired:
        _left_out(client, f"it took more than {_LONGEST_S} s")
        return None
    if done.returncode:
        _left_out(client, done.stderr.strip().splitlines()[-1][:200])
        return None
    figures = json.loads(done.stdout.strip().splitlines()[-1])
    return Measured(**figures)


def _left_out(client: str, why: str) -> None:
    left_out(f"calling_{client}", why)


if __name__ == "__main__":
    main()
