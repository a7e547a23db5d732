"""How a search came about, as plain records: enough to draw the tree and to count every call again."""

from __future__ import annotations

from msgspec import Struct

from workbench.verifiers.judges.mcts.options import MctsOptions
from workbench.verifiers.judges.mcts.tree import Action, Node
from workbench.verifiers.judges.testcases.execution import ExecutionScore
from workbench.verifiers.judges.testcases.writing import WrittenTests


class SelectionStep(Struct, frozen=True, kw_only=True):
    """One step of the selection, at a node with both children.

    Attributes:
        favourite: What UCT prefers.
        assessed: What the self-assessment prefers; None where it wasn't asked or said neither.
    """

    node: int
    favourite: Action
    assessed: Action | None
    chosen: Action


class TrajectoryStep(Struct, frozen=True, kw_only=True):
    """One subtask of a trajectory.

    Attributes:
        call: The place of its analysis among the item's calls.
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
        f: Its prediction; None if no vote was to be read.
        flagged: A step's reply held no verdict.
        execution: What the tests said, where they are executed in each rollout.
        reward: What it earned.
        weight: R(t), its weight in the choice of the answer.
    """

    path: list[int]
    choices: list[SelectionStep]
    steps: list[TrajectoryStep]
    f: bool | None
    flagged: bool
    execution: ExecutionScore | None = None
    reward: float = 0.0
    weight: float = 0.0


class SearchResult(Struct, frozen=True, kw_only=True):
    """What a search comes to.

    Attributes:
        correct: None where no reply held a verdict.
        score: The chance that the answer is "correct", over the draw of the trajectory; without a reward the share of
            the trajectories that say so.
        no_reward: No trajectory earned anything, so the answer is what most of them say.
        chosen: The drawn trajectory's rollout; None without a reward.
    """

    correct: bool | None
    score: float | None
    no_reward: bool
    chosen: int | None


class SearchTrace(Struct, kw_only=True):
    """A whole search.

    Attributes:
        judge: Always ``"mcts"``; tells apart traces.
        subtasks: The list's version.
        order: The subtask of each level, from level 1 on.
        tests: The tests the reward rests on; None where it rests on none.
        g: The global evaluation.
        execution: h, where it is found once for the item.
    """

    judge: str = "mcts"
    options: MctsOptions
    subtasks: int
    order: list[str]
    tests: WrittenTests | None
    g: bool | None
    execution: ExecutionScore | None
    nodes: list[Node]
    rollouts: list[Rollout]
    answer: SearchResult
