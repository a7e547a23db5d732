"""A model that tosses a coin per request and sample, with the same result for the same request."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any
from zlib import crc32

from msgspec import structs

from tests.unit.verifiers.judges.asking import SECRET, llm_judge
from workbench.core.verdict import VerifierInput
from workbench.llm.records import Chat, Reply, Request
from workbench.verifiers.base import Judged

PROBLEM = VerifierInput(
    item=1,
    question="Print the sum of the numbers on a line.",
    reference="print(sum(map(int, input().split())))",
    completion="a, b = map(int, input().split())\nprint(a + b)",
)

Call = tuple[str, str, int, Chat]
"""Step, role, sample and request."""


class Coin:
    """Plays the server; notes every call, in the order of asking.

    Args:
        seed: Another seed is another coin.
        fixed: Replies by the step's last word, where no coin is to be tossed.
        slow: Shuffle the order in which concurrent replies come, by this seed.
    """

    def __init__(self, seed: int = 0, fixed: dict[str, str] | None = None, slow: int | None = None) -> None:
        self.calls: list[Call] = []
        self._seed, self._fixed, self._slow = seed, fixed or {}, slow

    async def __call__(self, request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        assert isinstance(request, Chat)
        self.calls.append((step, role, sample, request))
        mark = crc32(f"{self._seed} {sample} {request.messages}".encode())
        if self._slow is not None:
            for _ in range(crc32(f"{mark} {self._slow}".encode()) % 7):
                await asyncio.sleep(0)
        return Reply(text=self._reply(step, mark), finish_reason="stop")

    def _reply(self, step: str, mark: int) -> str:
        word = step.rpartition(" ")[2]
        if word in self._fixed:
            return self._fixed[word]
        match word:
            case "reformat":
                return as_json(*(f"{step} {number}" for number in range(5)))
            case "validate":
                return "It is right.\nPASS"
            case "generate" | "analyse" | "execute":
                return f"Thought {mark}."
            case "compare":
                return "MATCH" if mark % 2 else "NOT MATCH"
            case _:
                return "Yes" if mark % 2 else "No"

    @property
    def counts(self) -> Counter[str]:
        """Distinct calls by the step's last word: what a server with a cache before it would see."""
        distinct = {(step, role, sample, request) for step, role, sample, request in self.calls}
        return Counter(step.rpartition(" ")[2] for step, *_ in distinct)


def as_json(*inputs: str) -> str:
    """Test cases in JSON."""
    return json.dumps([{"main": {"input": one, "expected_output": "1"}} for one in inputs])


def judged(coin: Coin, item: VerifierInput = PROBLEM, /, **options: str) -> Judged:
    """A judge's verdict; ``mcts`` unless another strategy is named."""
    return asyncio.run(llm_judge(**{"strategy": "mcts", **options}).judge(item, coin, SECRET))


def numbered(number: int) -> VerifierInput:
    """One of many completions of the problem."""
    return structs.replace(PROBLEM, item=number, completion=f"print({number})")


def trace(coin: Coin, item: VerifierInput = PROBLEM, /, **options: str) -> dict[str, Any]:
    """Return the trace of a verdict."""
    found = judged(coin, item, **options).trace
    assert found is not None
    return found
