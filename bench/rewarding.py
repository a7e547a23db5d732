"""The reward server under 64 clients with mixed hostile inputs: speed of the fast path, wrong answers, memory.

Usage: python -m bench.rewarding [--requests 20000] [--clients 64]

The server runs as users start it, this process sends requests; they share the cores. See `tests.rewarding_load` for the
requests. In one measurement clients send as fast as they get responses, faster than any training: 200 requests a second
are 720,000 an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.figures import median, report
from tests.rewarding import Launched, launched
from tests.rewarding_load import SHARES, Cases, Load, Tally, gathered, memory_mb

_P99_MS = 50.0
_GROWTH_MB = 50.0
_PLENTY = 4_000
_PACE = 200.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=64)
    options, _ = parser.parse_known_args()
    cases = gathered()
    with tempfile.TemporaryDirectory() as folder, launched(Path(folder)) as server:
        server.until_ready()
        asyncio.run(Load(server, cases).drive(_PLENTY, options.clients))
        before = memory_mb(server)
        _measure("paced", server, cases, options.requests // 5, options.clients, _PACE)
        _measure("flat_out", server, cases, options.requests, options.clients, None)
        report("rewarding_growth", memory_mb(server) - before, "MB", _GROWTH_MB)


def _measure(name: str, server: Launched, cases: Cases, requests: int, clients: int, pace: float | None) -> None:
    began = time.perf_counter()
    tally = asyncio.run(Load(server, cases, pace=pace).drive(requests, clients, seed=1))
    _print(f"rewarding_{name}", tally, time.perf_counter() - began)


def _print(name: str, tally: Tally, seconds: float) -> None:
    requests_sent = sum(tally.counts[kind] for kind in SHARES)
    report(f"{name}_requests_per_second", requests_sent / seconds, "requests/s")
    report(f"{name}_fast_p50", 1000 * median(tally.fast), "ms")
    report(f"{name}_fast_p99", 1000 * p99(tally.fast), "ms", _P99_MS)
    report(f"{name}_slow_p50", 1000 * median(tally.slow), "ms")
    for kind in ("wrong", "missing", "crossed"):
        report(f"{name}_{kind}", tally.counts[kind], "answers", 0)
    report(f"{name}_late", tally.counts["late"], "answers")
    report(f"{name}_refused", tally.counts["refused"], "requests")


def p99(values: Sequence[float]) -> float:
    """Return the 99th percentile, by nearest rank."""
    return sorted(values)[min(len(values) - 1, int(0.99 * len(values)))]


if __name__ == "__main__":
    main()
