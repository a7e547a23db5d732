"""Samples as HumanEval's and EvalPlus' commands take them: a task and what a model wrote for it, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable

from workbench.core.code import SolutionForm
from workbench.core.code_record import SolutionRecord
from workbench.data.formats.code.row import CodeRow, missing
from workbench.data.formats.fields import FIELDS

_FORMS: dict[str, SolutionForm] = {"solution": "program", "completion": "continuation", "response": "reply"}


def fits(keys: Collection[str]) -> bool:
    """Whether a file with these keys is one of samples: one that has references holds items."""
    return "task_id" in keys and not _FORMS.keys().isdisjoint(keys) and set(FIELDS["reference"]).isdisjoint(keys)


def numbering() -> Callable[[CodeRow], Iterable[SolutionRecord]]:
    """A function that reads the rows of one file; samples without an id are numbered from 0 within their task."""
    seen: Counter[str] = Counter()

    def read(row: CodeRow) -> Iterable[SolutionRecord]:
        task_id = row.identifier("task_id")
        number = row.maybe_identifier("solution_id", "sample_id") or str(seen[task_id])
        seen[task_id] += 1
        row.leave("_identifier")
        text, form = _text(row)
        yield SolutionRecord(
            line=row.line,
            raw=row.raw,
            task_id=task_id,
            solution_id=number,
            code=text,
            form=form,
            gold=row.truth("passed", "recorded_pass"),
            model=row.maybe_text("model", "model_name"),
            extra=row.extra(),
        )

    return read


def _text(row: CodeRow) -> tuple[str, SolutionForm]:
    for key, form in _FORMS.items():
        text = row.maybe_text(key)
        if text is not None:
            return text, form
    raise missing(*_FORMS)
