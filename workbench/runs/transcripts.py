"""How a verdict of a model server came about: its calls in order, as they were sent and answered."""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.core.calls import CallShown, Transcript, Vote
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.data.store import browsing
from workbench.llm.journal import Response
from workbench.llm.records import CallFailed, Reply, Usage
from workbench.runs.run_status import run_row
from workbench.runs.running_verdicts import run_of
from workbench.runs.store import verdict_calls, verdict_lines
from workbench.runs.store.verdict_calls import CallRow


def transcripts_of(project: Project, verifier: str, completion: str, run: int | None = None) -> list[Transcript]:
    """The transcripts of a verifier's verdicts on completions with an id; several data sets may have it.

    Args:
        verifier: Its name.
        completion: The completion's own id.
        run: A run of it; by default the newest that has been complete, or the newest while none has.

    Raises:
        UsageError: There is no such verifier, run or verdict.
    """
    number, reader = run_of(project, verifier, run), project.database.reader()
    items = browsing.with_key(reader, completion)
    found = [
        transcript(project, number, item)
        for item in items
        if number is not None and verdict_lines.line_of(project.database, number, verifier, item) is not None
    ]
    if not found:
        raise UsageError(f"{verifier!r} has no verdict on a completion {completion!r}.")
    return found


def transcript(project: Project, run: int, item: int) -> Transcript:
    """How a run's verdict on an item came about.

    Args:
        item: The item's row id.

    Raises:
        UsageError: There is no such run or verdict.
    """
    reader = project.database.reader()
    verifier = run_row(reader, run).verifier.name
    line = verdict_lines.line_of(project.database, run, verifier, item)
    if line is None:
        raise UsageError(f"Run {run} has no verdict on this item.")
    trace = verdict_calls.trace_of(reader, run, item)
    return Transcript(
        completion_id=line.completion_id,
        question_id=line.question_id,
        dataset=line.dataset,
        verifier=verifier,
        run=run,
        verdict=line.verdict,
        score=line.score,
        reason=line.reason,
        detail=line.detail,
        calls=[_shown(row) for row in verdict_calls.calls_of(reader, run, item)],
        votes=[
            Vote(verdict=Outcome(outcome).word, score=score, reason=reason)
            for outcome, score, reason in verdict_calls.votes_of(reader, run, item)
        ],
        trace=None if trace is None else msgspec.json.decode(trace),
    )


def is_search(trace: dict[str, Any] | None) -> bool:
    """Whether a verdict's account is the tree of an MCTS-Judge."""
    return trace is not None and trace.get("judge") == "mcts"


def _shown(row: CallRow) -> CallShown:
    reply = _reply(row)
    return CallShown(
        step=row.step,
        role=row.role,
        sample=row.sample,
        profile=row.profile,
        model=reply.model or row.model,
        request=row.request.decode("utf-8", "replace"),
        response=row.response.decode("utf-8", "replace"),
        text=reply.text,
        reasoning=reply.reasoning,
        scores=list(reply.scores),
        finish_reason=reply.finish_reason,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        reasoning_tokens=row.reasoning_tokens,
        cost=row.cost,
        ms=row.ms,
        reused=row.reused,
        origin=row.origin,
        created_at=row.created_at,
    )


def _reply(row: CallRow) -> Reply:
    """A stored response as it is read today; one that can't be read any more is shown as it came."""
    from workbench.llm.dialects import reread

    stored = Response(
        profile=row.profile, task=row.task, body=row.response, usage=Usage(), ms=row.ms, origin=row.origin
    )
    try:
        return reread(stored)
    except CallFailed:
        return Reply()
