"""Calls to model servers as people see them: what a verdict rests on, what may have been paid, what is to come."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from workbench.core.verdict import OutcomeWord


class OpenAttempt(Struct, frozen=True, kw_only=True):
    """A call that may have been paid for, although no reply came: its runner ended first.

    Attributes:
        completion_id: The item's own id; None where it is about none (a probe, a text that is written).
        attempt: The attempt's number.
        sent_at: UTC, ISO 8601.
    """

    completion_id: str | None
    attempt: int
    sent_at: str
    url: str


class CallShown(Struct, frozen=True, kw_only=True):
    """One call of a verdict, as a transcript shows it.

    Attributes:
        step: What it was for, such as ``"analyse"``.
        role: Which of the verifier's servers was asked.
        sample: Tells apart independent replies to one request.
        request: The request's body as it was sent.
        response: The response's body as it came.
        text: What the model said; "" where it gave numbers.
        reasoning: What it thought, where the server keeps that apart.
        scores: The numbers it gave, for a reward model.
        finish_reason: ``"stop"``, ``"length"`` ...
        ms: From sending to the last byte, in milliseconds.
        reused: The reply was there already.
        origin: Where a recorded reply comes from; None for a live one.
        created_at: When the reply was stored.
        cost: In US dollars; None when nobody knows.
    """

    step: str
    role: str
    sample: int
    profile: str
    model: str
    request: str
    response: str
    text: str
    reasoning: str | None
    scores: list[float]
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cost: float | None
    ms: float
    reused: bool
    origin: str | None
    created_at: str


class Vote(Struct, frozen=True, kw_only=True):
    """One of the verdicts that a verdict was made of."""

    verdict: OutcomeWord
    score: float | None
    reason: str | None


class Transcript(Struct, frozen=True, kw_only=True):
    """How a verdict came about.

    Attributes:
        calls: What was asked and answered, in order.
        votes: The verdicts it was made of, in their order; empty for a single one.
        trace: The verifier's own account (a tree, a list of tests ...).
    """

    completion_id: str
    question_id: str
    dataset: str
    verifier: str
    run: int
    verdict: OutcomeWord
    score: float | None
    reason: str | None
    detail: str | None
    calls: list[CallShown]
    votes: list[Vote]
    trace: dict[str, Any] | None


class Amount(Struct, frozen=True, kw_only=True):
    """Calls, and what they take.

    Attributes:
        tokens: Prompt and completion tokens.
        cost: US dollars; None when nobody knows.
    """

    calls: int
    tokens: int
    cost: float | None


class Estimate(Struct, frozen=True, kw_only=True):
    """What a run is about to use, when no reply is stored.

    Attributes:
        items: Items without a verdict.
        stored: Items that have one already.
        calls: Calls those without take.
        prompt_tokens: About so many tokens the model reads.
        completion_tokens: At most so many it says.
        cost: US dollars at most; None when a model has no price.
    """

    items: int
    stored: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


class RunCosts(Struct, frozen=True, kw_only=True):
    """What a run has used, may have used and still needs.

    Attributes:
        attempts: Calls by state: ``unsent``, ``sent`` (no outcome: in flight, or possibly paid), ``failed``, ``done``.
        ambiguous: Calls that may have been paid for although no reply came.
        spent: Calls with a reply.
        possibly_spent: Calls without one that may have been paid for, at the mean of those with a reply.
        to_finish: What the items without a verdict need at that mean; None before there is any.
    """

    attempts: dict[str, int]
    ambiguous: list[OpenAttempt]
    spent: Amount
    possibly_spent: Amount
    to_finish: Amount | None
