"""A judge's procedure for an item; usually a chain of calls, the last of which gives the verdict."""

from __future__ import annotations

from typing import Protocol

from msgspec import structs

from workbench.llm.records import Ask
from workbench.llm.server import ModelServer
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.case import DelimitedReply, JudgeCase, abstention_on, unusable, verdict_of
from workbench.verifiers.judges.grading import by_score
from workbench.verifiers.judges.parsers import Parser
from workbench.verifiers.judges.parsers.base import own_lines
from workbench.verifiers.judges.parsers.rubric import PARSER, criterion_answers
from workbench.verifiers.judges.template import Template


class Strategy(Protocol):
    def config(self) -> dict[str, object]: ...

    def servers(self, judge: ModelServer) -> dict[str, ModelServer]:
        """Return the servers it calls, by role, including ``judge`` under ``"judge"``."""
        ...

    def calls_per_item(self) -> float: ...

    async def judge(self, case: JudgeCase, ask: Ask) -> Judged:
        """Return the verdict on one item; exceptions of ``ask`` must not be caught."""
        ...


class Chain:
    """A template's calls in sequence; each may use earlier replies."""

    def __init__(self, template: Template, parser: Parser) -> None:
        self._template = template
        self._parser = parser

    def config(self) -> dict[str, object]:
        return {}

    def servers(self, judge: ModelServer) -> dict[str, ModelServer]:
        return {"judge": judge}

    def calls_per_item(self) -> float:
        """Return the exact number of calls if no reply is empty."""
        return len(self._template.calls)

    async def judge(self, case: JudgeCase, ask: Ask) -> Judged:
        """Return the parsed last reply; stop early if an earlier reply is unusable."""
        *earlier, last = self._template.calls
        replies: dict[str, str] = {}
        for call in earlier:
            heard = await case.ask(ask, call, replies)
            if not heard.answer.strip() or unusable(heard, strict=self._parser.is_strict):
                return Judged(verdict=abstention_on(heard))
            replies[call.name] = heard.answer
        return self._judge_reply(await case.ask(ask, last, replies))

    def _judge_reply(self, heard: DelimitedReply) -> Judged:
        verdict = verdict_of(heard, self._parser)
        return Judged(verdict=verdict if self._template.calls[-1].sampling.top_logprobs is None else by_score(verdict))


class ByCriteria(Chain):
    """A rubric's call; the judge's statement on each criterion is stored."""

    def _judge_reply(self, heard: DelimitedReply) -> Judged:
        judged, criteria = super()._judge_reply(heard), self._template.criteria
        said = criterion_answers(criteria, own_lines(heard.reply.text, heard.fence))
        trace = {"judge": PARSER, "criteria": [{**structs.asdict(one), "met": said[one.name]} for one in criteria]}
        return structs.replace(judged, trace=trace)
