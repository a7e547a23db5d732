"""Lines and reports of exports, archives and merges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

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


# -- The report on merging runs of other databases.


NAMED: Final = 1_000
"""Maximum number of items that a report names; all are counted."""


class MergedItem(Struct, frozen=True, kw_only=True):
    """An item whose verdict was not merged, and why.

    Attributes:
        of: The name of the verifier.
        completion_id: The completion's own id.
    """

    of: str
    dataset: str
    question_id: str
    completion_id: str | None
    why: str


class MergedRun(Struct, kw_only=True):
    """The merged and rejected verdicts of one run.

    Attributes:
        verifier: The verifier's name.
        shard: The shard of items that it was limited to; None if it was not.
        run: The run's number here; None if nothing of it was merged.
        refused: Why nothing was merged; empty otherwise.
        taken: Number of verdicts that are new here.
        unchanged: Number of verdicts that already existed here.
        conflicting: Number of verdicts that differ from those here, which are kept.
        left_out: Number of verdicts on items that don't exist here, or that differ here.
        judged: Number of items requested for the run that have a verdict here now.
        items: Number of items requested for the run.
        selection: A description of the requested items.
    """

    verifier: str
    version: str
    shard: str | None = None
    run: int | None = None
    refused: str = ""
    taken: int = 0
    unchanged: int = 0
    conflicting: int = 0
    left_out: int = 0
    judged: int | None = None
    items: int | None = None
    selection: str | None = None


class MergedRuns(Struct, kw_only=True):
    """The result of merging runs; one element of ``workbench merge DB OTHER --runs --json``.

    Attributes:
        file: The other database.
        not_read: Why nothing of the file was merged; empty otherwise.
        reasons: Number of verdicts that were not merged, by reason.
        items: The first of the items that were not merged.
        skipped: Number of runs that can't be merged, by kind: runs of generated texts, and of imported verdicts.
    """

    file: str
    not_read: str = ""
    runs: list[MergedRun] = []
    reasons: dict[str, int] = {}
    items: list[MergedItem] = []
    skipped: dict[str, int] = {}

    @property
    def is_whole(self) -> bool:
        return not (self.not_read or self.reasons or any(run.refused for run in self.runs))

    def add_left_out(self, of: str, place: Sequence[str | None], why: str) -> None:
        """Record what was not merged; ``place`` has the names of its data set, question and completion."""
        self.reasons[why] = self.reasons.get(why, 0) + 1
        if len(self.items) < NAMED:
            dataset, question, completion = place
            self.items.append(
                MergedItem(of=of, dataset=str(dataset), question_id=str(question), completion_id=completion, why=why)
            )
