"""Return the calls that a verdict is based on, in order, with requests and replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from workbench.core.errors import Command, UsageError, opt
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.run import GENERATION, CallShown, Transcript, Vote, WrittenReply
from workbench.core.text.figures import counted, dollars
from workbench.core.text.run_words import tokens
from workbench.core.verdict import OutcomeCode
from workbench.data.store import browsing
from workbench.llm.dialects.openai import without_keep_alives
from workbench.llm.records import CallFailed, Reply, Response, Usage
from workbench.runs.choosing import STACK
from workbench.runs.run_status import run_row
from workbench.runs.store import calls, verdicts
from workbench.runs.store.calls import CallRow
from workbench.runs.verdict_files import run_of
from workbench.verifiers.judges.mcts.tree import Node, Rollout, SearchTrace, uct

if TYPE_CHECKING:
    from sqlite3 import Connection


def transcripts_of(project: Project, verifier: str, completion: str, run: int | None = None) -> list[Transcript]:
    """Return the transcripts of a verifier's verdicts on completions with an id; several datasets may have it.

    Args:
        verifier: The verifier's name.
        completion: The completion's own id.
        run: A run of the verifier; by default the newest complete one, else the newest.

    Raises:
        UsageError: There is no such verifier, run or verdict.
    """
    number, reader = run_of(project, verifier, run), project.database.reader()
    items = browsing.with_key(reader, completion)
    found = [
        transcript(project, number, item)
        for item in items
        if number is not None and verdicts.line_of(project.database, number, verifier, item) is not None
    ]
    if not found:
        raise UsageError(f"{verifier!r} has no verdict on a completion {completion!r}.")
    return found


def transcript(project: Project, run: int, item: int) -> Transcript:
    """Return the transcript of a run's verdict on an item.

    Args:
        item: The item's row id.

    Raises:
        UsageError: There is no such run or verdict.
    """
    reader = project.database.reader()
    verifier = run_row(reader, run).verifier.name
    line = verdicts.line_of(project.database, run, verifier, item)
    if line is None:
        raise UsageError(f"Run {run} has no verdict on this item.")
    trace = calls.trace_of(reader, run, item)
    account = None if trace is None else msgspec.json.decode(trace)
    return record_from(
        Transcript,
        line,
        calls=[_call_shown(row) for row in calls.calls_of(reader, run, item)],
        votes=_votes(reader, run, item, account),
        trace=account,
    )


def _votes(reader: Connection, run: int, item: int, account: dict[str, Any] | None) -> list[Vote]:
    found = calls.votes_of(reader, run, item)
    names = account["votes"] if account is not None and account.get("judge") == STACK else [None] * len(found)
    return [
        Vote(verdict=OutcomeCode(outcome).word, score=score, reason=reason, by=name)
        for (outcome, score, reason), name in zip(found, names, strict=True)
    ]


def is_search(trace: dict[str, Any] | None) -> bool:
    return trace is not None and trace.get("judge") == "mcts"


def _call_shown(row: CallRow) -> CallShown:
    reply = _reply(row)
    return record_from(
        CallShown,
        row,
        model=reply.model or row.model,
        request=row.request.decode("utf-8", "replace"),
        response=row.response.decode("utf-8", "replace"),
        text=reply.text,
        reasoning=reply.reasoning,
        scores=list(reply.scores),
        finish_reason=reply.finish_reason,
        broken_tokens=_count_broken_tokens(row.request),
    )


def _count_broken_tokens(request: bytes) -> int:
    from workbench.verifiers.control_tokens import count_breaks

    try:
        # The sender may have escaped non-ASCII characters.
        return count_breaks(msgspec.json.encode(msgspec.json.decode(request)).decode())
    except (ValueError, RecursionError):
        return 0


def _reply(row: CallRow) -> Reply:
    from workbench.llm.dialects import reread

    stored = record_from(Response, row, body=row.response, usage=Usage())
    try:
        return reread(stored)
    except CallFailed:
        return Reply()


# -- The replies behind a verifier's verdicts, as exchanges that `workbench replay` can serve.


class RecordedExchange(Struct, frozen=True, kw_only=True):
    """One line of a recording.

    Attributes:
        request: The request's body as it was sent; it never contains a key.
        response: The response's body without blanks; invalid JSON is stored as text.
        server: The name or address of the server that replied; None if unknown.
        sample: Index of replies to the same request.
        origin: The origin of a reply that had been recorded before; None for a live reply.
    """

    request: msgspec.Raw
    response: msgspec.Raw
    model: str
    server: str | None
    sample: int
    origin: str | None


def recorded_exchanges(project: Project, verifier: str | None, run: int | None = None) -> Iterator[RecordedExchange]:
    """Yield every reply once, in the order of arrival.

    Args:
        verifier: The name of the verifier or of the generation; None if the run determines it.
        run: A run of the verifier; by default the newest complete one, else the newest.

    Raises:
        UsageError: There is no such verifier or run, or the run belongs to another verifier.
    """
    reader = project.database.reader()
    if verifier is None:
        if run is None:
            raise UsageError(
                f"Name the verifier or the run: {opt.verifier:NAME} or {opt.run:N}.", "Runs", Command("runs DB")
            )
        verifier = run_row(reader, run).verifier.name
    if not (found := run_of(project, verifier, run)):
        return
    written = run_row(reader, found).verifier.kind == GENERATION
    for request, response, model, server, sample, origin in calls.replies_of(reader, found, written=written):
        yield RecordedExchange(
            request=_single_line_json(request),
            response=_single_line_json(response),
            model=model,
            server=server,
            sample=sample,
            origin=origin,
        )


def _single_line_json(body: bytes) -> msgspec.Raw:
    try:
        body.decode()
        return msgspec.Raw(msgspec.json.format(without_keep_alives(body), indent=-1))
    except (ValueError, RecursionError):
        return msgspec.Raw(msgspec.json.encode(body.decode("utf-8", "replace")))


# -- The replies behind generated texts.


def written_list(project: Project, run: int) -> list[WrittenReply]:
    """Return the replies to a generation run's own calls, in the order of arrival.

    Replies that it reused belong to the run whose calls obtained them.

    Raises:
        UsageError: No such run exists, or the run writes no texts.
    """
    reader = project.database.reader()
    row = run_row(reader, run)
    if row.verifier.kind != GENERATION:
        raise UsageError(f"Run {run} generates no texts: it is of {row.verifier.name!r}.")
    return calls.written_list(reader, run)


def written_call(project: Project, reply: int) -> CallShown:
    """Return a generation's reply with its request.

    Raises:
        UsageError: No such reply exists.
    """
    row = calls.written_call(project.database.reader(), reply)
    if row is None:
        raise UsageError(f"There is no reply {reply}.")
    return _call_shown(row)


# -- The search tree of MCTS-Judge for display.


class SearchNode(Struct, frozen=True, kw_only=True):
    """One state of the search.

    Attributes:
        subtask: The subtask of its level; None for the root.
        done: Whether the subtask was done; False if it was omitted, and for the root.
        uct: The node's final UCT value; None for the root and for unvisited nodes.
        chosen: Whether the node is on the trajectory whose prediction is the answer.
        calls: Indices of its calls in the transcript.
    """

    node: Node
    subtask: str | None
    done: bool
    uct: float | None
    chosen: bool
    calls: tuple[int, ...]


class SearchRollout(Struct, frozen=True, kw_only=True):
    """One trajectory.

    Attributes:
        path: The subtask's result at each level in the tree; None if it was omitted or could not be parsed.
        left_out: Levels, from 1, whose subtask was omitted.
        simulated: The subtask's result at each simulated level below the tree; None as in ``path``.
        h: The result of the simulated execution of tests; None without one, or if it could not be parsed.
        chosen: Whether this trajectory's prediction is the answer.
        calls: Indices of the calls of its steps in the transcript.
    """

    rollout: Rollout
    path: tuple[bool | None, ...]
    left_out: frozenset[int]
    simulated: tuple[bool | None, ...]
    h: bool | None
    chosen: bool
    calls: tuple[int, ...]


class TreeSearch(Struct, frozen=True, kw_only=True):
    """A whole search.

    Attributes:
        nodes: The root first, each after its parent.
    """

    trace: SearchTrace
    nodes: tuple[SearchNode, ...]
    rollouts: tuple[SearchRollout, ...]


# -- Parsing the trace of MCTS-Judge in a transcript.


_PARTS = ("analyse", "summarise")


def search_of(transcript: Transcript) -> TreeSearch | None:
    """Return the search behind a verdict; None without a search, or if its trace can't be parsed."""
    if not is_search(transcript.trace):
        return None
    try:
        trace = msgspec.convert(transcript.trace, SearchTrace)
        return _TraceReader(trace, transcript.calls).search()
    except (msgspec.ValidationError, LookupError):
        return None


