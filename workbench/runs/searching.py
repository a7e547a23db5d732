"""The search behind a verdict of MCTS-Judge, read from its transcript."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from workbench.core.calls import CallShown, Transcript
from workbench.runs.search import Search, SearchNode, SearchRollout
from workbench.runs.transcripts import is_search
from workbench.verifiers.judges.mcts.trace import Rollout, SearchTrace
from workbench.verifiers.judges.mcts.tree import Node, uct

_PARTS = ("analyse", "summarise")


def search_of(transcript: Transcript) -> Search | None:
    """The search a verdict rests on; None where it rests on none, or its account can't be read."""
    if not is_search(transcript.trace):
        return None
    try:
        trace = msgspec.convert(transcript.trace, SearchTrace)
        return _TraceReader(trace, transcript.calls).search()
    except (msgspec.ValidationError, LookupError):
        return None


class _TraceReader:
    """Reads one trace."""

    def __init__(self, trace: SearchTrace, calls: Sequence[CallShown]) -> None:
        self._trace = trace
        self._places: dict[tuple[str, int], list[int]] = {}
        for place, call in enumerate(calls):
            self._places.setdefault((call.step, call.sample), []).append(place)

    def search(self) -> Search:
        trace, answer = self._trace, self._trace.answer
        drawn = None if answer.chosen is None else trace.rollouts[answer.chosen]
        return Search(
            nodes=tuple(self._node(node, drawn) for node in trace.nodes),
            rollouts=tuple(self._rollout(number, rollout) for number, rollout in enumerate(trace.rollouts)),
            g=trace.g,
            tests=None if trace.tests is None else len(trace.tests.kept),
            correct=answer.correct,
            score=answer.score,
            no_reward=answer.no_reward,
        )

    def _node(self, node: Node, drawn: Rollout | None) -> SearchNode:
        parent = None if node.parent is None else self._trace.nodes[node.parent]
        subtask = None if parent is None else self._trace.order[node.level - 1]
        done = node.action == "subtask"
        return SearchNode(
            parent=node.parent,
            subtask=subtask,
            done=done,
            outcome=node.outcome,
            q=node.q,
            n=node.n,
            uct=uct(node, parent.n) if parent is not None and node.n and parent.n else None,
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
            path=tuple(node.outcome for node in nodes),
            left_out=frozenset(node.level for node in nodes if node.action == "null"),
            simulated=tuple(step.outcome for step in rollout.steps if step.node is None),
            f=rollout.f,
            h=None if execution is None else execution.h,
            reward=rollout.reward,
            weight=rollout.weight,
            flagged=rollout.flagged,
            chosen=number == self._trace.answer.chosen,
            calls=self._calls(steps),
        )

    def _calls(self, steps: Iterable[tuple[str, int | None]]) -> tuple[int, ...]:
        """Where the calls of subtasks stand that were done in these rollouts; shared ones are those of rollout 0."""
        shared = self._trace.options.reuse != "none"
        found = {
            place
            for subtask, rollout in steps
            for part in _PARTS
            for place in self._places.get((f"{subtask}: {part}", 0 if shared else rollout or 0), ())
        }
        return tuple(sorted(found))
