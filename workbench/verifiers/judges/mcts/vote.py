"""The strategy ``majority-vote``: every subtask once, and the majority of their outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import structs

from workbench.core.options import Options, option
from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import Ask
from workbench.llm.server import ModelServer
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.case import JudgeCase, Numbered
from workbench.verifiers.judges.mcts.judge import JudgeTasks
from workbench.verifiers.judges.mcts.subtasks import chosen_subtasks
from workbench.verifiers.judges.parsers import Parser
from workbench.verifiers.judges.template import Template
from workbench.verifiers.judges.voting import majority
from workbench.verifiers.option_record import parse_record


class MajorityOptions(Options, frozen=True, kw_only=True):
    tie: Annotated[Literal["abstain", "incorrect"], option("verdict of a tied vote")] = "abstain"


class MajorityVote:
    """A vote of all subtasks, two calls each.

    Args:
        template: The template ``mcts``.
        parser: The parser of Yes or No.
        options: A judge's options.

    Raises:
        ValueError: An option is wrong.
    """

    def __init__(self, template: Template, parser: Parser, options: Mapping[str, str]) -> None:
        self._template, self._parser = template, parser
        self._list = chosen_subtasks(options)
        self._tie = parse_record(MajorityOptions, options).tie

    def config(self) -> dict[str, object]:
        return {"tie": self._tie, **self._list.identity()}

    def servers(self, judge: ModelServer) -> dict[str, ModelServer]:
        return {"judge": judge}

    def calls_per_item(self) -> float:
        """Return two calls for each subtask; without a reference and an example there is one subtask less."""
        return 2 * len(self._list.subtask)

    async def judge(self, case: JudgeCase, ask: Ask) -> Judged:
        """Return the most frequent outcome; the votes are the subtasks' outcomes, in their order."""
        subtasks = self._list.for_item(case.texts)
        found = await JudgeTasks(case, Numbered(ask), self._template, self._parser).outcomes(subtasks, (), 0)
        votes = tuple(_verdict_of(one.outcome) for one in found)
        verdict = majority(votes)
        if verdict.reason == "tie" and self._tie == "incorrect":
            verdict = structs.replace(verdict, outcome=Outcome.INCORRECT)
        steps = [
            {"subtask": subtask.id, "outcome": one.outcome, "call": one.call}
            for subtask, one in zip(subtasks, found, strict=True)
        ]
        return Judged(verdict=verdict, votes=votes, trace={"judge": "majority-vote", "steps": steps})


def _verdict_of(outcome: bool | None) -> Verdict:
    if outcome is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="unparsed")
    return Verdict(outcome=Outcome.CORRECT if outcome else Outcome.INCORRECT)
