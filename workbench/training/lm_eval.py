"""An lm-evaluation-harness task's ``process_results``, for ``utils.py`` beside its YAML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.training.judging import figures, judge

ProcessResults = Callable[[Mapping[str, Any], Sequence[Any]], dict[str, float]]


def judged(question: str = "question", reference: str = "answer", type: str | None = None) -> ProcessResults:
    """The metrics ``acc`` and ``undecided`` of a document's completion, by `rules`; the mean where it has several.

    Args:
        question: The documents' field with the question.
        reference: Their field with the reference answer, or a list of which any will do.
        type: The answers' subtype, if all are of one.
    """

    def process_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, float]:
        first = results[0]
        completions = [first] if isinstance(first, str) else first
        return figures([judge(doc[reference], one, doc[question], type) for one in completions])

    return process_results
