"""The search: selection, expansion, simulation, backpropagation.

Source: MCTS-Judge, section 3.2. Rollouts follow one another; what one of them asks at once changes no draw, whatever
order the replies come in.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.verifiers.judges.draws import Draws
from workbench.verifiers.judges.mcts.answer import decision, prediction
from workbench.verifiers.judges.mcts.options import MctsOptions
from workbench.verifiers.judges.mcts.subtasks import History, Subtask
from workbench.verifiers.judges.mcts.trace import Rollout, SelectionStep, TrajectoryStep
from workbench.verifiers.judges.mcts.tree import REWARD, Action, Node, Tree, backpropagate
from workbench.verifiers.judges.mcts.voices import Voices
from workbench.verifiers.judges.testcases.execution import ExecutionScore, SubmissionExecutor

UCT_WEIGHT = 0.9
"""How often the selection follows UCT; else it follows the self-assessment. Source: MCTS-Judge, table 6."""


class ItemSearch:
    """One item's search.

    Args:
        order: The subtask of each level, from level 1 on.
        voices: Asks the judge model.
        executor: Executes tests, if the reward rests on any.
        g: The global evaluation.
    """

    def __init__(
        self,
        options: MctsOptions,
        order: Sequence[Subtask],
        voices: Voices,
        executor: SubmissionExecutor,
        draws: Draws,
        g: bool | None,
    ) -> None:
        self.options, self.order, self.g = options, order, g
        self.tree = Tree(min(options.depth, len(order)))
        self.rollouts: list[Rollout] = []
        self.execution: ExecutionScore | None = None
        self._voices, self._executor, self._draws = voices, executor, draws

    async def run(self) -> None:
        """All rollouts."""
        if self._executor.tests and self.options.reward_tests == "per_item":
            self.execution = await self._executor.run()
        for number in range(self.options.rollouts):
            await self._roll(number)

    async def _roll(self, number: int) -> None:
        path, choices = await self._select(number)
        await self._expand(path, number)
        steps = self._steps(path)
        steps += await self._simulate(steps, path[-1].level, number)
        outcomes = [step.outcome for step in steps]
        rollout = Rollout(
            path=[node.id for node in path],
            choices=choices,
            steps=steps,
            f=prediction(outcomes, self.g, self.options.global_mode),
            flagged=None in outcomes,
        )
        self.rollouts.append(rollout)
        rollout.reward = REWARD if await self._earns(rollout, number) else 0.0
        backpropagate(path, rollout.reward)

    async def _select(self, number: int) -> tuple[list[Node], list[SelectionStep]]:
        """The path from the root to a node that has an untried action, or to the greatest depth."""
        path, choices = [self.tree.root], list[SelectionStep]()
        while path[-1].level < self.tree.depth and not self.tree.untried(path[-1]):
            choices.append(await self._choose(path, number))
            path.append(self.tree.child(path[-1], choices[-1].chosen))
        return path, choices

    async def _choose(self, path: Sequence[Node], number: int) -> SelectionStep:
        node = path[-1]
        favourite, assessed = self.tree.favourite(node), None
        if self.options.selection == "uct+llm":
            subtask = self.order[node.level]
            yes = await self._voices.assess(subtask, self._history(self._steps(path)), number)
            assessed = None if yes is None else _action(yes)
        chosen = favourite
        if assessed is not None and self._draws.number("select", number, node.level) >= UCT_WEIGHT:
            chosen = assessed
        return SelectionStep(node=node.id, favourite=favourite, assessed=assessed, chosen=chosen)

    async def _expand(self, path: list[Node], number: int) -> None:
        """Try an untried action at the path's end; a null action asks nothing."""
        untried = self.tree.untried(path[-1])
        if not untried:
            return
        history = self._history(self._steps(path))
        node = self.tree.add(path[-1], self._draws.sample(untried, 1, "expand", number)[0], number)
        if node.action == "subtask":
            (found,) = await self._voices.outcomes(self.order[node.level - 1 : node.level], history, number)
            node.outcome, node.call = found.outcome, found.call
        path.append(node)

    async def _simulate(self, steps: Sequence[TrajectoryStep], level: int, number: int) -> list[TrajectoryStep]:
        """The subtasks of all levels below, none left out; they add no nodes."""
        left = self.order[level : self.tree.depth]
        findings = await self._voices.outcomes(left, self._history(steps), number) if left else []
        return [
            TrajectoryStep(level=level + place, subtask=subtask.id, outcome=found.outcome, call=found.call, node=None)
            for place, (subtask, found) in enumerate(zip(left, findings, strict=True), 1)
        ]

    def _steps(self, path: Sequence[Node]) -> list[TrajectoryStep]:
        """The subtasks on a path; a node that was done before keeps its outcome."""
        return [
            TrajectoryStep(
                level=node.level,
                subtask=self.order[node.level - 1].id,
                outcome=node.outcome,
                call=node.call,
                node=node.id,
            )
            for node in path
            if node.action == "subtask"
        ]

    def _history(self, steps: Sequence[TrajectoryStep]) -> History:
        return tuple((self.order[step.level - 1], step.outcome) for step in steps)

    async def _earns(self, rollout: Rollout, number: int) -> bool:
        """Whether a trajectory is rewarded. Sources: MCTS-Judge, sections 3.3 and 4.7; without tests section 4.1."""
        if rollout.f is None:
            return False
        if self.options.reward == "self_consistency":
            # As many against as for it are no majority, whichever came first.
            return rollout.f == decision((one.f for one in self.rollouts), tie=None)
        if self.options.reward == "self_evaluation":
            return await self._voices.sound(self._history(rollout.steps), rollout.f, number) is True
        if not self._executor.tests:
            return all(step.outcome for step in rollout.steps) and bool(rollout.steps)
        if self.options.reward_tests == "per_rollout":
            rollout.execution = await self._executor.run(number)
        execution = rollout.execution or self.execution
        return execution is not None and execution.h == rollout.f


def _action(subtask: bool) -> Action:
    return "subtask" if subtask else "null"
