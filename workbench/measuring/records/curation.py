"""Records of a pool of questions and of its curation: duplicates, exclusions, answer types, drawn questions."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from workbench.core.options import Options, option
from workbench.core.sets import SetReport
from workbench.core.taxonomy import TypeReport

DUPLICATE: Final = "duplicate"
"""The reason of an excluded near-duplicate; people's reasons are `EXCLUSION_REASONS`."""

UNREADABLE: Final = "unreadable"
"""The reason of a missing type if the reply could not be parsed."""

TypeOrigin = Literal["people", "file", "one person", "model"]
"""The origin of a type. Resolved types and types from the file count everywhere; one person's types and proposals of
models count only in draws, until they are accepted.
"""

COUNTING: Final = ("people", "file")
"""Origins whose types count everywhere."""
"""The origin of a question's answer type: annotators override the file, and the file overrides a model's proposal."""


class Scope(Options, frozen=True, kw_only=True):
    """A selection of questions of the pool, which never includes code problems."""

    dataset: Annotated[str | None, option("Use only questions of this data set.", "--dataset", metavar="NAME")] = None
    source: Annotated[str | None, option("Use only questions of this source.", "--source", metavar="DOMAIN/NAME")] = (
        None
    )


class PoolQuestion(Struct, frozen=True, kw_only=True):
    """A question of the pool and its properties.

    Attributes:
        licence: The licence of its source; None if unknown.
        file_type: The code of the subtype in its file, or of the type if the file has no subtype.
        people_type: The resolved subtype: agreed by annotators, or decided or accepted by a third person.
        said_alone: The subtype chosen by the only annotator so far.
        disputed: Whether annotators disagree and nobody has decided yet.
        proposed: The subtype newly proposed by a model.
        outside: Why the newest proposal has no type, such as ``proof``.
        out: Why the question is excluded; None if it is not.
        complete: How many of these the question has, 0 to 5: completions, a type, a source, a licence, a reference.
    """

    id: int
    dataset: str
    key: str
    source: str | None
    domain: str | None
    licence: str | None
    file_type: str | None
    people_type: str | None
    said_alone: str | None
    disputed: bool
    proposed: str | None
    outside: str | None
    out: str | None
    complete: int


class DuplicatePair(Struct, frozen=True, kw_only=True):
    """A duplicate question, and the question of which it is a duplicate.

    Attributes:
        of_dataset: The data set of the original, which is kept.
        of: The original's question id.
        of_source: The original's source.
        similarity: Jaccard index of their shingles.
    """

    dataset: str
    question_id: str
    source: str | None
    of_dataset: str
    of: str
    of_source: str | None
    similarity: float


class PoolChange(Struct, frozen=True, kw_only=True):
    """The number of questions of one source before and after the exclusion of duplicates."""

    source: str
    before: int
    after: int


class DuplicatesReport(Struct, frozen=True, kw_only=True):
    """The output of ``workbench curate DB duplicates --json``.

    Attributes:
        similarity: What was compared: always ``shingles``.
        shingle: Number of tokens in a shingle.
        questions: Number of compared questions: selected and not excluded.
        duplicates: Number of questions that duplicate another one.
        across: Number of duplicates whose original is in another source.
        excluded: Number of questions excluded by this command; 0 in a dry run.
        pairs: All pairs, if requested.
    """

    similarity: str
    threshold: float
    shingle: int
    questions: int
    duplicates: int
    across: int
    excluded: int
    sources: tuple[PoolChange, ...]
    pairs: tuple[DuplicatePair, ...] | UnsetType = UNSET


class CandidateQuestion(Struct, frozen=True, kw_only=True):
    """A question that may have to be excluded, which a person decides.

    Attributes:
        reason: A code of `EXCLUSION_REASONS`.
        why: The evidence for the reason.
        by: What found it: ``rule``, or the name of the model.
    """

    dataset: str
    question_id: str
    source: str | None
    reason: str
    why: str
    by: str


class OutQuestion(Struct, frozen=True, kw_only=True):
    """An excluded question.

    Attributes:
        reason: A code of `EXCLUSION_REASONS`, or `DUPLICATE`.
        of: The question that it duplicates; None for other reasons.
        by: The person who excluded it.
    """

    dataset: str
    question_id: str
    source: str | None
    reason: str
    of: str | None
    similarity: float | None
    note: str | None
    by: str
    at: str


class PoolChanged(Struct, frozen=True, kw_only=True):
    """The result of ``curate exclude`` and its ``--undo``.

    Attributes:
        excluded: Number of questions excluded.
        restored: Number of questions restored.
        unchanged: Number of questions that already were in the requested state.
    """

    excluded: int = 0
    restored: int = 0
    unchanged: int = 0


class TypesProposed(Struct, frozen=True, kw_only=True):
    """The output of ``workbench curate DB types --model NAME --json``.

    Attributes:
        run: The run that shows the calls and their cost.
        asked: Number of questions sent by this command; questions that have a proposal under ``name`` are not sent
            again.
        proposed: Subtype -> number of questions, over all proposals under ``name``.
        outside: Why a question has none of the four types -> number of questions.
        unreadable: Number of replies without a type.
        failed: Number of calls that failed permanently; the same command repeats them.
    """

    name: str
    run: int
    asked: int
    proposed: dict[str, int]
    outside: dict[str, int]
    unreadable: int
    failed: int


class TypesReport(Struct, frozen=True, kw_only=True):
    """The output of ``workbench curate DB types --json``.

    Attributes:
        counting: Number of questions whose type is used in metrics: resolved, or from their file.
        alone: Number of questions with a type from only one annotator, regardless of their file.
        origins: Origin of the type -> number of questions of the pool; ``none`` for questions without a type,
            ``disputed`` if
            annotators disagree. Types of the origins ``one person`` and ``model`` are not used until they are accepted.
        proposals: Agreement of each model's proposals with annotators and files.
    """

    questions: int
    counting: int
    alone: int
    origins: dict[str, int]
    proposals: tuple[TypeReport, ...]


class DrawReport(SetReport, frozen=True, kw_only=True):
    """The output of ``workbench curate DB draw --json``.

    Attributes:
        sources, domains: Source or domain -> number of drawn questions.
        origins: Origin of the type -> number of drawn questions.
        untyped: Reason for a missing type -> number of questions that could not be drawn.
    """

    origins: dict[str, int]
    untyped: dict[str, int]


class SourceStatus(Struct, frozen=True, kw_only=True):
    """One source of the pool: a row of the paper's table 7, and the questions left after curation.

    Attributes:
        licence: None if unknown.
        excluded: Reason -> number of excluded questions, duplicates included.
        left: Number of questions that are not excluded.
        types: Type -> number of questions that are not excluded; ``none`` for questions without a type.
        origins: Origin of the type -> number of questions that are not excluded.
        drawn: Benchmark -> number of this source's questions in its newest version.
    """

    source: str
    domain: str | None
    licence: str | None
    questions: int
    excluded: dict[str, int]
    left: int
    types: dict[str, int]
    origins: dict[str, int]
    drawn: dict[str, int]


class PoolStatus(Struct, frozen=True, kw_only=True):
    """The output of ``workbench curate DB status --json``.

    Attributes:
        questions: Number of questions of the pool, without code problems.
        stale: Number of duplicates whose original has since been excluded for another reason.
        total: All sources together.
    """

    questions: int
    stale: int
    total: SourceStatus
    sources: tuple[SourceStatus, ...]
