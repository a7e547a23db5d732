"""The subtasks of a judgment: a versioned list in a data file, or a user's list."""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, get_args

import msgspec
from msgspec import Meta, Struct

from workbench.config.verifiers import SUBTASKS, read_template
from workbench.core.errors import UsageError
from workbench.verifiers.judges.template import ITEM_NAMES, Name, find_placeholders, parsed_form
from workbench.verifiers.judges.testcases.writing import TESTCASE_OPTIONS, TestCaseOptions, testcase_options
from workbench.verifiers.serving import choice, number, required, whole_number


class Subtask(Struct, frozen=True, forbid_unknown_fields=True):
    """One angle from which a submission is examined.

    Attributes:
        focus: The instruction to the model.
        comparative: Whether it needs a reference or an example.
    """

    id: Name
    title: Annotated[str, Meta(min_length=1, max_length=200)]
    focus: Annotated[str, Meta(max_length=10_000)] = ""
    comparative: bool = False


class PastStep(NamedTuple):
    """A subtask that a trajectory has done: its result, and the full assessment."""

    subtask: Subtask
    outcome: bool | None
    said: str


History = tuple[PastStep, ...]
"""The subtasks done so far."""


class SubtaskFinding(Struct, frozen=True):
    """The result of a subtask.

    Attributes:
        outcome: The outcome; None if the reply contained no verdict.
        call: The analysis's index among the calls for the item.
        said: The text of the analysis.
    """

    outcome: bool | None
    call: int
    said: str


class _ListFile(Struct, frozen=True, forbid_unknown_fields=True):
    version: Annotated[int, Meta(ge=1)]
    subtask: Annotated[tuple[Subtask, ...], Meta(min_length=1, max_length=100)]


class SubtaskList(Struct, frozen=True):
    """All subtasks in their fixed order.

    Attributes:
        version: Version of a built-in list, a part of a judge's identity.
        sha256: SHA-256 of a user's file in hexadecimal, a part of a judge's identity; None for built-in lists.
    """

    version: int
    subtask: tuple[Subtask, ...]
    sha256: str | None = None

    def identity(self) -> dict[str, object]:
        return {"subtasks": self.version} | ({} if self.sha256 is None else {"subtasks_sha256": self.sha256})

    def for_item(self, texts: Mapping[str, str]) -> tuple[Subtask, ...]:
        comparable = bool(texts.get("reference") or texts.get("example"))
        return tuple(one for one in self.subtask if comparable or not one.comparative)


@cache
def subtask_list() -> SubtaskList:
    text = files(__package__).joinpath("subtasks.toml").read_text(encoding="utf-8")
    form = msgspec.convert(tomllib.loads(text), _ListFile)
    return SubtaskList(form.version, form.subtask)


def chosen_subtasks(options: Mapping[str, str]) -> SubtaskList:
    """Load the list in the file of the option ``subtasks``, or the built-in one.

    Raises:
        UsageError: The file is not a valid list; the message names the file and the error.
    """
    return load_subtasks(Path(required(options, SUBTASKS))) if SUBTASKS in options else subtask_list()


def load_subtasks(path: Path) -> SubtaskList:
    """Load a user's list; raises as `chosen_subtasks` does."""
    text = read_template(path)
    form = parsed_form(text, str(path), _ListFile, "a list of subtasks")
    twice = [name for name, times in Counter(one.id for one in form.subtask).items() if times > 1]
    if twice:
        raise UsageError(f"{path}: there are two subtasks {twice[0]!r}.", "Give each a different id.")
    for one in form.subtask:
        if named := find_placeholders(one.title + one.focus, ITEM_NAMES | MCTS_NAMES):
            wrong = f"subtask {one.id!r} holds {{{min(named)}}}, and what is put in is never looked at again"
            raise UsageError(f"{path}: {wrong}.", "Placeholders belong in the prompt of a role: prompts=FOLDER")
    if all(one.comparative for one in form.subtask):
        raise UsageError(
            f"{path}: every subtask compares with the reference, so that an item without one has no subtask."
        )
    return SubtaskList(form.version, form.subtask, hashlib.sha256(text.encode()).hexdigest())


# -- Options of the search, and the paper's choices.


