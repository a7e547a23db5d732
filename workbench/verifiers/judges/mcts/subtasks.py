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
from msgspec import Meta, Struct, structs

from workbench.config.verifiers import SUBTASKS, read_template
from workbench.core.errors import UsageError
from workbench.core.options import Options, option
from workbench.verifiers.judges.template import ITEM_NAMES, Name, find_placeholders, parsed_form
from workbench.verifiers.judges.testcases import TestCaseOptions
from workbench.verifiers.option_record import parse_record, quoted
from workbench.verifiers.serving import required


class Subtask(Struct, frozen=True, forbid_unknown_fields=True):
    """One angle from which a submission is examined.

    Attributes:
        focus: The instruction to the model.
        comparative: Whether it needs a reference or an example.
    """

    id: Name
    title: Annotated[str, Meta(min_length=1, max_length=200)]
    focus: Annotated[str, Meta(max_length=10000)] = ""
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
GlobalMode = Literal["vote", "tiebreak"]
TrajectoryWeight = Literal["terminal", "states", "node_q"]
Reuse = Literal["none", "history", "subtask"]
HistoryMode = Literal["none", "outcomes", "assessments"]
EXECUTION: Final = "execution"
"""Another name of the reward ``simulated``: the simulated execution of tests."""
REWARDS: Final = (EXECUTION, *get_args(Reward))
"""Values of the option ``reward``."""
ITEM_REWARDS: Final = tuple(word for word in REWARDS if word != "item")
"""Values of an item's field ``reward``."""
MCTS_NAMES: Final = frozenset({"title", "focus", "history", "done", "conclusion", "level", "input", "test"})
"""Placeholders of the template in addition to an item's texts: trusted words, and texts produced during judging."""


def _parse_reward(text: str) -> Reward:
    if text not in REWARDS:
        raise ValueError(f"it is {' or '.join(REWARDS)}, not {quoted(text)}")
    return "simulated" if text == EXECUTION else msgspec.convert(text, Reward)


class SubtaskOptions(Options, frozen=True, kw_only=True):
    subtasks: Annotated[str, option("TOML file with your own list of subtasks (default: nine built-in subtasks)")] = ""


class MctsOptions(Options, frozen=True, kw_only=True):
    """The search's settings; the defaults are the paper's (table 6) if it states them."""

    depth: Annotated[int, option("maximum depth of the tree (8 without a reference or example)", ge=1)] = 9
    rollouts: Annotated[int, option("number of rollouts", ge=1, le=1000)] = 8
    reward: Annotated[
        Reward,
        option(
            "source of a trajectory's reward: execution (default), discussion, self_consistency, "
            "self_evaluation, or item (one of these, named by the item's field reward)",
            choices=tuple(word for word in REWARDS if word != "simulated"),
            read=_parse_reward,
            shows_default=False,
        ),
    ] = "simulated"
    selection: Annotated[Literal["uct", "uct+llm"], option("selection of nodes: uct+llm or uct alone")] = "uct+llm"
    order: Annotated[Literal["fixed", "permuted"], option("order of subtasks: fixed, or permuted for each item")] = (
        "fixed"
    )
    global_mode: Annotated[GlobalMode, option("role of the global evaluation: one more vote or the tiebreak")] = "vote"
    reward_tests: Annotated[
        Literal["per_item", "per_rollout"],
        option("when tests are executed: per_item (once, h(x)) or per_rollout (again in each rollout)"),
    ] = "per_item"
    traj_weight: Annotated[
        TrajectoryWeight,
        option(
            "weight of a trajectory: terminal (its reward), states (times its states) or node_q (its nodes' reward)"
        ),
    ] = "terminal"
    simulation: Annotated[
        Literal["steps", "nodes"],
        option("subtasks of the simulation: steps, or nodes of the tree, for later rollouts, too"),
    ] = "steps"
    alpha: Annotated[float, option("exploration constant of UCT; larger values prefer unvisited nodes", ge=0)] = 3.0
    w_u: Annotated[float, option("weight of UCT in the selection uct+llm, next to w_l", ge=0)] = 0.9
    w_l: Annotated[
        float, option("weight of the model's self-assessment in the selection uct+llm, next to w_u", ge=0)
    ] = 0.1
    epsilon: Annotated[float, option("value of the reward of a trajectory", gt=0)] = 1.1
    reuse: Annotated[
        Reuse,
        option(
            "calls that later rollouts reuse: none, history (with the same history) or subtask (of the same subtask)"
        ),
    ] = "none"
    history: Annotated[
        HistoryMode,
        option(
            "what prompts include of earlier analyses (default: none; outcomes with reuse=history)", shows_default=False
        ),
    ] = "none"
    tests: TestCaseOptions = TestCaseOptions()

    @property
    def seed(self) -> int:
        return self.tests.seed

    @property
    def needs_tests(self) -> bool:
        return self.reward in ("simulated", "item")


def mcts_options(options: Mapping[str, str], deepest: int | None = None) -> MctsOptions:
    """Parse a judge's options.

    Args:
        deepest: Number of subtasks; by default that of the built-in list.

    Raises:
        ValueError: An option is wrong.
    """
    found = parse_record(MctsOptions, options)
    deepest = deepest or len(subtask_list().subtask)
    if "depth" in options and found.depth > deepest:
        raise ValueError(f"depth: it is a whole number from 1 to {deepest}, not {found.depth}")
    if "history" not in options and found.reuse == "history":
        found = structs.replace(found, history="outcomes")
    if (found.reuse, found.history) == ("history", "none") or (found.reuse == "subtask" and found.history != "none"):
        raise ValueError(
            f"history: {found.history} can't be combined with reuse={found.reuse}, which shares calls with the same "
            "prompt"
        )
    if not found.w_u + found.w_l:
        raise ValueError("w_u: w_u and w_l are both 0, so that nothing would decide the selection")
    return structs.replace(found, depth=min(found.depth, deepest))
