"""An Inspect scorer: ``Task(..., scorer=judged())``, or ``inspect score LOG --scorer workbench/judged``."""

from __future__ import annotations

from itertools import chain, count
from string import ascii_uppercase
from typing import Any

from anyio.to_thread import run_sync
from inspect_ai.scorer import Score, Scorer, Target, accuracy, mean, scorer, stderr  # type: ignore[import-not-found]
from inspect_ai.solver import TaskState  # type: ignore[import-not-found]

from workbench.training.judging import figures, judge, said_of


@scorer(metrics={"acc": [accuracy(), stderr()], "undecided": [mean()]})  # type: ignore[untyped-decorator]
def judged(type: str | None = None) -> Scorer:
    """Whether the completion is correct, by `rules`; any of the sample's targets will do, of a sample with choices all.

    Args:
        type: The answers' subtype, if all are of one.
    """

    async def score(state: TaskState, target: Target) -> Score:
        reference = ", ".join(target) if state.choices else list(target)
        verdict = await run_sync(judge, reference, state.output.completion, _question(state), type)
        said: dict[str, Any] = said_of(verdict)
        why = said.pop("sentence")
        return Score(value=figures([verdict]), answer=verdict.candidate_final, explanation=why, metadata=said)

    return score


def _question(state: TaskState) -> str:
    """What is asked, with the choices in the order that the target and the log speak of."""
    letters = chain(ascii_uppercase, map(str, count(1)))
    choices = sorted(state.choices, key=lambda choice: choice.original_position)
    options = (f"({letter}) {one.value}" for letter, one in zip(letters, choices, strict=False))
    return "\n".join([state.input_text, *options])
