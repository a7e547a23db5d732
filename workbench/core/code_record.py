"""Code problems and solutions as files hold them, checked and ready to store."""

from __future__ import annotations

from msgspec import Struct

from workbench.core.code import Problem, SolutionForm
from workbench.core.item import ItemRecord, QuestionRecord


class ProblemRecord(Struct, kw_only=True, gc=False):
    """One problem of a file.

    Attributes:
        line: Line number from 1 (for Parquet and JSON arrays: the element's number).
        raw: The row's bytes as read, kept in quarantine should it contradict a stored problem.
        problem: Its texts and its tests.
        source: The benchmark it is from, as ``code/name``; None where the file doesn't say.
        extra: JSON object of the keys we do not know; or None.
    """

    line: int
    raw: bytes
    problem: Problem
    source: str | None = None
    extra: str | None = None


class SolutionRecord(Struct, kw_only=True, gc=False):
    """One solution of a problem.

    Attributes:
        line: Line number from 1 (for Parquet and JSON arrays: the element's number); 0 where it is from no file.
        raw: The row's bytes as read.
        task_id: The problem's id.
        solution_id: Its own id among the problem's solutions.
        code: The text as the file has it.
        form: What the text is.
        gold: Whether the file says that it passes all tests; None where it doesn't say.
        model: Who wrote it, if the file says so.
        ground_truth: It stands for the true answer where solutions are ranked (rank 1).
        extra: JSON object of the keys we do not know; or None.
    """

    line: int = 0
    raw: bytes = b""
    task_id: str
    solution_id: str
    code: str
    form: SolutionForm = "program"
    gold: bool | None = None
    model: str | None = None
    ground_truth: bool = False
    extra: str | None = None

    @property
    def key(self) -> str:
        """Its id in the whole data set."""
        return f"{self.task_id}/{self.solution_id}"


CodeRecord = ProblemRecord | SolutionRecord
"""What a file of code holds."""

Record = ItemRecord | QuestionRecord | CodeRecord
"""What is imported."""
