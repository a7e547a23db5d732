"""Completions that models write of stored questions: what they will take, and what came of it."""

from __future__ import annotations

from msgspec import Struct


class Expected(Struct, frozen=True, kw_only=True):
    """A figure that is not known before.

    Attributes:
        usual: As replies were up to now, or as is assumed.
        most: If every reply is as long as it may be; None where nothing limits it.
    """

    usual: float
    most: float | None


class ModelPlan(Struct, frozen=True, kw_only=True):
    """What a model will take.

    Attributes:
        model: Its name in the plan.
        questions: How many it is asked.
        samples: Completions of each.
        there: Completions that are in the data set.
        stored: Replies that are stored and only have to join it.
        failed: Calls that failed for good and are not made again, by code.
        calls: Calls still to make.
        prompt_tokens: Of these calls, estimated as a token for four bytes of the request.
        completion_tokens: Of their replies.
        reply_tokens: Tokens of a usual reply that this rests on.
        measured: Whether that is the mean of its replies up to now; else it is assumed.
        cost: In US dollars; None where the price is not known.
        seconds: At the configured rpm and tpm; None where neither is set.
    """

    model: str
    questions: int
    samples: int
    there: int
    stored: int
    failed: dict[str, int]
    calls: int
    prompt_tokens: int
    completion_tokens: Expected
    reply_tokens: float
    measured: bool
    cost: Expected | None
    seconds: float | None


class PlanTotal(Struct, frozen=True, kw_only=True):
    """All models together.

    Attributes:
        completions: How many there will be.
        cost: Of the models whose price is known; None where there is none with calls to make.
        unpriced: Models with calls to make whose price is not known.
        seconds: Of the slowest one whose rate is configured; all run at a time.
    """

    models: int
    completions: int
    there: int
    stored: int
    failed: int
    calls: int
    prompt_tokens: int
    completion_tokens: Expected
    cost: Expected | None
    unpriced: int
    seconds: float | None


class CompletionsPlanned(Struct, frozen=True, kw_only=True):
    """What a plan of completions means; also ``workbench complete --dry-run --json``.

    Attributes:
        set: The set of questions, with its version; None where a whole data set is asked.
        missing: Models without all of their completions.
    """

    set: str | None
    dataset: str | None
    questions: int
    models: tuple[ModelPlan, ...]
    total: PlanTotal
    max_cost: float | None
    missing: tuple[str, ...]


class ModelWritten(Struct, frozen=True, kw_only=True):
    """What a model has written.

    Attributes:
        run: Its run, whose calls and costs ``workbench runs show`` has.
        wanted: Completions that it is to write in all.
        there: Those that are in the data set.
        truncated: Those of them that were cut off by their longest length.
        failed: Calls that failed for good, by code; ``--retry-errors`` makes them again.
        unasked: Calls that were not made, or may go better the next time.
        details: What was said about the first failures of this start.
        halted: Why it stopped; None if it didn't.
        calls, prompt_tokens, completion_tokens: Of its run, over all starts.
        cost: In US dollars, as far as it is known.
        unpriced: Replies whose cost nobody knows.
    """

    model: str
    run: int
    wanted: int
    there: int
    truncated: int
    failed: dict[str, int]
    unasked: int
    details: tuple[str, ...]
    halted: str | None
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    unpriced: int


class CompletionsWritten(Struct, frozen=True, kw_only=True):
    """What came of a plan of completions; also ``workbench complete --json``.

    Attributes:
        written: Completions that are new.
        missing: Models without all of their completions.
        warnings: What could not be done as asked.
    """

    set: str | None
    dataset: str | None
    questions: int
    written: int
    models: tuple[ModelWritten, ...]
    missing: tuple[str, ...]
    warnings: tuple[str, ...]
