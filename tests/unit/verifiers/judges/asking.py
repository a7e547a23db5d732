"""A judge without a server: its requests are recorded, its replies are scripted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import NamedTuple

from workbench.core.verdict import VerifierInput
from workbench.llm.records import Chat, Reply, Request
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.verifier import LlmJudge

SECRET = b"s" * 32
ITEM = VerifierInput(
    item=1,
    question="  How many primes are below {n}, for \\frac{a}{b} and {completion}?\n",
    reference="\tthere-are-TWENTY-FIVE\n\n",
    completion=" I think of {reference} and get \\boxed{25}. \r\n",
)


class RecordedCall(NamedTuple):
    """A recorded call."""

    step: str
    role: str
    sample: int
    request: Chat

    @property
    def text(self) -> str:
        """All messages, one after the other."""
        return "\n".join(message.content for message in self.request.messages)


Script = Callable[[RecordedCall], str | Reply] | Iterable[str | Reply] | str
"""What is replied: a function of the call, replies in their order, or always the same."""


class Scripted:
    """Plays the server."""

    def __init__(self, script: Script) -> None:
        self.calls: list[RecordedCall] = []
        self._script = script if callable(script) or isinstance(script, str) else iter(script)

    async def __call__(self, request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        assert isinstance(request, Chat)
        call = RecordedCall(step, role, sample, request)
        self.calls.append(call)
        if isinstance(self._script, str):
            reply: str | Reply = self._script
        else:
            reply = self._script(call) if callable(self._script) else next(self._script)
        return reply if isinstance(reply, Reply) else Reply(text=reply, finish_reason="stop")


def llm_judge(**options: str) -> LlmJudge:
    """Make a judge with an unreachable server."""
    return LlmJudge(**{"base_url": "http://localhost:1/v1", "model": "m", **options})


def judged(
    script: Script, item: VerifierInput = ITEM, secret: bytes = SECRET, /, **options: str
) -> tuple[Judged, list[RecordedCall]]:
    """The verdict and the calls it took."""
    server = Scripted(script)
    found = asyncio.run(llm_judge(**options).judge(item, server, secret))
    return found, server.calls


def requests(item: VerifierInput = ITEM, secret: bytes = SECRET, /, **options: str) -> list[RecordedCall]:
    """Return the requests of a judge about an item."""
    return judged("Yes", item, secret, **options)[1]
