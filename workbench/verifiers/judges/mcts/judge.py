"""The strategies ``mcts``, the complete MCTS-Judge on one item, and ``majority-vote``, every subtask once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import structs

from workbench.core.options import Options, option, record_from
from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import Ask
from workbench.llm.server import ModelServer
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.case import DelimitedReply, JudgeCase, Numbered, fill_call, unusable, verdict_of
from workbench.verifiers.judges.mcts.subtasks import (
    EXECUTION,
    ITEM_REWARDS,
    History,
    HistoryMode,
    MctsOptions,
    PastStep,
    Reuse,
    Reward,
    Subtask,
    SubtaskFinding,
    chosen_subtasks,
    mcts_options,
)
from workbench.verifiers.judges.mcts.tree import (
    Action,
    Node,
    Rollout,
    SearchResult,
    SearchTrace,
    SelectionStep,
    TrajectoryStep,
    Tree,
    answer,
    backpropagate,
    decision,
    prediction,
    weigh,
)
from workbench.verifiers.judges.parsers import Parser
from workbench.verifiers.judges.roles import GLOBAL, role_of
from workbench.verifiers.judges.template import Template, TemplateCall, builtin
from workbench.verifiers.judges.testcases import (
    ExecutionScore,
    SubmissionExecutor,
    TestServer,
    WrittenTests,
    execution_calls,
    write_tests,
    writing_calls,
)
from workbench.verifiers.judges.voting import Draws, majority, run_concurrently
from workbench.verifiers.option_record import parse_record


def _verdict_of(outcome: bool | None) -> Verdict:
    if outcome is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="unparsed")
    return Verdict(outcome=Outcome.CORRECT if outcome else Outcome.INCORRECT)


# -- The search's requests to the judge model about one item.


_SAID = {True: "Yes", False: "No", None: "no conclusion"}


class JudgeTasks:
    """The judge model's tasks: doing subtasks, assessing which to do next, evaluating its own conclusion.

    Args:
        case: The item.
        ask: Calls the model about it.
        template: A template with the calls ``analyse``, ``summarise``, ``assess`` and ``evaluate``.
        parser: The parser of Yes or No.
        reuse: Which subtask calls the rollouts share. With ``none`` each rollout makes its own; with ``history`` the
            prompt
            contains the trajectory's results so far, as in the paper's definition of a state; the paper's printed
            prompt (table 11) contains no history.
    """

    def __init__(
        self,
        case: JudgeCase,
        ask: Numbered,
        template: Template,
        parser: Parser,
        reuse: Reuse = "none",
        history: HistoryMode = "none",
    ) -> None:
        self._case, self._ask, self._parser, self._reuse, self._told = case, ask, parser, reuse, history
        self._calls = {call.name: call for call in template.calls}

    async def outcomes(self, subtasks: Sequence[Subtask], history: History, rollout: int) -> list[SubtaskFinding]:
        """Do subtasks in sequence; without a history they are independent and are requested concurrently."""
        if self._told == "none":
            return await self._do_subtasks(subtasks, (), rollout)
        found: list[SubtaskFinding] = []
        for subtask in subtasks:
            found += await self._do_subtasks((subtask,), history, rollout)
            history = (*history, PastStep(subtask, found[-1].outcome, found[-1].said))
        return found

    async def assess(self, subtask: Subtask, history: History, rollout: int) -> bool | None:
        """Return whether the subtask should be done next. Source: MCTS-Judge, table 10."""
        done = ", ".join(one.subtask.title for one in history) or "none"
        call = fill_call(self._calls["assess"], title=subtask.title, focus=subtask.focus, done=done)
        return _yes_or_no(await self._ask_step(call, f"{subtask.id}: self-assess", rollout), self._parser)

    async def sound(self, history: History, conclusion: bool | None, rollout: int) -> bool | None:
        call, made = self._with_history(fill_call(self._calls["evaluate"], conclusion=_SAID[conclusion]), history)
        doubts = _yes_or_no(await self._ask_step(call, "self-evaluate", rollout, made), self._parser)
        return None if doubts is None else not doubts

    async def _do_subtasks(self, subtasks: Sequence[Subtask], history: History, rollout: int) -> list[SubtaskFinding]:
        first = self._ask.count
        analyses = await run_concurrently(self._analyse(one, history, rollout) for one in subtasks)
        summaries = await run_concurrently(
            self._summarise(one, answer, rollout) for one, answer in zip(subtasks, analyses, strict=True)
        )
        # If an analysis is empty or truncated, its summary has no verdict either.
        return [
            SubtaskFinding(
                _yes_or_no(summary, self._parser) if self._is_usable(analysis) else None, first + place, analysis.answer
            )
            for place, (analysis, summary) in enumerate(zip(analyses, summaries, strict=True))
        ]

    async def _analyse(self, subtask: Subtask, history: History, rollout: int) -> DelimitedReply:
        own = self._calls.get(role_of(subtask.id), self._calls["analyse"])
        call, made = self._with_history(fill_call(own, title=subtask.title, focus=subtask.focus), history)
        return await self._ask_step(call, f"{subtask.id}: analyse", rollout, made)

    async def _summarise(self, subtask: Subtask, analysis: DelimitedReply, rollout: int) -> DelimitedReply:
        call = fill_call(self._calls["summarise"], title=subtask.title)
        return await self._ask_step(call, f"{subtask.id}: summarise", rollout, {"analyse": analysis.answer})

    async def _ask_step(
        self, call: TemplateCall, step: str, rollout: int, made: Mapping[str, str] = {}
    ) -> DelimitedReply:
        sample = rollout if self._reuse == "none" else 0
        return await self._case.ask(self._ask, call, made, step=step, sample=sample)

    def _with_history(self, call: TemplateCall, history: History) -> tuple[TemplateCall, dict[str, str]]:
        if self._told == "assessments":
            return call, {"history": "\n".join(f"- {_outcome_line(one)}\n{one.said.strip()}" for one in history)}
        return fill_call(call, history="\n".join(f"- {_outcome_line(one)}" for one in history)), {}

    def _is_usable(self, analysis: DelimitedReply) -> bool:
        return bool(analysis.answer.strip()) and not unusable(analysis, strict=self._parser.is_strict)


async def global_evaluation(case: JudgeCase, ask: Ask, call: TemplateCall, parser: Parser) -> bool | None:
    """Return g, the global evaluation; None if the reply contains no verdict.

    MCTS-Judge, section 3.1, defines g without a prompt for it; the vanilla judge is the paper's prompt for a whole
    evaluation.

    Args:
        call: The call of the vanilla judge, or of the role ``global``.
    """
    return _yes_or_no(await case.ask(ask, call, step="global"), parser)


def _yes_or_no(heard: DelimitedReply, parser: Parser) -> bool | None:
    outcome = verdict_of(heard, parser).outcome
    return None if outcome is Outcome.ABSTAIN else outcome is Outcome.CORRECT


def _outcome_line(step: PastStep) -> str:
    return f"{step.subtask.title}: {_SAID[step.outcome]}"


# -- The search: selection, expansion, simulation, backpropagation.


class ItemSearch:
    """The tree search for one item, rollout by rollout.

    Args:
        order: The subtask of each level, from level 1 on.
        voices: The judge model's tasks.
        executor: Executes tests, if the reward uses any.
        g: The global evaluation.
        reward: The criterion for rewarding this item's trajectories.
    """

    def __init__(
        self,
        options: MctsOptions,
        order: Sequence[Subtask],
        voices: JudgeTasks,
        executor: SubmissionExecutor,
        draws: Draws,
        g: bool | None,
        reward: Reward,
    ) -> None:
        self.options, self.order, self.g, self.reward = options, order, g, reward
        self.tree = Tree(min(options.depth, len(order)), options.alpha)
        self.rollouts: list[Rollout] = []
        self.execution: ExecutionScore | None = None
        self._voices, self._executor, self._draws = voices, executor, draws
        self._said: dict[int, str] = {}
        self._uct_share = options.w_u / (options.w_u + options.w_l)

    async def run(self) -> None:
        if self._executor.tests and self.options.reward_tests == "per_item":
            self.execution = await self._executor.run()
        for number in range(self.options.rollouts):
            await self._run_rollout(number)

    async def _run_rollout(self, number: int) -> None:
        path, choices = await self._select(number)
        await self._expand(path, number)
        steps = await self._simulate(path, number)
        outcomes = [step.outcome for step in steps]
        rollout = Rollout(
            path=[node.id for node in path],
            choices=choices,
            steps=steps,
            f=prediction(outcomes, self.g, self.options.global_mode),
            flagged=None in outcomes,
        )
        self.rollouts.append(rollout)
        rollout.reward = self.options.epsilon if await self._is_rewarded(rollout, number) else 0.0
        backpropagate(path, rollout.reward)

    async def _select(self, number: int) -> tuple[list[Node], list[SelectionStep]]:
        path, choices = [self.tree.root], list[SelectionStep]()
        while path[-1].level < self.tree.depth and not self.tree.untried(path[-1]):
            choices.append(await self._choose(path, number))
            path.append(self.tree.child(path[-1], choices[-1].chosen))
        return path, choices

    async def _choose(self, path: Sequence[Node], number: int) -> SelectionStep:
        node = path[-1]
        favourite = self.tree.favourite(node)
        assessed: Action | None = None
        if self.options.selection == "uct+llm":
            subtask = self.order[node.level]
            yes = await self._voices.assess(subtask, self._history(self._trajectory_steps(path)), number)
            assessed = None if yes is None else "subtask" if yes else "null"
        chosen = favourite
        if assessed is not None and self._draws.number("select", number, node.level) >= self._uct_share:
            chosen = assessed
        return SelectionStep(node=node.id, favourite=favourite, assessed=assessed, chosen=chosen)

    async def _expand(self, path: list[Node], number: int) -> None:
        untried = self.tree.untried(path[-1])
        if not untried:
            return
        history = self._history(self._trajectory_steps(path))
        node = self.tree.add(path[-1], self._draws.sample(untried, 1, "expand", number)[0], number)
        if node.action == "subtask":
            self._set_finding(
                node, *await self._voices.outcomes(self.order[node.level - 1 : node.level], history, number)
            )
        path.append(node)

    async def _simulate(self, path: list[Node], number: int) -> list[TrajectoryStep]:
        """Return all steps of the trajectory: all subtasks of the levels below the path's end are done.

        These steps add no nodes, unless the option ``simulation`` is ``nodes``; then later rollouts pass through them.
        """
        steps, level = self._trajectory_steps(path), path[-1].level
        left = self.order[level : self.tree.depth]
        findings = await self._voices.outcomes(left, self._history(steps), number) if left else []
        if self.options.simulation == "nodes":
            for found in findings:
                path.append(self.tree.add(path[-1], "subtask", number))
                self._set_finding(path[-1], found)
            return self._trajectory_steps(path)
        for place, (subtask, found) in enumerate(zip(left, findings, strict=True), 1):
            self._said[found.call] = found.said
            steps.append(
                TrajectoryStep(
                    level=level + place, subtask=subtask.id, outcome=found.outcome, call=found.call, node=None
                )
            )
        return steps

    def _set_finding(self, node: Node, found: SubtaskFinding) -> None:
        node.outcome, node.call = found.outcome, found.call
        self._said[found.call] = found.said

    def _trajectory_steps(self, path: Sequence[Node]) -> list[TrajectoryStep]:
        return [
            record_from(TrajectoryStep, node, subtask=self.order[node.level - 1].id, node=node.id)
            for node in path
            if node.action == "subtask"
        ]

    def _history(self, steps: Sequence[TrajectoryStep]) -> History:
        return tuple(
            PastStep(self.order[step.level - 1], step.outcome, self._said.get(step.call or 0, "")) for step in steps
        )

    async def _is_rewarded(self, rollout: Rollout, number: int) -> bool:
        """Return whether a trajectory is rewarded. Source: MCTS-Judge, sections 3.3 and 4.7; without tests 4.1."""
        if rollout.f is None:
            return False
        if self.reward == "self_consistency":
            # A tie is not a majority, in whatever order the votes came.
            return rollout.f == decision((one.f for one in self.rollouts), tie=None)
        if self.reward == "self_evaluation":
            rollout.sound = await self._voices.sound(self._history(rollout.steps), rollout.f, number)
            return rollout.sound is True
        if self.reward == "discussion" or not self._executor.tests:
            return all(step.outcome for step in rollout.steps) and bool(rollout.steps)
        if self.options.reward_tests == "per_rollout":
            rollout.execution = await self._executor.run(number)
        execution = rollout.execution or self.execution
        return execution is not None and execution.h == rollout.f


_LATER: Final = ("alpha", "w_u", "w_l", "epsilon", "simulation", "history")
"""Options that were added later: a judge that has their original values keeps its identity."""


class Mcts:
    """MCTS-Judge.

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
        self._options = mcts_options(options, len(self._list.subtask))
        self._writer = TestServer(options)
        self._global, self._global_sha256 = _global(template)

    def config(self) -> dict[str, object]:
        settings = msgspec.to_builtins(self._options)
        usual = MctsOptions(history="outcomes" if self._options.reuse == "history" else "none")
        for name in _LATER:
            if settings[name] == getattr(usual, name):
                del settings[name]
        return {
            **settings.pop("tests"),
            **settings,
            **self._list.identity(),
            **({} if self._global_sha256 is None else {"global_sha256": self._global_sha256}),
            **self._writer.config(),
        }

    def servers(self, judge: ModelServer) -> dict[str, ModelServer]:
        return self._writer.servers(judge)

    def calls_per_item(self) -> float:
        """Return the approximate number of calls without stored replies, including those for tests."""
        return expected_calls(self._options)

    async def judge(self, case: JudgeCase, ask: Ask) -> Judged:
        options, texts = self._options, case.texts
        if options.reward == "item" and case.reward not in (None, *ITEM_REWARDS):
            # An invalid value in a row must not silently select another reward.
            return Judged(verdict=Verdict(outcome=Outcome.ERROR, reason="unknown_reward", detail=case.reward))
        draws = Draws(options.seed, texts["question"], texts["completion"])
        order = self._list.for_item(texts)
        reward = self._reward_criterion(case)
        if options.order == "permuted":
            order = tuple(draws.sample(order, len(order), "order"))
        ask = Numbered(ask)
        voices = JudgeTasks(case, ask, self._template, self._parser, options.reuse, options.history)
        tests = await self._write_tests(case, ask) if reward == "simulated" else None
        executor = SubmissionExecutor(case, ask, self._template, tests.kept if tests else [], options.tests, draws)
        g = await global_evaluation(case, ask, self._global, self._parser)
        search = ItemSearch(options, order, voices, executor, draws, g, reward)
        await search.run()
        weigh(search.rollouts, search.tree, options.traj_weight)
        found = answer(search.rollouts, draws)
        trace = record_from(
            SearchTrace,
            search,
            subtasks=self._list.version,
            order=[subtask.id for subtask in order[: search.tree.depth]],
            tests=tests,
            nodes=search.tree.nodes,
            answer=found,
        )
        return Judged(verdict=_verdict(found, tests), trace=msgspec.to_builtins(trace))

    def _reward_criterion(self, case: JudgeCase) -> Reward:
        """Return the criterion for rewarding this item's trajectories.

        Source: MCTS-Judge, section 4.1, where problems without meaningful outputs are judged by discussion.
        """
        if self._options.reward != "item":
            return self._options.reward
        criterion = case.reward or EXECUTION
        return "simulated" if criterion == EXECUTION else msgspec.convert(criterion, Reward)

    async def _write_tests(self, case: JudgeCase, ask: Ask) -> WrittenTests:
        return await write_tests(case, ask, self._template, self._options.tests.beta, self._writer.role, alone=True)


