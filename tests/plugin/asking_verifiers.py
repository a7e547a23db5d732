"""A plug-in package whose verifier asks a model server."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.records import Ask, CallFailed, Chat, Halt, PromptMessage, Sampling
from workbench.llm.server import Limits, ModelServer
from workbench.verifiers.base import Isolation, Judged
from workbench.verifiers.serving import LIMIT_OPTIONS, SERVER_OPTIONS, limits_from, server_from


class Asker:
    """Asks ``calls`` times about an item and takes the last reply's word; the completion may tell it to misbehave."""

    description: ClassVar[str] = "Asks a model server"
    options: ClassVar[dict[str, str]] = {
        **SERVER_OPTIONS,
        **LIMIT_OPTIONS,
        "calls": "calls an item",
        "parser": "which word of the reply counts: yes or judgment",
        "temperature": "how replies are drawn",
    }
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "asker"
    version: str = "1"
    isolation: Isolation = "served"

    def __init__(self, calls: str = "1", parser: str = "yes", temperature: str = "0", **options: str) -> None:
        self._server = server_from(options)
        self._limits = limits_from(options)
        self._calls = int(calls)
        self._parser = parser
        self._sampling = Sampling(temperature=float(temperature), max_tokens=100)

    def config(self) -> dict[str, object]:
        return {
            "model": self._server.model,
            "profile": self._server.profile,
            "calls": self._calls,
            "parser": self._parser,
            "temperature": self._sampling.temperature,
        }

    def servers(self) -> dict[str, ModelServer]:
        return {"judge": self._server}

    def limits(self) -> Limits:
        return self._limits

    def calls_per_item(self) -> float:
        return self._calls

    async def judge(self, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        assert len(secret) == 32
        misbehave(item.completion)
        text = f"{item.question}\n{item.reference}\n{item.completion}"
        votes = []
        for number in range(self._calls):
            chat = Chat(messages=(PromptMessage("user", text),), sampling=self._sampling)
            try:
                reply = await ask(chat, step=f"ask {number}", sample=number)
            except (CallFailed, Halt):
                if item.completion != "swallow":
                    raise
                continue
            votes.append(self._verdict(reply.text))
        trace: dict[str, Any] = {"asked": self._calls}
        if item.completion == "no plain trace":
            trace["self"] = self
        if item.completion == "nonsense":
            return cast("Judged", "correct")
        if item.completion == "no number":
            return Judged(verdict=Verdict(outcome=Outcome.CORRECT, score=cast("float", "high")))
        return Judged(
            verdict=votes[-1] if votes else Verdict(outcome=Outcome.CORRECT, reason="swallowed"),
            votes=tuple(votes) if self._calls > 1 else (),
            trace=trace if self._calls > 1 or "self" in trace else None,
        )

    def _verdict(self, reply: str) -> Verdict:
        word = "Final Judgment: Yes" if self._parser == "judgment" else "Yes"
        return Verdict(outcome=Outcome.CORRECT if word in reply else Outcome.INCORRECT, reason="asked")


def misbehave(completion: str) -> None:
    """Fail before anything was asked, if the completion says so."""
    if completion == "raise":
        raise ValueError("no such thing")
    if completion == "no memory":
        raise MemoryError
