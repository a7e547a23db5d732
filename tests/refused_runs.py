"""Runs on servers that reject calls: for a while, above a rate, from some call on, or every nth reply.

Time may be faster for both sides, so that a limit a minute takes no minute.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.background import runner_ends
from tests.helpers import make_project
from tests.served_runs import HereRunner, here_on, rows
from tests.servers.scripted import Received, Scripted, ScriptedServer, chat_reply, scripted
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.llm import caller
from workbench.llm.waits import Clock
from workbench.runs.run_status import run_costs, run_info
from workbench.runs.verifying import start

LATENCY_S = 1.0
PROMPT_PRICE, COMPLETION_PRICE = 1.0, 10.0
PRICES = f'[prices."m"]\ninput = {PROMPT_PRICE}\noutput = {COMPLETION_PRICE}\ndate = "2026-11-01"\n'
KEY, NEW_KEY = "sk-first-0123456789", "sk-second-0123456789"
_NUMBER = re.compile(r"It is (\d+)\.")


def fast_clock(speed: float) -> type[Clock]:
    """Speed up the clock by a factor."""

    class FastClock(Clock):
        def now(self) -> float:
            return super().now() * speed

        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds / speed)

    return FastClock


def refusal(status: int, message: str, headers: dict[str, str] | None = None, **fields: Any) -> Scripted:
    return Scripted(status, headers or {}, {"error": {"message": message, **fields}})


Refuses = Callable[["Refusing", Received], Scripted | None]
"""Returns the rejection of a call; None serves it."""


class Refusing:
    """A server that judges by the number of an item, and counts calls.

    Args:
        cuts: Every reply whose number is a multiple of this is truncated but billed; 0 for none.
        speed: The factor by which time runs faster for the server and its clients.
    """

    def __init__(self, refuses: Refuses, cuts: int = 0, speed: float = 3.0) -> None:
        self.speed = speed
        self.served: Counter[str] = Counter()
        self.requests = 0
        self.cost = 0.0
        self.window: Counter[int] = Counter()
        self._refuses, self._cuts = refuses, cuts
        self._began: float | None = None

    @property
    def now(self) -> float:
        """Return the seconds since the first call."""
        self._began = self._began or time.monotonic()
        return (time.monotonic() - self._began) * self.speed

    @property
    def wasted(self) -> int:
        """Return the number of calls without a verdict."""
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
        if self._cuts and self.requests % self._cuts == 0:
            return Scripted(body=json.dumps(reply)[:150])
        self.served[key] += 1
        return Scripted(body=reply)


def overloaded_for(seconds: float, after: int = 100) -> Refuses:
    """Overloaded for some seconds after it has served ``after`` calls."""
    ends: list[float] = []

    def refuses(server: Refusing, _: Received) -> Scripted | None:
        if not ends and len(server.served) >= after:
            ends.append(server.now + seconds)
        if ends and server.now < ends[0]:
            return refusal(529, "Overloaded", type="overloaded_error")
        return None

    return refuses


def fifty_every(seconds: float) -> Refuses:
    """Fifty calls per interval; a rejection tells only when to retry."""

    def refuses(server: Refusing, _: Received) -> Scripted | None:
        window, second = divmod(server.now, seconds)
        if server.window[int(window)] >= 50:
            return refusal(429, "Too many requests", {"retry-after": f"{seconds - second:.2f}"})
        server.window[int(window)] += 1
        return None

    return refuses


def served_a_day(most: int) -> Refuses:
    """A daily limit, until the key changes."""

    def refuses(server: Refusing, received: Received) -> Scripted | None:
        if len(server.served) < most or NEW_KEY in received.headers["authorization"]:
            return None
        return refusal(429, "Rate limit reached on requests per day (RPD). Please try again in 43s.")

    return refuses


def revoked_after(most: int) -> Refuses:
    """Revoke the first key after ``most`` calls."""

    def refuses(server: Refusing, received: Received) -> Scripted | None:
        if len(server.served) < most or NEW_KEY in received.headers["authorization"]:
            return None
        return refusal(401, "This API key has been revoked.", code="invalid_api_key")

    return refuses


def never(_: Refusing, __: Received) -> Scripted | None:
    return None


class RefusedRun:
    """A judge's run on such a server."""

    def __init__(self, project: Project, refusing: Refusing, server: ScriptedServer, items: int) -> None:
        self.refusing = refusing
        self._project, self._server, self._items = project, server, items

    def start(self, **more: str) -> RunInfo:
        """Run as far as possible; with the same options again the run continues."""
        raise NotImplementedError

    def _options(self, more: Mapping[str, str]) -> dict[str, str]:
        return {"base_url": self._server.url, "model": "m", "api_key_env": "JUDGE_KEY", **more}

    def check_whole(self, ended: RunInfo) -> None:
        """Check that every item has the verdict of its own reply, no reply was requested twice, and the costs agree."""
        assert (ended.state, ended.done) == ("complete", self._items), ended.message
        assert ended.verdicts == {"correct": self._items // 2, "incorrect": self._items // 2, "abstain": 0, "error": 0}
        assert set(self.refusing.served.values()) == {1}
        assert len(self.refusing.served) == self._items
        assert self._wrong() == []
        costs = run_costs(self._project, ended)
        assert costs.ambiguous == []
        total = (costs.spent.cost or 0.0) + (costs.possibly_spent.cost or 0.0)
        assert total == pytest.approx(self.refusing.cost, rel=0.01)

    def check_paused(self, ended: RunInfo, words: str) -> None:
        """Check that exactly the answered items have verdicts."""
        assert ended.state == "paused"
        assert words in (ended.message or "")
        assert ended.done == len(self.refusing.served)
        assert ended.verdicts is not None
        assert ended.verdicts["error"] == ended.verdicts["abstain"] == 0
        assert self._wrong() == []

    def _wrong(self) -> list[str]:
        """Return the items whose verdict differs from the server's."""
        rows = self._project.database.reader().execute(
            "SELECT c.key, v.outcome FROM verdicts AS v JOIN completions AS c ON c.id = v.completion_id"
        )
        return [name for name, outcome in rows if outcome != int(name[1:]) % 2]


class HereRun(RefusedRun):
    """A run in this process, where time can be faster."""

    def __init__(self, runs: HereRunner, refusing: Refusing, server: ScriptedServer, items: int) -> None:
        super().__init__(runs.project, refusing, server, items)
        self._runs = runs

    def start(self, **more: str) -> RunInfo:
        self._runs.claim()
        return self._runs.work(start(self._project, "llm-judge", self._options(more), "j").run)


class CommandedRun(RefusedRun):
    """A run by ``workbench verify`` and the runner that it starts.

    Attributes:
        finished: The finished command.
    """

    finished: subprocess.CompletedProcess[str]

    def start(self, **more: str) -> RunInfo:
        words = [word for name, value in self._options(more).items() for word in ("-o", f"{name}={value}")]
        self.finished = self.workbench("verify", "llm-judge", "--name", "j", *words)
        return run_info(self._project, 1)

    def workbench(self, verb: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the project in a separate process."""
        command = [sys.executable, "-m", "workbench", verb, str(self._project.path), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr
        return done

    def check_whole(self, ended: RunInfo) -> None:
        super().check_whole(ended)
        assert self.finished.returncode == 0, self.finished.stderr

    def check_paused(self, ended: RunInfo, words: str) -> None:
        super().check_paused(ended, words)
        assert self.finished.returncode == 3
        for output in (self.finished.stderr, self.workbench("runs", "show", "1").stdout):
            assert words in " ".join(output.split())


@contextmanager
def refused_run(folder: Path, refusing: Refusing, items: int) -> Iterator[HereRun]:
    """Create a judge's run on so many items in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(caller, "Clock", fast_clock(refusing.speed))
        _prepare(folder, patch)
        latency = LATENCY_S / refusing.speed
        with here_on(make_project(folder, rows(items))) as runs, scripted(refusing.answer, latency) as server:
            yield HereRun(runs, refusing, server, items)


@contextmanager
def refused_command(folder: Path, refusing: Refusing, items: int, latency: float = 0.2) -> Iterator[CommandedRun]:
    """Create a judge's run on so many items by the command; the server runs in real time."""
    assert refusing.speed == 1
    with pytest.MonkeyPatch.context() as patch:
        _prepare(folder, patch)
        with runner_ends(make_project(folder, rows(items))) as project, scripted(refusing.answer, latency) as server:
            yield CommandedRun(project, refusing, server, items)


def _prepare(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("JUDGE_KEY", KEY)
    (folder / "workbench.toml").write_text(PRICES)
