"""The items of a duel: in the place of reference and completion stands what two judges reasoned about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from workbench.core.database.connection import Database
from workbench.core.verdict import VerifierInput
from workbench.llm.dialects import reread
from workbench.llm.journal import Response
from workbench.llm.records import CallFailed, Usage
from workbench.runs.store import verdict_calls
from workbench.runs.store.verdict_calls import CallRow
from workbench.verifiers.duel.verifier import JudgeDuel

if TYPE_CHECKING:
    import sqlite3

_THINK_MARK = re.compile(r"</?think>")


def duels(database: Database, duel: JudgeDuel, chunks: Iterable[list[VerifierInput]]) -> Iterator[list[VerifierInput]]:
    """The items, one at a time: transcripts are long, and the runner has other things to do between two."""
    reader = database.reader()
    for chunk in chunks:
        for item in chunk:
            yield [
                structs.replace(
                    item,
                    reference=_reasoning(reader, duel.a, item.item),
                    completion=_reasoning(reader, duel.b, item.item),
                )
            ]


def _reasoning(connection: sqlite3.Connection, run: int, item: int) -> str:
    """What the replies behind a verdict say, without the judge's name; "" without a verdict or replies.

    Of a tree search it is the trajectory that gave the answer, subtask by subtask, as people would read it.
    """
    calls = verdict_calls.calls_of(connection, run, item)
    stored = verdict_calls.trace_of(connection, run, item)
    trace = msgspec.json.decode(stored) if stored is not None else {}
    steps = _trajectory(trace) if trace.get("judge") == "mcts" else None
    if steps is None:
        return "\n\n".join(text for call in calls if (text := _said(call)))
    parts = [f"{step['subtask'].capitalize()}:\n{_said(calls[step['call']])}" for step in steps]
    verdict = {True: "correct", False: "incorrect", None: "undecided"}[trace["answer"]["correct"]]
    return "\n\n".join([*parts, f"Conclusion: {verdict}."])


def _trajectory(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps of the drawn trajectory, or of the first that predicts the answer where none was rewarded."""
    chosen, answer = trace["answer"]["chosen"], trace["answer"]["correct"]
    rollouts = trace["rollouts"]
    if chosen is None:
        chosen = next((place for place, rollout in enumerate(rollouts) if rollout["f"] == answer), 0)
    steps: list[dict[str, Any]] = rollouts[chosen]["steps"]
    return steps


def _said(call: CallRow) -> str:
    """A reply with what was thought before it."""
    stored = Response(
        profile=call.profile, task=call.task, body=call.response, usage=Usage(), ms=call.ms, origin=call.origin
    )
    try:
        reply = reread(stored)
    except CallFailed:
        return ""
    texts = (reply.reasoning or "", _THINK_MARK.sub("", reply.text))
    return "\n".join(text.strip() for text in texts if text.strip())
