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
        id: An identifier that is returned with the answer.
    """

    question: str = ""
    reference: str
    completion: str
    subtype: str | None = None
    id: str | int | None = None


class RewardBatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Several items: also a body of ``POST /reward``."""

    items: list[RewardItem]


class TestCounts(Struct, frozen=True, kw_only=True):
    """The results of a completion's tests.

    Attributes:
        passed: Number of tests that passed, of ``total``.
        forgeable: Number of those passes that a malicious program could forge.
    """

    passed: int
    total: int
    forgeable: int


class RewardAnswer(Struct, frozen=True, kw_only=True):
    """The answer on one completion.

    Attributes:
        id: The item's identifier.
        reward: 1.0 for "correct", 0.0 for "incorrect", the configured value for an undecided verdict; the verifier's
            score if the server is configured to return it.
        score: The verifier's score, if it has one.
        reason: A code: why the verifier abstained or failed, or what decided the verdict.
        rule: The rule that fired.
        ms: Wall time the verifier spent on it, in milliseconds.
        tests: The test results, if the completion was run.
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
"""A text, or a number that is converted to text."""

_Turns = str | list[dict[str, Any]]
"""A text, or a conversation: messages with role and content."""


class TrlRequest(Struct, frozen=True, kw_only=True):
    """The body of ``POST /trl``: the arguments of a reward function of TRL, with one of the columns of references.

    Attributes:
        prompts: Texts or conversations.
        completions: Texts or conversations, one for each prompt.
        question: The questions, if the prompts contain more than the question.
        tests: The tests, which replace the references if the verifier is ``execution``.
        entry_point: The name of the function that the tests call.
        setup: Code to run between a completion and each test.
        pass_rates: The share of solutions that pass each test.
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
    """A body of ``POST /verl``: the arguments of ``compute_score`` as verl's batch reward manager sends them."""

    solution_strs: list[_Value]
    ground_truths: list[_Value]
    extra_infos: list[VerlExtra | None] | None = None


class VerlScore(Struct, frozen=True, kw_only=True):
    """The answer of ``POST /verl``: what ``compute_score`` returns; the fields are the same for every verdict.

    Attributes:
        score: The reward.
        acc: 1.0 for "correct", else 0.0.
        undecided: 1.0 for an abstention or an error, else 0.0.
        reason: A code, or empty.
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
        query: Prompts, each followed by its completion.
        labels: The references.
    """

    query: list[str]
    prompts: list[str]
    labels: list[_Value]


class OpenRlhfRewards(Struct, frozen=True, kw_only=True):
    """The answer of ``POST /openrlhf``: what OpenRLHF's remote reward model returns.

    Attributes:
        scores: The rewards again, which OpenRLHF uses for dynamic filtering.
        extra_logs: ``"undecided"``: 1.0 for an abstention or an error, else 0.0.
    """

    rewards: list[float]
    scores: list[float]
    extra_logs: dict[str, list[float]]


class ProbeSummary(Struct, frozen=True, kw_only=True):
    """The share of empty or meaningless answers that the verifier accepted in its last probe.

    Attributes:
        suite: The version of the payloads.
        control: Share of correct answers that the verifier accepted.
        accepted: Share of probes that the verifier accepted, by family; None if no probe got a verdict.
    """

    suite: str
    created_at: str
    control: float | None
    accepted: dict[str, float | None]


class RewardHealth(Struct, frozen=True, kw_only=True):
    """The answer of ``GET /health`` for all server processes; its status is 200 when items are accepted, else 503.

    Attributes:
        live: Always true: the server answers.
        ready: Whether all server processes accept items.
        state: Loading workers; accepting items; temporarily unable to store (it recovers by itself); unable to start
            workers or to call model servers; or finishing accepted items.
        trouble: Why items can't be judged; None if they can.
        waiting: Accepted items that wait for a worker or a model server.
        processes: Number of processes that serve the port.
        identity: A hash of the verifier's kind and configuration.
        probe: The verifier's last probe; None without a probe or a database.
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
        field: The invalid field of the body, such as ``items[3].reference``.
    """

    error: str
    field: str | None = None