class _TraceReader:
    def __init__(self, trace: SearchTrace, calls: Sequence[CallShown]) -> None:
        self._trace = trace
        self._places: dict[tuple[str, int], list[int]] = {}
        for place, call in enumerate(calls):
            self._places.setdefault((call.step, call.sample), []).append(place)

    def search(self) -> TreeSearch:
        trace, chosen = self._trace, self._trace.answer.chosen
        drawn = None if chosen is None else trace.rollouts[chosen]
        return TreeSearch(
            trace=trace,
            nodes=tuple(self._node(node, drawn) for node in trace.nodes),
            rollouts=tuple(self._rollout(number, rollout) for number, rollout in enumerate(trace.rollouts)),
        )

    def _node(self, node: Node, drawn: Rollout | None) -> SearchNode:
        parent = None if node.parent is None else self._trace.nodes[node.parent]
        subtask = None if parent is None else self._trace.order[node.level - 1]
        done = node.action == "subtask"
        return SearchNode(
            node=node,
            subtask=subtask,
            done=done,
            uct=uct(node, parent.n, self._trace.options.alpha) if parent is not None and node.n and parent.n else None,
            chosen=drawn is not None and node.id in drawn.path,
            calls=self._calls([(subtask, node.rollout)]) if subtask is not None and done else (),
        )

    def _rollout(self, number: int, rollout: Rollout) -> SearchRollout:
        nodes = [self._trace.nodes[node] for node in rollout.path[1:]]
        execution = rollout.execution or self._trace.execution
        steps = [
            (step.subtask, number if step.node is None else self._trace.nodes[step.node].rollout)
            for step in rollout.steps
        ]
        return SearchRollout(
            rollout=rollout,
            path=tuple(node.outcome for node in nodes),
            left_out=frozenset(node.level for node in nodes if node.action == "null"),
            simulated=tuple(step.outcome for step in rollout.steps if step.node is None),
            h=None if execution is None else execution.h,
            chosen=number == self._trace.answer.chosen,
            calls=self._calls(steps),
        )

    def _calls(self, steps: Iterable[tuple[str, int | None]]) -> tuple[int, ...]:
        """Return the indices of the calls of subtasks in these rollouts; shared calls belong to rollout 0."""
        shared = self._trace.options.reuse != "none"
        found = {
            place
            for subtask, rollout in steps
            for part in _PARTS
            for place in self._places.get((f"{subtask}: {part}", 0 if shared else rollout or 0), ())
        }
        return tuple(sorted(found))


