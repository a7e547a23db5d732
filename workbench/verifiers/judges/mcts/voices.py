"""What the search asks the judge model about one item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.llm.records import Ask
from workbench.verifiers.judges.case import DelimitedReply, JudgeCase, Numbered, told, unusable
from workbench.verifiers.judges.mcts.subtasks import (
    GlobalMode,
    History,
    Reuse,
    Subtask,
    SubtaskFinding,
    TrajectoryWeight,
)
from workbench.verifiers.judges.mcts.tree import Rollout, SearchResult, Tree
from workbench.verifiers.judges.parsers import Parser, parser
from workbench.verifiers.judges.template import Template, TemplateCall
from workbench.verifiers.judges.voting import Draws, together

_SAID = {True: "Yes", False: "No", None: "no conclusion"}


class Voices:
    """The judge model in its parts: doing subtasks, planning the next, doubting itself.

    Args:
        case: The item.
        ask: Asks for it.
        template: With calls ``analyse``, ``summarise``, ``assess`` and ``evaluate``.
        parser: Reads Yes or No.
        reuse: Which subtask calls are the same call. With ``none`` each rollout makes its own; with ``history`` the
            prompt holds what the trajectory has found so far, as in the paper's definition of a state; the paper's
            printed prompt (table 11) holds no history.
    """

    def __init__(
        self, case: JudgeCase, ask: Numbered, template: Template, parser: Parser, reuse: Reuse = "none"
    ) -> None:
        self._case, self._ask, self._parser, self._reuse = case, ask, parser, reuse
        self._calls = {call.name: call for call in template.calls}

    async def outcomes(self, subtasks: Sequence[Subtask], history: History, rollout: int) -> list[SubtaskFinding]:
        """Do subtasks one after another; those that need not know of each other are asked at once."""
        if self._reuse != "history":
            return await self._found(subtasks, (), rollout)
        found: list[SubtaskFinding] = []
        for subtask in subtasks:
            found += await self._found((subtask,), history, rollout)
            history = (*history, (subtask, found[-1].outcome))
        return found

    async def assess(self, subtask: Subtask, history: History, rollout: int) -> bool | None:
        """Whether the subtask should be done next. Source: MCTS-Judge, table 10."""
        done = ", ".join(one.title for one, _ in history) or "none"
        call = told(self._calls["assess"], title=subtask.title, focus=subtask.focus, done=done)
        return self._yes(await self._heard(call, f"{subtask.id}: self-assess", rollout))

    async def sound(self, history: History, conclusion: bool | None, rollout: int) -> bool | None:
        """Whether the model finds no errors in a trajectory's reasoning."""
        call = told(self._calls["evaluate"], history=_told_history(history), conclusion=_SAID[conclusion])
        doubts = self._yes(await self._heard(call, "self-evaluate", rollout))
        return None if doubts is None else not doubts

    async def _found(self, subtasks: Sequence[Subtask], history: History, rollout: int) -> list[SubtaskFinding]:
        """All the analyses, then all their summaries."""
        first = self._ask.count
        analyses = await together(self._analysis(one, history, rollout) for one in subtasks)
        summaries = await together(
            self._summary(one, heard, rollout) for one, heard in zip(subtasks, analyses, strict=True)
        )
        # Where an analysis says nothing, or not all it was to say, neither does its summary.
        return [
            SubtaskFinding(self._yes(summary) if self._is_usable(analysis) else None, first + place)
            for place, (analysis, summary) in enumerate(zip(analyses, summaries, strict=True))
        ]

    async def _analysis(self, subtask: Subtask, history: History, rollout: int) -> DelimitedReply:
        words = {"title": subtask.title, "focus": subtask.focus, "history": _told_history(history)}
        return await self._heard(told(self._calls["analyse"], **words), f"{subtask.id}: analyse", rollout)

    async def _summary(self, subtask: Subtask, analysis: DelimitedReply, rollout: int) -> DelimitedReply:
        call = told(self._calls["summarise"], title=subtask.title)
        return await self._heard(call, f"{subtask.id}: summarise", rollout, {"analyse": analysis.said})

    async def _heard(self, call: TemplateCall, step: str, rollout: int, made: Mapping[str, str] = {}) -> DelimitedReply:
        sample = rollout if self._reuse == "none" else 0
        return await self._case.ask(self._ask, call, made, step=step, sample=sample)

    def _is_usable(self, analysis: DelimitedReply) -> bool:
        return bool(analysis.said.strip()) and not (self._parser.is_strict and unusable(analysis))

    def _yes(self, heard: DelimitedReply) -> bool | None:
        return _yes_or_no(heard, self._parser)


async def overall(case: JudgeCase, ask: Ask, template: Template) -> bool | None:
    """g, the global evaluation; None where the reply holds no verdict.

    MCTS-Judge, section 3.1, has a g but no prompt for it; the vanilla judge is the paper's own way to ask for a whole.

    Args:
        template: The vanilla judge's.
    """
    (call,) = template.calls
    return _yes_or_no(await case.ask(ask, call, step="global"), parser(template.parser))


def _yes_or_no(heard: DelimitedReply, parser: Parser) -> bool | None:
    verdict = parser.parse(heard.reply.text, heard.fence, heard.ended).verdict
    return None if verdict == "abstain" else verdict == "correct"


def _told_history(history: History) -> str:
    return "\n".join(f"- {subtask.title}: {_SAID[outcome]}" for subtask, outcome in history)


# -- From outcomes to the answer: a trajectory's prediction, its weight, and the trajectory that is drawn.


def decision(votes: Iterable[bool | None], tie: bool | None = False) -> bool | None:
    """What most of those who voted say, ``tie`` if they are even, None if nobody voted."""
    known = [vote for vote in votes if vote is not None]
    ayes = 2 * sum(known)
    if not known:
        return None
    return tie if ayes == len(known) else ayes > len(known)


def prediction(outcomes: Iterable[bool | None], g: bool | None, mode: GlobalMode) -> bool | None:
    """f(t, g): the majority of a trajectory's outcomes and the global evaluation; a tie is incorrect.

    Source: MCTS-Judge, section 3.2. How g is "combined" isn't said: as one more vote, or to break a tie.
    """
    if mode == "vote":
        return decision((*outcomes, g))
    found = decision(outcomes, tie=bool(g))
    return g if found is None else found


def weigh(rollouts: Sequence[Rollout], tree: Tree, by: TrajectoryWeight) -> None:
    """Set R(t) = sum of r(s) over a trajectory's states.

    The paper doesn't say what r(s) is: what the nodes have accumulated, or the trajectory's own reward alone.
    """
    for rollout in rollouts:
        nodes = [tree.nodes[node] for node in rollout.path[1:]]
        rollout.weight = sum(node.q for node in nodes) if by == "node_q" else rollout.reward


def answer(rollouts: Sequence[Rollout], draws: Draws) -> SearchResult:
    """Draw the trajectory whose prediction is the answer. Source: MCTS-Judge, section 3.1."""
    readable = [place for place, rollout in enumerate(rollouts) if rollout.f is not None]
    weights = [rollouts[place].weight for place in readable]
    said = [bool(rollouts[place].f) for place in readable]
    if not readable:
        return SearchResult(correct=None, score=None, no_reward=True, chosen=None)
    if not any(weights):
        return SearchResult(correct=decision(said), score=sum(said) / len(said), no_reward=True, chosen=None)
    drawn = readable[draws.weighted(weights, "answer")]
    score = sum(weight for weight, yes in zip(weights, said, strict=True) if yes) / sum(weights)
    return SearchResult(correct=rollouts[drawn].f, score=score, no_reward=False, chosen=drawn)
