"""Requests and answers of the reward server."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from workbench.core.code import TestLine
from workbench.core.verdict import OutcomeWord

Readiness = Literal["starting", "ready", "waiting", "failed", "stopping"]


class RewardItem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One completion to judge: the body of ``POST /reward``.

    Attributes:
        reference: The reference answer.
        subtype: The answer subtype's code or name, such as ``"B5"`` or ``"Matrix"``, if it is known.
        id: Comes back with the answer.
    """

    question: str = ""
    reference: str
    completion: str
    subtype: str | None = None
    id: str | int | None = None


class RewardBatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Several of them: also a body of ``POST /reward``."""

    items: list[RewardItem]


class TestCounts(Struct, frozen=True, kw_only=True):
    """The results of a completion's tests.

    Attributes:
        passed: Tests that passed, of ``total``.
        forgeable: Of these, passes that a program which knows how could forge.
    """

    passed: int
    total: int
    forgeable: int


class RewardAnswer(Struct, frozen=True, kw_only=True):
    """The answer on one completion.

    Attributes:
        id: The item's.
        reward: 1.0 for "correct", 0.0 for "incorrect", what the server was told for an undecided one; the verifier's
            own score where the server was told to give that.
        score: The verifier's own number, if it has one.
        reason: A bare code: why it abstained or failed, or what decided it.
        rule: The rule that fired.
        ms: Wall time the verifier spent on it, in milliseconds.
        tests: Where it was run.
    """

    id: str | int | None
    reward: float | None
    verdict: OutcomeWord
    score: float | None
    reason: str | None
    rule: str | None
    ms: float
    tests: TestCounts | UnsetType = UNSET


class RewardAnswers(Struct, frozen=True, kw_only=True):
    """The answers on a batch, in its order."""

    items: list[RewardAnswer]


_Value = str | int | float
"""A text, or a number that stands for one."""

_Turns = str | list[dict[str, Any]]
"""A text, or a conversation: messages with role and content."""


class TrlRequest(Struct, frozen=True, kw_only=True):
    """The body of ``POST /trl``: the arguments of a reward function of TRL, with one of the columns of references.

    Attributes:
        prompts: Texts or conversations.
        completions: As many texts or conversations.
        question: The questions, where the prompts are more than that.
        tests: What completions are run against, in the place of references, where the verifier is ``execution``.
        entry_point: What the tests call.
        setup: Code between a completion and each test.
        pass_rates: The share of solutions that passes each test.
    """

    prompts: list[_Turns]
    completions: list[_Turns]
    reference: list[_Value | None] | UnsetType = UNSET
    ground_truth: list[_Value | None] | UnsetType = UNSET
    solution: list[_Value | None] | UnsetType = UNSET
    answer: list[_Value | None] | UnsetType = UNSET
    question: list[_Value] | UnsetType = UNSET
    subtype: list[str | None] | UnsetType = UNSET
    tests: list[list[TestLine] | str | None] | UnsetType = UNSET
    entry_point: list[str | None] | UnsetType = UNSET
    setup: list[str | None] | UnsetType = UNSET
    pass_rates: list[list[float] | None] | UnsetType = UNSET


class TrlRewards(Struct, frozen=True, kw_only=True):
    """The answer of ``POST /trl``: what a reward function of TRL returns."""

    rewards: list[float | None]


class VerlExtra(Struct, frozen=True, kw_only=True):
    """The fields of verl's ``extra_info`` that are used."""

    question: _Value | None = None
    subtype: str | None = None


class VerlRequest(Struct, frozen=True, kw_only=True):
    """A body of ``POST /verl``: the arguments of ``compute_score``."""

    solution_str: _Value
    ground_truth: _Value
    extra_info: VerlExtra | None = None


class VerlBatch(Struct, frozen=True, kw_only=True):
    """A body of ``POST /verl``: the arguments of ``compute_score`` as the batch reward manager gives them."""

    solution_strs: list[_Value]
    ground_truths: list[_Value]
    extra_infos: list[VerlExtra | None] | None = None


class VerlScore(Struct, frozen=True, kw_only=True):
    """The answer of ``POST /verl``: what ``compute_score`` returns; the same fields whatever the verdict.

    Attributes:
        score: The reward.
        acc: 1.0 for "correct", else 0.0.
        undecided: 1.0 for an abstention or an error, else 0.0.
        reason: A bare code, or empty.
    """

    score: float
    acc: float
    undecided: float
    verdict: OutcomeWord
    reason: str


class VerlScores(Struct, frozen=True, kw_only=True):
    """The answer of ``POST /verl`` to a batch, in its order."""

    scores: list[VerlScore]


class OpenRlhfRequest(Struct, frozen=True, kw_only=True):
    """The body of ``POST /openrlhf``: what OpenRLHF posts to a remote reward model.

    Attributes:
        query: Prompts with their completions behind them.
        labels: The references.
    """

    query: list[str]
    prompts: list[str]
    labels: list[_Value]


class OpenRlhfRewards(Struct, frozen=True, kw_only=True):
    """The answer of ``POST /openrlhf``: what OpenRLHF's remote reward model returns.

    Attributes:
        scores: The same numbers: what dynamic filtering looks at.
        extra_logs: ``"undecided"``: 1.0 for an abstention or an error, else 0.0.
    """

    rewards: list[float]
    scores: list[float]
    extra_logs: dict[str, list[float]]


class ProbeSummary(Struct, frozen=True, kw_only=True):
    """How often the verifier accepted empty or meaningless answers in its last probe.

    Attributes:
        suite: The version of the payloads.
        control: Share of right answers that it accepted.
        accepted: Share of probes that it accepted, by family; None where no probe got a verdict.
    """

    suite: str
    created_at: str
    control: float | None
    accepted: dict[str, float | None]


class RewardHealth(Struct, frozen=True, kw_only=True):
    """The answer of ``GET /health``, of all processes that serve; its status is 200 when items are taken, else 503.

    Attributes:
        live: Always true: the server answers.
        ready: Whether it takes items: all its processes do.
        state: The workers load; it takes items; nothing can be stored for the time being, and it goes on by itself; the
            workers can't start, or no call to a model server can succeed; it finishes what it has accepted.
        trouble: Why nothing can be judged; None while it can.
        waiting: Items accepted and not answered that are not decided at once.
        processes: How many serve on the port.
        identity: A hash of the verifier's kind and configuration.
        probe: None where the verifier was never probed, or the server has no database.
    """

    live: bool
    ready: bool
    state: Readiness
    trouble: str | None
    verifier: str
    version: str
    waiting: int
    processes: int
    identity: str
    probe: ProbeSummary | None


class RewardRefusal(Struct, frozen=True, kw_only=True):
    """The answer to a rejected request; 429 and 503 come with ``Retry-After``.

    Attributes:
        field: Where the body is wrong, such as ``items[3].reference``.
    """

    error: str
    field: str | None = None
