"""What a log's own graders said of its completions, stored as verdicts of imported verifiers."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from workbench.core.item import ItemRecord, Refusal
from workbench.core.project import Project
from workbench.core.run import VerdictRow, VerdictsImported
from workbench.data.formats.logs.logged import Grade
from workbench.data.formats.reading import FilePlan, read_grades
from workbench.runs.verdict_files import store_verdicts


def store_grades(
    project: Project, plan: FilePlan, dataset: str, refused: Collection[int], *, version: str
) -> VerdictsImported:
    """Store the grades of a log whose items stand; those that are there already stay.

    Args:
        refused: Lines in quarantine. Their ids may be those of other items: their grades are refused, too.
        version: Of the graders.

    Raises:
        FormatError: The file can't be read as what it is.
    """
    return store_verdicts(project, _rows(plan, dataset, refused), version=version)


def _rows(plan: FilePlan, dataset: str, refused: Collection[int]) -> Iterator[tuple[int, VerdictRow | Refusal]]:
    for item, grades in read_grades(plan):
        for grade in grades:
            yield item.line, _refusal(item, grade) if item.line in refused else _row(item, dataset, grade)


def _row(item: ItemRecord, dataset: str, grade: Grade) -> VerdictRow:
    return VerdictRow(
        completion_id=item.completion_key,
        question_id=item.question_key,
        dataset=dataset,
        verifier=grade.verifier,
        verdict=grade.verdict,
        score=grade.score,
        reason=grade.reason,
        candidate_final=grade.answer,
        detail=grade.detail,
    )


def _refusal(item: ItemRecord, grade: Grade) -> Refusal:
    message = f"the row stands in quarantine, and with it the verdict of {grade.verifier}"
    return Refusal(line=item.line, code="conflict", field="verdict", message=message, raw=b"")