def transcript_lines(found: Transcript) -> Iterator[str]:
    yield f"{found.completion_id}  (question {found.question_id}, {found.dataset})  {found.verifier}, run {found.run}"
    yield "  " + ", ".join(_verdict_words(found))
    if found.detail:
        yield f"  detail: {found.detail}"
    for number, vote in enumerate(found.votes, 1):
        yield f"  {vote.by or f'vote {number}'}: {vote.verdict}{f' ({vote.reason})' if vote.reason else ''}"
    if not found.calls:
        yield "  No calls were made for it."
    for number, call in enumerate(found.calls, 1):
        yield ""
        yield f"{number}. {call.step}  ({', '.join(_call_facts(call))})"
        for title, text in _call_texts(call):
            yield f"  {title}:"
            for line in text.splitlines() or [""]:
                yield f"    {line}"
    if found.trace is not None:
        yield ""
        yield "The verifier's own trace of the verdict:"
        yield f"  {msgspec.json.encode(found.trace).decode()}"


def _verdict_words(found: Transcript) -> Iterator[str]:
    yield found.verdict
    if found.reason:
        yield found.reason
    if found.score is not None:
        yield f"score {found.score:g}"


def _call_facts(call: CallShown) -> Iterator[str]:
    yield call.role
    yield f"{call.model} by {call.profile}"
    if call.sample:
        yield f"sample {call.sample}"
    if call.finish_reason:
        yield f"finish {call.finish_reason}"
    if call.prompt_tokens is not None:
        yield tokens(call.prompt_tokens, call.completion_tokens or 0)
    if call.cost is not None:
        yield dollars(call.cost)
    yield f"{call.ms:.0f} ms"
    if call.reused:
        yield "stored before"
    if call.broken_tokens:
        yield f"{counted(call.broken_tokens, 'control token')} of the texts broken by a thin space"
    if call.origin is not None:
        yield f"a recorded reply, not a live one: {call.origin}"


def _call_texts(call: CallShown) -> Iterator[tuple[str, str]]:
    yield "request", call.request
    if call.reasoning:
        yield "reasoning", call.reasoning
    if call.scores:
        yield "scores", ", ".join(f"{score:g}" for score in call.scores)
    if call.text or not call.scores:
        yield "reply", call.text or call.response
