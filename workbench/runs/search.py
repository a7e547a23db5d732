"""A search of MCTS-Judge as people see it."""

from __future__ import annotations

from msgspec import Struct


class SearchNode(Struct, frozen=True, kw_only=True):
    """One state of the search.

    Attributes:
        parent: Its place among the nodes; None for the root.
        subtask: The subtask of its level; None for the root.
        done: The subtask was done; False where it was left out, and for the root.
        outcome: What the subtask found; None where nothing was to be read.
        q: Sum of the rewards of all rollouts through it.
        n: How many rollouts went through it.
        uct: What the selection saw in it at the end; None for the root, and where it was never visited.
        chosen: The trajectory whose prediction is the answer goes through it.
        calls: Places of its calls in the transcript.
    """

    parent: int | None
    subtask: str | None
    done: bool
    outcome: bool | None
    q: float
    n: int
    uct: float | None
    chosen: bool
    calls: tuple[int, ...]


class SearchRollout(Struct, frozen=True, kw_only=True):
    """One trajectory.

    Attributes:
        path: For each level in the tree what its subtask found; None where it was left out or not read.
        left_out: Levels, from 1, where it was left out.
        simulated: The same for the levels below, which the simulation did.
        f: Its prediction.
        h: What the simulated execution of tests says; None where none was done or nothing was to be read.
        reward: What it earned.
        weight: R(t), its weight in the choice of the answer.
        flagged: A step's reply held no verdict.
        chosen: Its prediction is the answer.
        calls: Places of the calls of its steps in the transcript.
    """

    path: tuple[bool | None, ...]
    left_out: frozenset[int]
    simulated: tuple[bool | None, ...]
    f: bool | None
    h: bool | None
    reward: float
    weight: float
    flagged: bool
    chosen: bool
    calls: tuple[int, ...]


class Search(Struct, frozen=True, kw_only=True):
    """A whole search.

    Attributes:
        nodes: The root first, each after its parent.
        g: The global evaluation.
        tests: Tests that were kept; None where the reward rests on none.
        correct: The answer.
        score: The chance of "correct" over the draw of the trajectory.
        no_reward: No trajectory earned anything, so the answer is what most of them say.
    """

    nodes: tuple[SearchNode, ...]
    rollouts: tuple[SearchRollout, ...]
    g: bool | None
    tests: int | None
    correct: bool | None
    score: float | None
    no_reward: bool