def _global(template: Template) -> tuple[TemplateCall, str | None]:
    if any(call.name == GLOBAL for call in template.calls):
        return template.call(GLOBAL), None
    vanilla = builtin("vanilla", template.call("analyse").sampling, version=1)
    return vanilla.calls[0], vanilla.sha256


def expected_calls(options: MctsOptions) -> float:
    """Return the average number of calls for an item without stored replies.

    In a balanced tree rollout r, counted from 1, adds a node at level l = floor(log2(r + 1)): the node costs a pair of
    calls in half the cases, the simulation one pair for each level below, and l - 1 nodes were selected on the way.
    """
    levels = [min((rollout + 1).bit_length() - 1, options.depth) for rollout in range(1, options.rollouts + 1)]
    pairs = sum(options.depth - level + 0.5 for level in levels)
    if options.reuse == "subtask":
        pairs = min(pairs, options.depth)
    calls = 1 + 2 * pairs
    if options.selection == "uct+llm":
        calls += sum(level - 1 for level in levels)
    if options.needs_tests:
        executions = options.rollouts if options.reward_tests == "per_rollout" else 1
        calls += writing_calls(options.tests) + executions * execution_calls(options.tests)
    return calls + (options.rollouts if options.reward == "self_evaluation" else 0)


def _verdict(found: SearchResult, tests: WrittenTests | None) -> Verdict:
    if found.correct is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="unparsed")
    has_no_test = tests is not None and not tests.kept
    return Verdict(
        outcome=Outcome.CORRECT if found.correct else Outcome.INCORRECT,
        score=found.score,
        reason="no_valid_tests" if has_no_test else "no_reward" if found.no_reward else None,
    )


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
