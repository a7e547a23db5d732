"""The search tree and its arithmetic; nothing here waits for a model."""

from __future__ import annotations

from collections.abc import Iterable
from math import log, sqrt
from typing import Literal

from msgspec import Struct

from workbench.verifiers.judges.mcts.subtasks import MctsOptions, Reward
from workbench.verifiers.judges.testcases.judge import ExecutionScore
from workbench.verifiers.judges.testcases.writing import WrittenTests

Action = Literal["subtask", "null"]


class Node(Struct, kw_only=True):
    """One state of the search.

    A node at level d was reached by doing subtask d, or by leaving it out.

    Attributes:
        id: Its index in `Tree.nodes`.
        parent: None for the root.
        level: 0 for the root.
        action: How it was reached; None for the root.
        outcome: The subtask's finding; None for a null action, or if the reply held no verdict.
        call: The index of its analysis among the item's calls; None without a subtask.
        rollout: The rollout that added it, from 0; None for the root.
        q: Sum of the rewards of all rollouts through it.
        n: How many rollouts went through it.
        children: At most one a possible action, in the order they were added.
    """

    id: int
    parent: int | None = None
    level: int = 0
    action: Action | None = None
    outcome: bool | None = None
    call: int | None = None
    rollout: int | None = None
    q: float = 0.0
    n: int = 0
    children: list[int] = []


class Tree:
    """A binary tree: below a node at level d are subtask d + 1 and the null action.

    The paper's "one non-repeating subtask and the null action". With every unused subtask as a child, 8 rollouts would
    never leave the root.

    Args:
        alpha: See `uct`.
    """

    def __init__(self, depth: int, alpha: float) -> None:
        self.depth, self._alpha = depth, alpha
        self.nodes = [Node(id=0)]

    @property
    def root(self) -> Node:
        return self.nodes[0]

    def children(self, node: Node) -> list[Node]:
        return [self.nodes[child] for child in node.children]

    def child(self, node: Node, action: Action) -> Node:
        """Return the child an action leads to; it must have been tried."""
        return next(child for child in self.children(node) if child.action == action)

    def untried(self, node: Node) -> tuple[Action, ...]:
        """Return the actions that no rollout has tried at a node; none at the greatest depth."""
        if node.level >= self.depth:
            return ()
        tried = {child.action for child in self.children(node)}
        actions: tuple[Action, ...] = ("subtask", "null")
        return tuple(action for action in actions if action not in tried)

    def favourite(self, node: Node) -> Action:
        """Return the action of the child with the greatest UCT value; the subtask's if both are equal."""
        task, null = self.child(node, "subtask"), self.child(node, "null")
        of_task, of_null = (uct(child, node.n, self._alpha) for child in (task, null))
        return "subtask" if of_task >= of_null else "null"

    def add(self, parent: Node, action: Action, rollout: int) -> Node:
        node = Node(id=len(self.nodes), parent=parent.id, level=parent.level + 1, action=action, rollout=rollout)
        self.nodes.append(node)
        parent.children.append(node.id)
        return node


def uct(node: Node, parent_visits: int, alpha: float) -> float:
    """Return Q / N + alpha sqrt(ln N_parent / N). Source: MCTS-Judge, equation 1."""
    return node.q / node.n + alpha * sqrt(log(parent_visits) / node.n)


def backpropagate(path: Iterable[Node], reward: float) -> None:
    for node in path:
        node.q += reward
        node.n += 1


# -- How a search came about, as plain records: enough to draw the tree and to count every call again.


class SelectionStep(Struct, frozen=True, kw_only=True):
    """One step of the selection, at a node with both children.

    Attributes:
        favourite: UCT's choice.
        assessed: The self-assessment's choice; None if it wasn't requested or was unclear.
    """

    node: int
    favourite: Action
    assessed: Action | None
    chosen: Action


class TrajectoryStep(Struct, frozen=True, kw_only=True):
    """One subtask of a trajectory.

    Attributes:
        call: The index of its analysis among the item's calls.
        node: The node that holds it; None for a step of the simulation, which adds none.
    """

    level: int
    subtask: str
    outcome: bool | None
    call: int | None
    node: int | None


class Rollout(Struct, kw_only=True):
    """One trajectory.

    Attributes:
        path: Node ids from the root on.
        steps: The subtasks done, null actions left out.
        f: Its prediction; None if no vote could be read.
        flagged: A step's reply held no verdict.
        execution: The tests' result, if they are executed in each rollout.
        sound: Whether the model finds no errors in it, if that is the reward; None if it isn't or was unclear.
        reward: Its reward.
        weight: R(t), its weight in the choice of the answer.
    """

    path: list[int]
    choices: list[SelectionStep]
    steps: list[TrajectoryStep]
    f: bool | None
    flagged: bool
    execution: ExecutionScore | None = None
    sound: bool | None = None
    reward: float = 0.0
    weight: float = 0.0


class SearchResult(Struct, frozen=True, kw_only=True):
    """The result of a search.

    Attributes:
        correct: None if no reply held a verdict.
        score: The chance that the answer is "correct", over the draw of the trajectory; without a reward the share of
            the trajectories that predict it.
        no_reward: No trajectory was rewarded, so the answer is the majority's.
        chosen: The drawn trajectory's rollout; None without a reward.
    """

    correct: bool | None
    score: float | None
    no_reward: bool
    chosen: int | None


class SearchTrace(Struct, kw_only=True):
    """A whole search.

    Attributes:
        judge: Always ``"mcts"``; distinguishes traces.
        subtasks: The list's version.
        reward: The criterion for rewarding this item's trajectories; None in a trace from before items could set it.
        order: The subtask of each level, from level 1 on.
        tests: The tests the reward uses; None if it uses none.
        g: The global evaluation.
        execution: h, if it is computed once for the item.
    """

    judge: str = "mcts"
    options: MctsOptions
    subtasks: int
    reward: Reward | None = None
    order: list[str]
    tests: WrittenTests | None
    g: bool | None
    execution: ExecutionScore | None
    nodes: list[Node]
    rollouts: list[Rollout]
    answer: SearchResult
