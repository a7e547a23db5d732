"""Lines and reports of exports and archives."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from workbench.core.code import NotRun


class ArchiveWritten(Struct, frozen=True, kw_only=True):
    """The contents written to an archive.

    Attributes:
        rows: Part of the archive, such as ``items`` -> its number of rows.
        left_out: Kind of data omitted from the archive -> number of rows.
    """

    rows: dict[str, int]
    left_out: dict[str, int]

    @property
    def written(self) -> int:
        return sum(self.rows.values())


class Restored(Struct, frozen=True, kw_only=True):
    """``workbench restore --json``.

    Attributes:
        rows: Part of an archive -> number of restored rows.
        schema: Version of the tables in the backup.
        beyond: Number of label events in the journal next to the database that the backup lacks.
        kept: New names of the replaced database, its logs, and a journal that lacks labels of the backup.
    """

    database: str
    rows: dict[str, int]
    schema: int
    beyond: int = 0
    kept: tuple[str, ...] = ()

    @property
    def journal(self) -> str:
        """Return the path of the journal with the events that the backup lacks: under its new name if it was kept."""
        end = ".labels.jsonl"
        return next((place for place in self.kept if place.endswith(end)), f"{self.database}{end}")


class Message(Struct, frozen=True):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class SftLine(Struct, frozen=True, kw_only=True):
    """One line of ``--format sft``: a conversation to train on; the other keys record its origin.

    Attributes:
        messages: The question and the completion, after the system text if there is one.
        model: Empty if unknown, as is ``source``: loaders infer a column's type from its first rows.
        verifiers: Verifiers that call the completion correct, if requested.
    """

    messages: tuple[Message, ...]
    dataset: str
    question_id: str
    completion_id: str
    model: str
    source: str
    reference: str
    verifiers: tuple[str, ...]


class PairLine(Struct, frozen=True, kw_only=True):
    """One line of ``--format pairs``: a question with a correct and an incorrect completion.

    Attributes:
        verifiers: Verifiers whose verdicts decide; empty if gold does.
        chosen_model: Empty if unknown, as are ``rejected_model`` and ``source``; see `SftLine`.
    """

    question: str
    reference: str
    chosen: str
    rejected: str
    dataset: str
    question_id: str
    chosen_id: str
    rejected_id: str
    chosen_model: str
    rejected_model: str
    source: str
    verifiers: tuple[str, ...]


class SftReport(Struct, frozen=True, kw_only=True):
    """The numbers of candidate completions that were written, and that were omitted by reason.

    Attributes:
        candidates: Number of items before any condition on a verdict.
        verdicts: Verifier -> verdict (``none``: it has not judged the item) -> number of candidates.
        chosen: Number of items that meet all conditions.
        duplicates: Number of chosen items omitted because a completion of the same question has the same text.
        beyond: Number of chosen items omitted because their question already has the maximum number.
        seed: Seed of the ``per_question`` draw; None if nothing was drawn.
        questions: Number of questions with a line.
        gold: Gold label (``none`` if there is none) -> number of written completions.
    """

    candidates: int
    verdicts: dict[str, dict[str, int]]
    chosen: int
    duplicates: int
    beyond: int
    per_question: int | None
    seed: int | None
    questions: int
    gold: dict[str, int]


class PairsReport(Struct, frozen=True, kw_only=True):
    """The number of questions with pairs, and the reasons why others have none.

    Attributes:
        questions: Number of questions.
        paired: Number of questions with one or more pairs.
        possible: Number of possible pairs of different texts, over all questions.
        one_kind: Number of questions with correct completions only, or incorrect ones only.
        undecided: Number of questions none of whose completions is called correct or incorrect.
        both: Number of texts omitted because completions with the same text are called both correct and incorrect.
        per_question: Maximum number of pairs per question.
        seed: Seed of the draw.
        verifiers: Verifiers whose verdicts define correctness; empty if gold does.
    """

    questions: int
    paired: int
    possible: int
    one_kind: int
    undecided: int
    both: int
    per_question: int
    seed: int
    verifiers: tuple[str, ...]


class ExportReport(Struct, frozen=True, kw_only=True):
    """The result of ``workbench export --json``.

    Attributes:
        written: Number of rows written.
        without_gold: Number of items without the requested gold label (in conflict, excluded, or unlabelled).
        without_tests: Number of solutions without a row of outcomes because their problem has no test in the suite.
        not_run: Solutions without a row of outcomes because a run has no outcomes of them, by run.
    """

    written: int
    file: str
    format: str
    table: str
    without_gold: int = 0
    without_tests: int = 0
    not_run: tuple[NotRun, ...] = ()
    sft: SftReport | UnsetType = UNSET
    pairs: PairsReport | UnsetType = UNSET
    archive: ArchiveWritten | UnsetType = UNSET
