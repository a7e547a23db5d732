"""The strategy ``mcts``: the whole of MCTS-Judge on one item."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import Ask
from workbench.llm.server import ModelServer
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.case import JudgeCase
from workbench.verifiers.judges.draws import Draws
from workbench.verifiers.judges.mcts.answer import answer, weigh
from workbench.verifiers.judges.mcts.options import MctsOptions, mcts_options
from workbench.verifiers.judges.mcts.search import ItemSearch
from workbench.verifiers.judges.mcts.subtasks import subtask_list, subtasks_for
from workbench.verifiers.judges.mcts.trace import SearchResult, SearchTrace
from workbench.verifiers.judges.mcts.voices import Voices, overall
from workbench.verifiers.judges.numbered import Numbered
from workbench.verifiers.judges.parsers import Parser
from workbench.verifiers.judges.template import Template, builtin
from workbench.verifiers.judges.testcases.execution import SubmissionExecutor, execution_calls
from workbench.verifiers.judges.testcases.server import TestServer
from workbench.verifiers.judges.testcases.writing import WrittenTests, write_tests, writing_calls


class Mcts:
    """MCTS-Judge.

    Args:
        template: ``mcts``.
        parser: Reads Yes or No.
        options: As in `MCTS_OPTIONS` and `TEST_SERVER_OPTIONS`.

    Raises:
        ValueError: An option is wrong.
    """

    def __init__(self, template: Template, parser: Parser, options: Mapping[str, str]) -> None:
        self._template, self._parser = template, parser
        self._overall = builtin("vanilla", template.call("analyse").sampling)
        self._options = mcts_options(options)
        self._writer = TestServer(options)

    def config(self) -> dict[str, object]:
        """Every option of the search, the list of subtasks and who writes tests."""
        settings = msgspec.to_builtins(self._options)
        return {
            **settings.pop("tests"),
            **settings,
            "subtasks": subtask_list().version,
            "global_sha256": self._overall.sha256,
            **self._writer.config(),
        }

    def servers(self, judge: ModelServer) -> dict[str, ModelServer]:
        """The judge's and, if it is another one, that which writes tests."""
        return self._writer.servers(judge)

    def calls_per_item(self) -> float:
        """Calls without stored replies, the tests' among them; about, since the tree's shape is drawn."""
        return expected_calls(self._options)

    async def judge(self, case: JudgeCase, ask: Ask) -> Judged:
        """Write tests, judge globally, search, and draw the answer."""
        options, texts = self._options, case.texts
        draws = Draws(options.seed, texts["question"], texts["completion"])
        order = subtasks_for(texts)
        if options.order == "permuted":
            order = tuple(draws.sample(order, len(order), "order"))
        ask = Numbered(ask)
        voices = Voices(case, ask, self._template, self._parser, options.reuse)
        tests = await self._tests(case, ask)
        executor = SubmissionExecutor(case, ask, self._template, tests.kept if tests else [], options.tests, draws)
        g = await overall(case, ask, self._overall)
        search = ItemSearch(options, order, voices, executor, draws, g)
        await search.run()
        weigh(search.rollouts, search.tree, options.traj_weight)
        found = answer(search.rollouts, draws)
        trace = SearchTrace(
            options=options,
            subtasks=subtask_list().version,
            order=[subtask.id for subtask in order[: search.tree.depth]],
            tests=tests,
            g=search.g,
            execution=search.execution,
            nodes=search.tree.nodes,
            rollouts=search.rollouts,
            answer=found,
        )
        return Judged(verdict=_verdict(found), trace=msgspec.to_builtins(trace))

    async def _tests(self, case: JudgeCase, ask: Ask) -> WrittenTests | None:
        if self._options.reward != "simulated":
            return None
        return await write_tests(case, ask, self._template, self._options.tests.beta, self._writer.role, alone=True)


def expected_calls(options: MctsOptions) -> float:
    """Calls an item takes on average, when no reply is stored yet.

    In a balanced tree rollout r, counted from 1, adds a node at level l = floor(log2(r + 1)): the node costs a pair of
    calls in half the cases, the simulation one pair a level below, and l - 1 nodes were selected on the way.
    """
    levels = [min((rollout + 1).bit_length() - 1, options.depth) for rollout in range(1, options.rollouts + 1)]
    pairs = sum(options.depth - level + 0.5 for level in levels)
    if options.reuse == "subtask":
        pairs = min(pairs, options.depth)
    calls = 1 + 2 * pairs
    if options.selection == "uct+llm":
        calls += sum(level - 1 for level in levels)
    if options.reward == "simulated":
        executions = options.rollouts if options.reward_tests == "per_rollout" else 1
        calls += writing_calls(options.tests) + executions * execution_calls(options.tests)
    return calls + (options.rollouts if options.reward == "self_evaluation" else 0)


def _verdict(found: SearchResult) -> Verdict:
    if found.correct is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="unparsed")
    return Verdict(
        outcome=Outcome.CORRECT if found.correct else Outcome.INCORRECT,
        score=found.score,
        reason="no_reward" if found.no_reward else None,
    )
