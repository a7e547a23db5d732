"""Store verdicts of model servers without a server: calls, replies and costs."""

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


class StoredCall(NamedTuple):
    """One call: its step, the last message of the request, and the reply."""

    step: str
    question: str = "Is it right?"
    reply: str = "Yes"
    sample: int = 0
    finish: str = "stop"
    reasoning: str | None = None
    reused: bool = False
    origin: str | None = None
    role: str = "judge"

    @property
    def request(self) -> bytes:
        """Return the request's body."""
        messages = [{"role": "system", "content": "Judge."}, {"role": "user", "content": self.question}]
        return json.dumps({"model": "m", "messages": messages, "temperature": 0.0}).encode()

    @property
    def response(self) -> bytes:
        """Return the response's body."""
        message: dict[str, Any] = {"role": "assistant", "content": self.reply}
        if self.reasoning is not None:
            message["reasoning_content"] = self.reasoning
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        return json.dumps({"model": "m-1", "choices": [choice]}).encode()


def add_judged(
    project: Project,
    name: str,
    item: int,
    judge_calls: Sequence[StoredCall],
    *,
    verdict: Verdict = CORRECT,
    votes: Sequence[Verdict] = (),
    trace: dict[str, Any] | None = None,
) -> int:
    """Store a complete run with one verdict and its calls."""
    with project.database.write() as connection:
        verifier = runs.add_verifier(
            connection, name=name, kind="llm-judge", options={}, config={"name": name}, config_hash=name
        )
        run = runs.add(connection, verifier, "1")
        runs.queue(connection, run, Selection(), 1, 1)
        found = [_stored(one) for one in judge_calls]
        calls.put_responses(connection, found, now())
        samples = [(item, sample, one) for sample, one in enumerate((verdict, *votes))]
        verdicts.put_samples(connection, run, samples)
        made = [
            MadeCall(call.key, one.step, one.role, one.reused)
            for (call, _), one in zip(found, judge_calls, strict=True)
        ]
        calls.put_calls(connection, run, [(item, made)])
        if trace is not None:
            calls.put_traces(connection, run, [(item, json.dumps(trace))])
        runs.complete(connection, run, 1)
    return run


def _stored(judge_calls: StoredCall) -> tuple[JournaledCall, Response]:
    request = hashlib.sha256(judge_calls.request).digest()
    call = JournaledCall(
        key=hashlib.sha256(request + judge_calls.sample.to_bytes(8, "big") + judge_calls.response).digest(),
        server="http://localhost",
        request=request,
        body=judge_calls.request,
        profile="openai-compatible",
        model="m",
        sample=judge_calls.sample,
        url="http://localhost/v1/chat/completions",
    )
    response = Response(
        profile="openai-compatible",
        task="chat",
        body=judge_calls.response,
        usage=Usage(prompt_tokens=812, completion_tokens=37, cost=0.0021),
        ms=1234.5,
        origin=judge_calls.origin,
    )
    return call, response
