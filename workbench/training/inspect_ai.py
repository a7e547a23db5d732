"""An Inspect scorer: ``Task(..., scorer=judged())``, or ``inspect score LOG --scorer workbench/judged``."""

from __future__ import annotations

from itertools import chain, count
from string import ascii_uppercase
from typing import Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from inspect_ai.scorer import Score, Scorer, Target, accuracy, mean, scorer, stderr  # type: ignore[import-not-found]
from inspect_ai.solver import TaskState  # type: ignore[import-not-found]

from workbench.training.judging import MAX_CONCURRENT, judging_by, verdict_fields


@scorer(metrics={"acc": [accuracy(), stderr()], "undecided": [mean()]})  # type: ignore[untyped-decorator]
def judged(type: str | None = None, verifier: str = "rules", settings: dict[str, Any] | None = None) -> Scorer:
    """Score whether the completion matches any of the sample's targets, or all for a sample with choices.

    Args:
        type: The answers' subtype, if all have the same.
        verifier: See `workbench.reward`; if it runs solutions, the targets are tests, and all must pass.
        settings: Other arguments of `workbench.reward`, such as ``{"database": "p.db", "deadline": 60}``.
    """
    judging = judging_by(verifier, settings)
    limiter: list[CapacityLimiter] = []

    async def score(state: TaskState, target: Target) -> Score:
        if not limiter:
            limiter.append(CapacityLimiter(MAX_CONCURRENT))
        reference = ", ".join(target) if state.choices else list(target)
        asked = reference, state.output.completion, _question(state), type
        verdict = await run_sync(judging.verdict, *asked, limiter=limiter[0])
        fields: dict[str, Any] = verdict_fields(verdict)
        why = fields.pop("sentence")
        return Score(value=judging.figures([verdict]), answer=verdict.candidate_final, explanation=why, metadata=fields)

    return score


def _question(state: TaskState) -> str:
    letters = chain(ascii_uppercase, map(str, count(1)))
    choices = sorted(state.choices, key=lambda choice: choice.original_position)
    options = (f"({letter}) {one.value}" for letter, one in zip(letters, choices, strict=False))
    return "\n".join([state.input_text, *options])
