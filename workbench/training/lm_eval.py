"""Implement an lm-evaluation-harness task's ``process_results``, for ``utils.py`` next to its YAML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.training.judging import judging_by

ProcessResults = Callable[[Mapping[str, Any], Sequence[Any]], dict[str, float]]


def judged(
    question: str = "question",
    reference: str = "answer",
    type: str | None = None,
    verifier: str = "rules",
    **settings: Any,
) -> ProcessResults:
    """Return the metrics ``acc`` and ``undecided`` of a document: the mean over its completions.

    Args:
        question: The documents' field with the question.
        reference: Their field with the reference answer or a list of alternatives; for a verifier that runs solutions,
            with the tests (documents may also have ``entry_point`` etc.).
        type: The answers' subtype, if all have the same.
        verifier: See `workbench.reward`.
        **settings: Other arguments of `workbench.reward`, such as ``database`` and ``deadline``.
    """
    judging = judging_by(verifier, settings)

    def process_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, float]:
        first = results[0]
        completions = [first] if isinstance(first, str) else first
        wanted = judging.reference_in(doc, reference)
        return judging.figures([judging.verdict(wanted, one, doc[question], type) for one in completions])

    return process_results
