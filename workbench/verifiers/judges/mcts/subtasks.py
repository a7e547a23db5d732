"""The subtasks a judgment is broken down into: a versioned list, kept as data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

import msgspec
from msgspec import Struct

from workbench.verifiers.judges.testcases.writing import TESTCASE_OPTIONS, TestCaseOptions, testcase_options
from workbench.verifiers.serving import choice, number, whole


class Subtask(Struct, frozen=True, forbid_unknown_fields=True):
    """One angle from which a submission is looked at.

    Attributes:
        focus: What to look for, as the model is told.
        comparative: It says nothing without a reference or an example.
    """

    id: str
    title: str
    focus: str
    comparative: bool = False


History = tuple[tuple[Subtask, bool | None], ...]
"""The subtasks done so far, and what each of them found."""


class SubtaskFinding(Struct, frozen=True):
    """What came of a subtask.

    Attributes:
        outcome: None where the reply held no verdict.
        call: The analysis's place among the calls for the item.
    """

    outcome: bool | None
    call: int


class SubtaskList(Struct, frozen=True, forbid_unknown_fields=True):
    """All subtasks in their fixed order, under a version that is part of a judge's identity."""

    version: int
    subtask: tuple[Subtask, ...]


@cache
def subtask_list() -> SubtaskList:
    """The list of this release."""
    text = files(__package__).joinpath("subtasks.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), SubtaskList)


def subtasks_for(texts: Mapping[str, str]) -> tuple[Subtask, ...]:
    """The subtasks there are for an item with these texts."""
    comparable = bool(texts.get("reference") or texts.get("example"))
    return tuple(one for one in subtask_list().subtask if comparable or not one.comparative)


# -- What can be chosen about the search, and what the paper's own choice is.


Reward = Literal["simulated", "self_consistency", "self_evaluation"]
Selection = Literal["uct", "uct+llm"]
Order = Literal["fixed", "permuted"]
GlobalMode = Literal["vote", "tiebreak"]
RewardTests = Literal["per_rollout", "per_item"]
TrajectoryWeight = Literal["node_q", "terminal"]
Reuse = Literal["none", "history", "subtask"]
MCTS_OPTIONS: Final[dict[str, str]] = {
    "depth": "mcts: greatest depth of the tree (default 9; 8 without a reference or example)",
    "rollouts": "mcts: rollouts (default 8)",
    "reward": "mcts: what a trajectory is held against: simulated (default), self_consistency or self_evaluation",
    "selection": "mcts: uct+llm (default) or uct alone",
    "order": "mcts: subtasks in fixed order (default) or permuted for each item",
    "global_mode": "mcts: the global evaluation is one more vote (default) or a tiebreak",
    "reward_tests": "mcts: tests drawn and executed per_rollout (default) or once per_item",
    "traj_weight": "mcts: a trajectory weighs its nodes' rewards, node_q (default), or its own, terminal",
    "alpha": "mcts: the constant of UCT: how far unvisited nodes are preferred (default 3)",
    "w_u": "mcts: how often UCT decides, beside w_l, in the selection uct+llm (default 0.9)",
    "w_l": "mcts: how often the self-assessment does (default 0.1)",
    "epsilon": "mcts: what a trajectory that is rewarded earns (default 1.1)",
    "reuse": "mcts: subtask calls made anew in each rollout, none (default), or shared by history or by subtask",
    **TESTCASE_OPTIONS,
}
"""Options of `mcts_options`, and what they do."""
MCTS_NAMES: Final = frozenset({"title", "focus", "history", "done", "conclusion", "level", "input", "test"})
"""Placeholders of the template beside an item's texts: our own words, and texts that come up in judging."""
_MOST_ROLLOUTS = 1_000


class MctsOptions(Struct, frozen=True, kw_only=True):
    """The search's settings; the defaults are the paper's (table 6) where it says them.

    Attributes:
        depth: Greatest depth; an item with fewer subtasks has a tree of that depth.
        alpha: The constant of equation 1.
        w_u: Weight of UCT's choice in the draw between it and the self-assessment's.
        w_l: Weight of the self-assessment's.
        epsilon: The terminal reward.
    """

    depth: int = 9
    rollouts: int = 8
    reward: Reward = "simulated"
    selection: Selection = "uct+llm"
    order: Order = "fixed"
    global_mode: GlobalMode = "vote"
    reward_tests: RewardTests = "per_rollout"
    traj_weight: TrajectoryWeight = "node_q"
    reuse: Reuse = "none"
    alpha: float = 3.0
    w_u: float = 0.9
    w_l: float = 0.1
    epsilon: float = 1.1
    tests: TestCaseOptions = TestCaseOptions()

    @property
    def seed(self) -> int:
        """From it follow all draws."""
        return self.tests.seed


def mcts_options(options: Mapping[str, str]) -> MctsOptions:
    """The settings that `MCTS_OPTIONS` make; other options are let alone.

    Raises:
        ValueError: An option is wrong.
    """
    deepest = len(subtask_list().subtask)
    usual = MctsOptions()
    found = MctsOptions(
        depth=whole(options, "depth", least=1, most=deepest) or min(usual.depth, deepest),
        rollouts=whole(options, "rollouts", least=1, most=_MOST_ROLLOUTS) or usual.rollouts,
        reward=choice(options, "reward", get_args(Reward), usual.reward),
        selection=choice(options, "selection", get_args(Selection), usual.selection),
        order=choice(options, "order", get_args(Order), usual.order),
        global_mode=choice(options, "global_mode", get_args(GlobalMode), usual.global_mode),
        reward_tests=choice(options, "reward_tests", get_args(RewardTests), usual.reward_tests),
        traj_weight=choice(options, "traj_weight", get_args(TrajectoryWeight), usual.traj_weight),
        reuse=choice(options, "reuse", get_args(Reuse), usual.reuse),
        alpha=_or(number(options, "alpha", least=0), usual.alpha),
        w_u=_or(number(options, "w_u", least=0), usual.w_u),
        w_l=_or(number(options, "w_l", least=0), usual.w_l),
        epsilon=_or(number(options, "epsilon", above=0), usual.epsilon),
        tests=testcase_options(options),
    )
    if not found.w_u + found.w_l:
        raise ValueError("w_u: with w_l 0 as well nothing would decide")
    return found


def _or(given: float | None, usual: float) -> float:
    return usual if given is None else given
