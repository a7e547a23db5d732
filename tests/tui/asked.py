"""Verdicts of model servers stored without a server: their calls, replies and accounts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.core.database.values import now
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import JournaledCall, Response, Usage
from workbench.runs.store import calls, runs, verdicts
from workbench.runs.store.calls import MadeCall

CORRECT = Verdict(outcome=Outcome.CORRECT)


class Told(NamedTuple):
    """One call: what was asked in the last message, and what came back."""

    step: str
    asked: str = "Is it right?"
    reply: str = "Yes"
    sample: int = 0
    finish: str = "stop"
    reasoning: str | None = None
    reused: bool = False
    origin: str | None = None
    role: str = "judge"

    @property
    def request(self) -> bytes:
        """The request's body."""
        messages = [{"role": "system", "content": "Judge."}, {"role": "user", "content": self.asked}]
        return json.dumps({"model": "m", "messages": messages, "temperature": 0.0}).encode()

    @property
    def response(self) -> bytes:
        """The response's body."""
        message: dict[str, Any] = {"role": "assistant", "content": self.reply}
        if self.reasoning is not None:
            message["reasoning_content"] = self.reasoning
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        return json.dumps({"model": "m-1", "choices": [choice]}).encode()


def add_judged(
    project: Project,
    name: str,
    item: int,
    told: Sequence[Told],
    *,
    verdict: Verdict = CORRECT,
    votes: Sequence[Verdict] = (),
    trace: dict[str, Any] | None = None,
) -> int:
    """A complete run with one verdict that rests on these calls."""
    with project.database.write() as connection:
        verifier = runs.add_verifier(
            connection, name=name, kind="llm-judge", options={}, config={"name": name}, config_hash=name
        )
        run = runs.add(connection, verifier, "1")
        runs.queue(connection, run, Selection(), 1, 1)
        found = [_stored(one) for one in told]
        calls.put_responses(connection, found, now())
        samples = [(item, sample, one) for sample, one in enumerate((verdict, *votes))]
        verdicts.put_samples(connection, run, samples)
        made = [MadeCall(call.key, one.step, one.role, one.reused) for (call, _), one in zip(found, told, strict=True)]
        calls.put_calls(connection, run, [(item, made)])
        if trace is not None:
            calls.put_traces(connection, run, [(item, json.dumps(trace))])
        runs.complete(connection, run, 1)
    return run


def _stored(told: Told) -> tuple[JournaledCall, Response]:
    request = hashlib.sha256(told.request).digest()
    call = JournaledCall(
        key=hashlib.sha256(request + told.sample.to_bytes(8, "big") + told.response).digest(),
        server="http://localhost",
        request=request,
        body=told.request,
        profile="openai-compatible",
        model="m",
        sample=told.sample,
        url="http://localhost/v1/chat/completions",
    )
    response = Response(
        profile="openai-compatible",
        task="chat",
        body=told.response,
        usage=Usage(prompt_tokens=812, completion_tokens=37, cost=0.0021),
        ms=1234.5,
        origin=told.origin,
    )
    return call, response
