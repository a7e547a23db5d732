"""Mixed hostile load for the reward server; every response is checked.

Most requests are short completions that are decided immediately. The others are inputs that need a worker, crafted
short texts, megabytes, batches, and bodies that are not valid requests. Each response is compared with the verdict of
a direct call of the verifier, and must contain the id of its request. Latency is measured by the clients.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import psutil
from msgspec import Struct, field

import workbench
from tests.rewarding import Answer, Client, Launched
from tests.unit.verifiers.rules.hostile import HOSTILE
from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs.executor import LONG_ITEM_CHARACTERS
from workbench.verifiers.base import Pending
from workbench.verifiers.rules.verifier import Rules

SHARES = {"fast": 0.82, "crafted": 0.05, "heavy": 0.05, "long": 0.03, "batch": 0.02, "broken": 0.03}
"""The shares of requests by kind."""

_SAMPLE = Path(__file__).resolve().parents[1] / "sample_data" / "tuples.jsonl"
_BATCH = 8
_BROKEN = (b"", b"{", b"[]", b'{"reference": 7}', b'{"items": [{}]}', b"\xff" * 100, b'{"a":' * 50_000)
_TOOK_TOO_MUCH = ("timeout", "worker_died")
_PATIENCE = 600
_PAUSE_S = 0.1


class Case(Struct, frozen=True):
    """An input and the verifier's verdict on it."""

    input: VerifierInput
    verdict: Verdict

    @property
    def expected(self) -> tuple[str, float | None, str | None]:
        return self.verdict.outcome.word, self.verdict.score, self.verdict.reason


class Cases(Struct, frozen=True):
    """The inputs.

    Attributes:
        fast: Sample rows that are decided immediately.
        crafted: Short hostile inputs that are decided immediately.
        heavy: Inputs that need a worker.
        long: Inputs of megabytes, mostly hostile.
    """

    fast: list[Case]
    crafted: list[Case]
    heavy: list[Case]
    long: list[Case]


class Tally(Struct):
    """Counts and latencies of responses.

    Attributes:
        fast: Seconds that requests on the fast path took.
        slow: Seconds the others took.
        counts: Requests by kind and responses by fault; "late" are timeouts where the direct call decided in time, or
            the reverse. Requests that were rejected for lack of room ("refused") or whose connection failed
            ("cut off") are sent again.
    """

    fast: list[float] = field(default_factory=list)
    slow: list[float] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def check(self, case: Case, name: str, answer: dict[str, Any]) -> None:
        """Compare a response with the expected verdict."""
        self.counts["answers"] += 1
        if answer["id"] != name:
            self.counts["crossed"] += 1
        elif (answer["verdict"], answer["score"], answer["reason"]) != case.expected:
            either = {answer["reason"], case.verdict.reason} & {*_TOOK_TOO_MUCH}
            self.counts["late" if either else "wrong"] += 1


def gathered() -> Cases:
    """Return sample rows and hostile inputs with their direct verdicts, grouped by path."""
    rows = [json.loads(line) for line in _SAMPLE.read_text(encoding="utf-8").splitlines()]
    sample = [
        VerifierInput(item=0, question=row["question"], reference=row["answer"], completion=row["completion"])
        for row in rows
    ]
    cases: dict[str, list[Case]] = {kind: [] for kind in ("fast", "crafted", "heavy", "long")}
    with workbench.reward("rules") as reward:
        inputs = [*sample, *(one.input for one in HOSTILE if one.storable)]
        for number, case in enumerate(map(Case, inputs, reward.verdicts(inputs))):
            if isinstance(Rules().quick(case.input), Pending):
                kind = "heavy"
            elif case.input.characters > LONG_ITEM_CHARACTERS:
                kind = "long"
            else:
                kind = "fast" if number < len(sample) else "crafted"
            cases[kind].append(case)
    return Cases(**cases)


class Load:
    """Clients that send requests, each waiting for its response before the next.

    Args:
        pace: The maximum number of requests per second over all clients; unlimited if None.
    """

    def __init__(self, server: Launched, cases: Cases, *, pace: float | None = None) -> None:
        self._port = server.port
        self._cases = cases
        self._pace = pace
        self.tally = Tally()

    async def drive(self, requests: int, clients: int, seed: int = 0) -> Tally:
        """Send the requests; return the tally of all calls so far."""
        numbers = iter(range(requests))
        began = asyncio.get_running_loop().time()

        async def work(own: random.Random) -> None:
            client = Client(self._port)
            for number in numbers:
                if self._pace is not None:
                    await asyncio.sleep(began + number / self._pace - asyncio.get_running_loop().time())
                await self._ask(client, own.choices(list(SHARES), list(SHARES.values()))[0], f"{seed}.{number}", own)
            client.close()

        await asyncio.gather(*(work(random.Random(seed * clients + client)) for client in range(clients)))
        return self.tally

    async def _ask(self, client: Client, kind: str, name: str, own: random.Random) -> None:
        self.tally.counts[kind] += 1
        if kind == "broken":
            answer = await self._persistent(client, own.choice(_BROKEN))
            self.tally.counts["wrong"] += answer.status != 400
            return
        pool = self._cases.fast if kind == "batch" else getattr(self._cases, kind)
        chosen = own.choices(pool, k=_BATCH if kind == "batch" else 1)
        items = [_item(case, f"{name}.{place}", kind) for place, case in enumerate(chosen)]
        answer = await self._persistent(client, msgspec.json.encode({"items": items} if kind == "batch" else items[0]))
        if answer.status != 200:
            self.tally.counts["missing"] += len(items)
            return
        (self.tally.fast if kind == "fast" else self.tally.slow).append(answer.seconds)
        found = answer.document["items"] if kind == "batch" else [answer.document]
        self.tally.counts["missing"] += len(items) - len(found)
        for case, item, one in zip(chosen, items, found, strict=False):
            self.tally.check(case, item["id"], one)

    async def _persistent(self, client: Client, body: bytes) -> Answer:
        """Retry until there is a response, as clients do."""
        for _ in range(_PATIENCE):
            try:
                answer = await client.post("/reward", body)
            except (OSError, asyncio.IncompleteReadError):
                self.tally.counts["cut off"] += 1
                await asyncio.sleep(_PAUSE_S)
                continue
            if answer.status != 503:
                return answer
            self.tally.counts["refused"] += 1
            await asyncio.sleep(float(answer.headers["retry-after"]))
        raise AssertionError("no answer")


def memory_mb(server: Launched) -> float:
    """Return the resident memory of the server and all its processes."""
    process = psutil.Process(server.process.pid)
    return sum(one.memory_info().rss for one in (process, *process.children(recursive=True))) / 1e6


def _item(case: Case, name: str, kind: str) -> dict[str, Any]:
    source = case.input
    # A changed question keeps the verdict out of the cache.
    question = f"{source.question} ({name})" if kind == "heavy" else source.question
    return {
        "id": name,
        "question": question,
        "reference": source.reference,
        "completion": source.completion,
        "subtype": source.subtype,
    }
