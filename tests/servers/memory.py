"""A journal in memory, and a clock controlled by tests, for tests and benchmarks of the client alone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import NamedTuple

from workbench.llm.records import CallFailed, FailureCode, JournaledCall, Response, RunUsed
from workbench.llm.waits import Clock


@dataclass
class Attempt:
    item: int
    call: JournaledCall
    state: str = "sent"
    code: FailureCode | None = None
    status: int | None = None
    detail: str = ""


class UsedTokens(NamedTuple):
    prompt_tokens: int
    completion_tokens: int
    cost: float


class MemoryJournal:
    """Keep everything in lists."""

    def __init__(self, spent: RunUsed | None = None) -> None:
        self.attempts: list[Attempt] = []
        self.responses: dict[bytes, Response] = {}
        self._spent = spent or RunUsed()

    def refused(self, key: bytes) -> CallFailed | None:
        return None

    def recall(self, key: bytes) -> Response | None:
        return self.responses.get(key)

    def spent(self) -> RunUsed:
        return self._spent

    def require_open(self) -> None:
        pass

    async def begin(self, item: int, call: JournaledCall) -> int:
        self.attempts.append(Attempt(item, call))
        return len(self.attempts) - 1

    def fail(self, attempt: int, code: FailureCode, status: int | None, detail: str, *, sent: bool = True) -> None:
        row = self.attempts[attempt]
        row.state, row.code, row.status, row.detail = "failed" if sent else "unsent", code, status, detail

    def done(self, attempt: int, call: JournaledCall, response: Response) -> None:
        self.attempts[attempt].state = "done"
        self.responses[call.key] = response

    @property
    def used(self) -> UsedTokens:
        usages = [response.usage for response in self.responses.values()]
        return UsedTokens(
            sum(usage.prompt_tokens or 0 for usage in usages),
            sum(usage.completion_tokens or 0 for usage in usages),
            sum(usage.cost or 0.0 for usage in usages),
        )

    @property
    def states(self) -> list[str]:
        return [attempt.state for attempt in self.attempts]


class HeldClock(Clock):
    """A clock that advances only by sleeping, and sleeps without delay; jitter is always at its maximum."""

    def __init__(self, date: float = 1_800_000_000.0) -> None:
        self.time = 0.0
        self.sleeps: list[float] = []
        self._date = date

    def now(self) -> float:
        return self.time

    def date(self) -> float:
        return self._date + self.time

    def jitter(self, longest: float) -> float:
        return longest

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)
