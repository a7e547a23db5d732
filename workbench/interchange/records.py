"""Lines and reports of exports, and the content of archives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from workbench.core.code import NotRun

# -- Archives: their content besides rows.


ColumnType = Literal["INTEGER", "REAL", "TEXT", "BLOB"]
"""SQLite's type of a column."""
FORMAT: Final = "workbench-archive"
VERSION: Final = 1
"""Version of the archive format, apart from its tables (`Manifest.schema`)."""
_Count = Annotated[int, Meta(ge=0)]


class Member(Struct, frozen=True, kw_only=True):
    """One file of an archive, JSON Lines: one row of the database per line.

    Attributes:
        name: The file is ``NAME.jsonl``.
        columns: Content of each line, in this order. Bytes (BLOB) are base64; an infinite number is ``"Inf"`` or
            ``"-Inf"``.
        bytes: The file's length.
        sha256: Its hash, as hexadecimal digits.
    """

    name: Annotated[str, Meta(pattern="^[a-z_]{1,60}$")]
    columns: dict[str, ColumnType]
    lines: _Count
    bytes: _Count
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Manifest(Struct, frozen=True, kw_only=True):
    """``manifest.json`` of an archive.

    Attributes:
        version: See `VERSION`.
        schema: The version of the database's tables.
        code_version: Version of the program that wrote it.
        left_out: Data omitted from the archive -> amount.
        members: All other files, in the order in which they are read back.
    """

    format: Literal["workbench-archive"] = FORMAT
    version: Annotated[int, Meta(ge=1)] = VERSION
    schema: Annotated[int, Meta(ge=1)]
    code_version: str
    left_out: dict[str, int]
    members: tuple[Member, ...]


class ArchiveWritten(Struct, frozen=True, kw_only=True):
    """The contents written to an archive.

    Attributes:
        rows: Member -> lines.
        left_out: See `Manifest`.
    """

    rows: dict[str, int]
    left_out: dict[str, int]

    @property
    def written(self) -> int:
        return sum(self.rows.values())


class Restored(Struct, frozen=True, kw_only=True):
    """``workbench restore --json``.

    Attributes:
        rows: Member of an archive -> rows restored; for a backup, the corresponding member -> its rows.
        left_out: Data omitted from the archive, see `Manifest`.
        schema: Version of the tables in the archive or the backup.
        code_version: Version of the program that wrote an archive; a backup doesn't record it.
        kept: New names of the replaced database and its logs.
    """

    database: str
    rows: dict[str, int]
    left_out: dict[str, int]
    schema: int
    code_version: str | None
    kept: tuple[str, ...] = ()


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
    """The fate of the candidate completions.

    Attributes:
        candidates: Items before any condition on a verdict.
        verdicts: Verifier -> verdict (``none``: it has not judged the item) -> number of candidates.
        chosen: Items after all conditions.
        duplicates: Chosen items omitted because a completion of the same question has the same text.
        beyond: Chosen items omitted because their question already has the maximum number.
        seed: Seed of the ``per_question`` draw; None if nothing was drawn.
        questions: Questions with a line.
        gold: Gold of the written completions (``none``: there is none) -> count.
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
    """The fate of the questions.

    Attributes:
        paired: Questions with one or more pairs.
        possible: Possible pairs of different texts over all of them.
        one_kind: Questions with correct completions only, or incorrect ones only.
        undecided: Questions none of whose completions is called correct or incorrect.
        both: Texts omitted because completions with the same text are called both correct and incorrect.
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
        written: Rows.
        without_gold: Items without a label of the requested gold (in conflict, excluded, or unlabelled).
        without_tests: Solutions without a row of outcomes because their problem has no test in the suite.
        not_run: Solutions without a row of outcomes because a run has none of them.
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
    """An item whose verdict was not merged, or a problem whose evolution was not, and why.

    Attributes:
        of: The verifier's name, or the evolution's.
        completion_id: None for a problem.
    """

    of: str
    dataset: str
    question_id: str
    completion_id: str | None
    why: str


class MergedRun(Struct, kw_only=True):
    """The merged and rejected verdicts of one run.

    Attributes:
        verifier: Its name.
        shard: The shard of items that it was limited to; None if it was not.
        run: Its number here; None if nothing of it was merged.
        refused: Why nothing was merged; empty otherwise.
        taken: Verdicts that are new here.
        unchanged: Verdicts that already existed here.
        conflicting: Verdicts that differ from those here, which are kept.
        left_out: Verdicts on items that are not here, or not the same here.
        judged: Items with a verdict here now, of those requested for the run.
        items: Number of items requested for the run.
        selection: These items, in words.
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


class MergedEvolution(Struct, kw_only=True):
    """The merged and rejected steps of one evolution of tests.

    Attributes:
        refused: Why nothing of it was merged; empty otherwise.
        taken: Steps of problems that are new here.
        unchanged: Steps that already existed here.
        conflicting: Problems whose steps differ from those here, which are kept.
        left_out: Problems that are not here, or not the same here.
        begun: Problems whose evolution has begun here now.
        unbegun: Problems that can evolve here and have not begun.
    """

    name: str
    dataset: str
    refused: str = ""
    taken: int = 0
    unchanged: int = 0
    conflicting: int = 0
    left_out: int = 0
    begun: int | None = None
    unbegun: int | None = None


class MergedRuns(Struct, kw_only=True):
    """The result of merging runs; one element of ``workbench merge DB OTHER --runs --json``.

    Attributes:
        file: The other database.
        not_read: Why nothing of the file was merged; empty otherwise.
        reasons: Number of verdicts and problems that were not merged, by reason.
        items: The first of these.
        skipped: Runs that are not shared, by kind: of texts that models wrote, of verdicts that were imported.
    """

    file: str
    not_read: str = ""
    runs: list[MergedRun] = []
    evolutions: list[MergedEvolution] = []
    reasons: dict[str, int] = {}
    items: list[MergedItem] = []
    skipped: dict[str, int] = {}

    @property
    def is_whole(self) -> bool:
        refused = [run.refused for run in self.runs] + [evolution.refused for evolution in self.evolutions]
        return not (self.not_read or self.reasons or any(refused))

    def name(self, of: str, place: Sequence[str | None], why: str) -> None:
        """Record what was not merged: its data set, its question and, of an item, its completion."""
        self.reasons[why] = self.reasons.get(why, 0) + 1
        if len(self.items) < NAMED:
            dataset, question, completion = place
            self.items.append(
                MergedItem(of=of, dataset=str(dataset), question_id=str(question), completion_id=completion, why=why)
            )