Reward = Literal["simulated", "discussion", "self_consistency", "self_evaluation", "item"]
Selection = Literal["uct", "uct+llm"]
Order = Literal["fixed", "permuted"]
GlobalMode = Literal["vote", "tiebreak"]
RewardTests = Literal["per_item", "per_rollout"]
TrajectoryWeight = Literal["terminal", "states", "node_q"]
Simulation = Literal["steps", "nodes"]
Reuse = Literal["none", "history", "subtask"]
HistoryMode = Literal["none", "outcomes", "assessments"]
EXECUTION: Final = "execution"
"""Another name of the reward ``simulated``: the simulated execution of tests."""
REWARDS: Final = (EXECUTION, *get_args(Reward))
"""Values of the option ``reward``."""
ITEM_REWARDS: Final = tuple(word for word in REWARDS if word != "item")
"""Values of an item's field ``reward``."""
SUBTASK_OPTIONS: Final[dict[str, str]] = {
    SUBTASKS: "mcts, majority-vote: TOML file with your own list of subtasks (default: nine built-in subtasks)"
}
"""The option of `chosen_subtasks`, and its description."""
MCTS_OPTIONS: Final[dict[str, str]] = {
    **SUBTASK_OPTIONS,
    "depth": "mcts: maximum depth of the tree (default 9; 8 without a reference or example)",
    "rollouts": "mcts: number of rollouts (default 8)",
    "reward": "mcts: source of a trajectory's reward: execution (default), discussion, self_consistency, "
    "self_evaluation, or item (one of these, named by the item's field reward)",
    "selection": "mcts: selection of nodes: uct+llm (default) or uct alone",
    "order": "mcts: order of subtasks: fixed (default), or permuted for each item",
    "global_mode": "mcts: role of the global evaluation: one more vote (default) or the tiebreak",
    "reward_tests": "mcts: when tests are drawn and executed: per_item (once, h(x); default) or per_rollout (again in "
    "each rollout)",
    "traj_weight": "mcts: weight R(t) of a trajectory: terminal (its reward, default), states (its reward for "
    "each of its states) or node_q (the total reward of its nodes)",
    "simulation": "mcts: subtasks of the simulation: steps (default), or nodes of the tree, which later "
    "rollouts use too",
    "alpha": "mcts: exploration constant of UCT; larger values prefer unvisited nodes (default 3)",
    "w_u": "mcts: weight of UCT in the selection uct+llm, next to w_l (default 0.9)",
    "w_l": "mcts: weight of the model's self-assessment in the selection uct+llm, next to w_u (default 0.1)",
    "epsilon": "mcts: value of the reward of a trajectory (default 1.1)",
    "reuse": "mcts: subtask calls that later rollouts reuse: none (default), history (calls with the same history) or "
    "subtask (calls of the same subtask)",
    "history": "mcts: what the prompt of an analysis contains of earlier ones: none, outcomes or full "
    "assessments (default: none; outcomes with reuse=history)",
    **TESTCASE_OPTIONS,
}
"""Options of `mcts_options`, and their descriptions."""
MCTS_NAMES: Final = frozenset({"title", "focus", "history", "done", "conclusion", "level", "input", "test"})
"""Placeholders of the template in addition to an item's texts: trusted words, and texts produced during judging."""
_MAX_ROLLOUTS = 1_000


class MctsOptions(Struct, frozen=True, kw_only=True):
    """The search's settings; the defaults are the paper's (table 6) if it states them.

    Attributes:
        depth: Maximum depth; it is lower for an item with fewer subtasks.
        alpha: The exploration constant of UCT (equation 1).
        w_u: Weight of UCT's choice, in a draw between it and the choice of the self-assessment.
        w_l: Weight of the self-assessment's choice.
        epsilon: The terminal reward.
        simulation: Whether the simulation's steps stay in the tree.
        history: Which of a trajectory's earlier steps an analysis includes.
    """

    depth: int = 9
    rollouts: int = 8
    reward: Reward = "simulated"
    selection: Selection = "uct+llm"
    order: Order = "fixed"
    global_mode: GlobalMode = "vote"
    reward_tests: RewardTests = "per_item"
    traj_weight: TrajectoryWeight = "terminal"
    simulation: Simulation = "steps"
    reuse: Reuse = "none"
    history: HistoryMode = "none"
    alpha: float = 3.0
    w_u: float = 0.9
    w_l: float = 0.1
    epsilon: float = 1.1
    tests: TestCaseOptions = TestCaseOptions()

    @property
    def seed(self) -> int:
        return self.tests.seed

    @property
    def needs_tests(self) -> bool:
        return self.reward in ("simulated", "item")


def mcts_options(options: Mapping[str, str], deepest: int | None = None) -> MctsOptions:
    """Parse `MCTS_OPTIONS`; other options are ignored.

    Args:
        deepest: Number of subtasks; by default that of the built-in list.

    Raises:
        ValueError: An option is wrong.
    """
    deepest = deepest or len(subtask_list().subtask)
    usual = MctsOptions()
    reward = choice(options, "reward", REWARDS, usual.reward)
    reuse = choice(options, "reuse", get_args(Reuse), usual.reuse)
    found = MctsOptions(
        depth=whole_number(options, "depth", least=1, most=deepest) or min(usual.depth, deepest),
        rollouts=whole_number(options, "rollouts", least=1, most=_MAX_ROLLOUTS) or usual.rollouts,
        reward="simulated" if reward == EXECUTION else msgspec.convert(reward, Reward),
        selection=choice(options, "selection", get_args(Selection), usual.selection),
        order=choice(options, "order", get_args(Order), usual.order),
        global_mode=choice(options, "global_mode", get_args(GlobalMode), usual.global_mode),
        reward_tests=choice(options, "reward_tests", get_args(RewardTests), usual.reward_tests),
        traj_weight=choice(options, "traj_weight", get_args(TrajectoryWeight), usual.traj_weight),
        simulation=choice(options, "simulation", get_args(Simulation), usual.simulation),
        reuse=reuse,
        history=_parse_history(options, reuse),
        alpha=_value_or_default(number(options, "alpha", least=0), usual.alpha),
        w_u=_value_or_default(number(options, "w_u", least=0), usual.w_u),
        w_l=_value_or_default(number(options, "w_l", least=0), usual.w_l),
        epsilon=_value_or_default(number(options, "epsilon", above=0), usual.epsilon),
        tests=testcase_options(options),
    )
    if not found.w_u + found.w_l:
        raise ValueError("w_u: w_u and w_l are both 0, so that nothing would decide the selection")
    return found


def _parse_history(options: Mapping[str, str], reuse: Reuse) -> HistoryMode:
    usual: HistoryMode = "outcomes" if reuse == "history" else "none"
    wanted: HistoryMode = choice(options, "history", get_args(HistoryMode), usual)
    if (reuse == "history" and wanted == "none") or (reuse == "subtask" and wanted != "none"):
        raise ValueError(
            f"history: {wanted} can't be combined with reuse={reuse}, which shares calls with the same prompt"
        )
    return wanted


def _value_or_default(given: float | None, usual: float) -> float:
    return usual if given is None else given
