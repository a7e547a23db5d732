"""The search tree and its arithmetic; no model is called here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log, sqrt
from typing import Literal

from msgspec import Struct

from workbench.verifiers.judges.mcts.subtasks import GlobalMode, MctsOptions, Reward, TrajectoryWeight
from workbench.verifiers.judges.testcases import ExecutionScore, WrittenTests
from workbench.verifiers.judges.voting import Draws

Action = Literal["subtask", "null"]


class Node(Struct, kw_only=True):
    """One state of the search.

    A node at level d is reached by doing subtask d, or by omitting it.

    Attributes:
        id: Its index in `Tree.nodes`.
        parent: The parent's id; None for the root.
        level: The depth; 0 for the root.
        action: The action that leads to it; None for the root.
        outcome: The subtask's result; None for a null action, or if the reply contained no verdict.
        call: The index of its analysis among the item's calls; None without a subtask.
        rollout: The rollout that added it, from 0; None for the root.
        q: Sum of the rewards of all rollouts through the node.
        n: Number of rollouts through the node.
        children: At most one for each action, in the order they were added.
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

    This implements the paper's "one non-repeating subtask and the null action". With every unused subtask as a child, 8
    rollouts would never leave the root.

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
        return next(child for child in self.children(node) if child.action == action)

    def untried(self, node: Node) -> tuple[Action, ...]:
        """Return the actions that no rollout has tried at a node; empty at the maximum depth."""
        if node.level >= self.depth:
            return ()
        tried = {child.action for child in self.children(node)}
        actions: tuple[Action, ...] = ("subtask", "null")
        return tuple(action for action in actions if action not in tried)

    def favourite(self, node: Node) -> Action:
        """Return the action of the child with the greatest UCT value; a tie prefers the subtask."""
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


# -- Trace records: enough to draw the tree and to count every call again.


class SelectionStep(Struct, frozen=True, kw_only=True):
    """One step of the selection, at a node with both children.

    Attributes:
        favourite: The action that UCT chose.
        assessed: The action that the self-assessment chose; None if it wasn't requested or was unclear.
    """

    node: int
    favourite: Action
    assessed: Action | None
    chosen: Action


class TrajectoryStep(Struct, frozen=True, kw_only=True):
    """One subtask of a trajectory.

    Attributes:
        call: The index of its analysis among the item's calls.
        node: The node of the step; None for a step of the simulation.
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
        steps: The completed subtasks, without null actions.
        f: The prediction; None if no vote could be parsed.
        flagged: Whether a step's reply contained no verdict.
        execution: The tests' result, if they are executed in each rollout.
        sound: Whether the model finds no errors in it, if that is the reward; None otherwise, or if unclear.
        reward: The trajectory's reward.
        weight: R(t), the trajectory's weight in the choice of the answer.
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
        correct: The answer; None if no reply contained a verdict.
        score: The probability of the answer "correct" over the draw of the trajectory; without a reward the share of
            trajectories that predict it.
        no_reward: Whether no trajectory was rewarded, so that the answer is the majority's.
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
        reward: The criterion for rewarding this item's trajectories; None in older traces.
        order: The subtask of each level, from level 1 on.
        tests: The tests that the reward uses; None without tests.
        g: The global evaluation.
        execution: h, the result of the tests, if they are executed once for the item.
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


# -- From outcomes to the answer: a trajectory's prediction, its weight, and the trajectory that is drawn.


def decision(votes: Iterable[bool | None], tie: bool | None = False) -> bool | None:
    """Return the majority of the votes; ``tie`` if they are even, None without votes."""
    known = [vote for vote in votes if vote is not None]
    ayes = 2 * sum(known)
    if not known:
        return None
    return tie if ayes == len(known) else ayes > len(known)


def prediction(outcomes: Iterable[bool | None], g: bool | None, mode: GlobalMode) -> bool | None:
    """Return f(t, g): the majority of a trajectory's outcomes and the global evaluation; a tie is incorrect.

    Source: MCTS-Judge, section 3.2. The paper doesn't say how g is "combined"; ``mode`` chooses: as one more vote, or
    to break a tie.
    """
    if mode == "vote":
        return decision((*outcomes, g))
    found = decision(outcomes, tie=bool(g))
    return g if found is None else found


def weigh(rollouts: Sequence[Rollout], tree: Tree, by: TrajectoryWeight) -> None:
    """Set R(t) = sum of r(s) over a trajectory's states. Source: MCTS-Judge, section 3.1.

    The paper's reward is terminal, so that r(s) is 0 except in the last state: ``terminal``. With ``states`` each state
    of the trajectory earns it, so that a longer trajectory weighs more. With ``node_q`` r(s) is what the node has
    earned in all rollouts.
    """
    for rollout in rollouts:
        match by:
            case "terminal":
                rollout.weight = rollout.reward
            case "states":
                rollout.weight = rollout.reward * len(rollout.steps)
            case "node_q":
                rollout.weight = sum(tree.nodes[node].q for node in rollout.path[1:])


def answer(rollouts: Sequence[Rollout], draws: Draws) -> SearchResult:
    """Draw the trajectory whose prediction is the answer. Source: MCTS-Judge, section 3.1."""
    readable = [place for place, rollout in enumerate(rollouts) if rollout.f is not None]
    weights = [rollouts[place].weight for place in readable]
    answers = [bool(rollouts[place].f) for place in readable]
    if not readable:
        return SearchResult(correct=None, score=None, no_reward=True, chosen=None)
    if not any(weights):
        return SearchResult(correct=decision(answers), score=sum(answers) / len(answers), no_reward=True, chosen=None)
    drawn = readable[draws.weighted(weights, "answer")]
    score = sum(weight for weight, yes in zip(weights, answers, strict=True) if yes) / sum(weights)
    return SearchResult(correct=rollouts[drawn].f, score=score, no_reward=False, chosen=drawn)
