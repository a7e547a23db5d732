"""Runs on servers that refuse: for a while, so often a minute, from some call on, or at random; by the server's count.

Time may be faster for both sides, so that a limit a minute takes no minute.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project
from tests.served_runs import HereRunner, here_on, rows
from tests.servers.scripted import Received, Scripted, ScriptedServer, chat_reply, scripted
from workbench.core.run import RunInfo
from workbench.llm import caller
from workbench.llm.clock import Clock
from workbench.runs.run_status import run_costs
from workbench.runs.verifying import resume, start

LATENCY_S = 1.0
PROMPT_PRICE, COMPLETION_PRICE = 1.0, 10.0
PRICES = f'[prices."m"]\ninput = {PROMPT_PRICE}\noutput = {COMPLETION_PRICE}\ndate = "2026-11-01"\n'
KEY, NEW_KEY = "sk-first-0123456789", "sk-second-0123456789"
_NUMBER = re.compile(r"It is (\d+)\.")


def fast_clock(speed: float) -> type[Clock]:
    """A clock that goes so many times as fast."""

    class FastClock(Clock):
        def now(self) -> float:
            return super().now() * speed

        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds / speed)

    return FastClock


def refusal(status: int, message: str, headers: dict[str, str] | None = None, **fields: Any) -> Scripted:
    return Scripted(status, headers or {}, {"error": {"message": message, **fields}})


Refuses = Callable[["Refusing", Received], Scripted | None]
"""What a server refuses a call with; None serves it."""


class Refusing:
    """A server that judges by the number of an item, and counts.

    Args:
        cuts: The share of its replies that are cut off; they are paid for.
        speed: How many times as fast its time and that of its clients is.
    """

    def __init__(self, refuses: Refuses, cuts: float = 0.0, speed: float = 3.0) -> None:
        self.speed = speed
        self.served: Counter[str] = Counter()
        self.requests = 0
        self.cost = 0.0
        self.window: Counter[int] = Counter()
        self._refuses, self._cuts = refuses, cuts
        self._began: float | None = None

    @property
    def now(self) -> float:
        """Seconds since the first call."""
        self._began = self._began or time.monotonic()
        return (time.monotonic() - self._began) * self.speed

    @property
    def wasted(self) -> int:
        """Calls that no verdict came of."""
        return self.requests - len(self.served)

    def answer(self, received: Received) -> Scripted:
        self.requests += 1
        refused = self._refuses(self, received)
        if refused is not None:
            return refused
        key = hashlib.sha256(received.raw).hexdigest()
        found = _NUMBER.search(json.dumps(received.body["messages"]))
        assert found is not None
        number = int(found[1])
        reply = chat_reply(f"I compared both.\n\nFinal Judgment: {'Yes' if number % 2 else 'No'}")
        prompt, completion = 200 + number % 50, 10 + number % 7
        reply["usage"] = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        self.cost += (prompt * PROMPT_PRICE + completion * COMPLETION_PRICE) / 1e6
        if random.Random(f"{key} {self.requests}").random() < self._cuts:
            return Scripted(body=json.dumps(reply)[:150])
        self.served[key] += 1
        return Scripted(body=reply)


def overloaded(server: Refusing, _: Received) -> Scripted | None:
    """It has too much to do for 90 seconds."""
    return refusal(529, "Overloaded", type="overloaded_error") if 5 <= server.now < 95 else None


def fifty_a_minute(server: Refusing, _: Received) -> Scripted | None:
    """And says only when to come again."""
    minute, second = divmod(server.now, 60)
    if server.window[int(minute)] >= 50:
        return refusal(429, "Too many requests", {"retry-after": f"{60 - second:.2f}"})
    server.window[int(minute)] += 1
    return None


def served_a_day(most: int) -> Refuses:
    """Until somebody sends another key."""

    def refuses(server: Refusing, received: Received) -> Scripted | None:
        if len(server.served) < most or NEW_KEY in received.headers["authorization"]:
            return None
        return refusal(429, "Rate limit reached on requests per day (RPD). Please try again in 43s.")

    return refuses


def revoked_after(most: int) -> Refuses:
    """The first key, that is."""

    def refuses(server: Refusing, received: Received) -> Scripted | None:
        if len(server.served) < most or NEW_KEY in received.headers["authorization"]:
            return None
        return refusal(401, "This API key has been revoked.", code="invalid_api_key")

    return refuses


def never(_: Refusing, __: Received) -> Scripted | None:
    return None


class RefusedRun:
    """A judge's run on such a server."""

    def __init__(self, runs: HereRunner, refusing: Refusing, server: ScriptedServer, items: int) -> None:
        self.refusing = refusing
        self._runs, self._server, self._items = runs, server, items

    def start(self, **more: str) -> RunInfo:
        self._runs.claim()
        options = {"base_url": self._server.url, "model": "m", "api_key_env": "JUDGE_KEY", **more}
        return self._runs.work(start(self._runs.project, "llm-judge", options, "j").run)

    def resume(self, run: int) -> RunInfo:
        self._runs.claim()
        resume(self._runs.project, run)
        return self._runs.work(run)

    def check_whole(self, ended: RunInfo) -> None:
        """Every item has the verdict of its own reply, no reply was asked for twice, and the costs are the server's."""
        assert (ended.state, ended.done) == ("complete", self._items)
        assert ended.verdicts == {"correct": self._items // 2, "incorrect": self._items // 2, "abstain": 0, "error": 0}
        assert set(self.refusing.served.values()) == {1}
        assert len(self.refusing.served) == self._items
        costs = run_costs(self._runs.project, ended)
        assert costs.ambiguous == []
        told = (costs.spent.cost or 0.0) + (costs.possibly_spent.cost or 0.0)
        assert told == pytest.approx(self.refusing.cost, rel=0.01)

    def check_paused(self, ended: RunInfo, words: str) -> None:
        """What was answered has its verdict, and nothing else."""
        assert ended.state == "paused"
        assert words in (ended.message or "")
        assert ended.done == len(self.refusing.served)
        assert ended.verdicts is not None
        assert ended.verdicts["error"] == ended.verdicts["abstain"] == 0


@contextmanager
def refused_run(folder: Path, refusing: Refusing, items: int) -> Iterator[RefusedRun]:
    """A judge's run on so many items, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(caller, "Clock", fast_clock(refusing.speed))
        patch.setenv("JUDGE_KEY", KEY)
        (folder / "workbench.toml").write_text(PRICES)
        latency = LATENCY_S / refusing.speed
        with here_on(make_project(folder, rows(items))) as runs, scripted(refusing.answer, latency) as server:
            yield RefusedRun(runs, refusing, server, items)
