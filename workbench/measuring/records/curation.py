"""A pool of questions and the results of curating it: duplicates, exclusions, answer types, drawn questions."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from workbench.core.options import Options, option
from workbench.core.sets import SetReport
from workbench.core.taxonomy import TypeReport

DUPLICATE: Final = "duplicate"
"""Why a question is out that says what another one says; people's reasons are `EXCLUSION_REASONS`."""

UNREADABLE: Final = "unreadable"
"""Why a reply proposes no type: it could not be read."""

TypeOrigin = Literal["people", "file", "one person", "model"]
"""Who says a type. What people have settled, or the file said, counts everywhere; what one person alone said, or a
model proposed, counts in draws only, until it is accepted."""

COUNTING: Final = ("people", "file")
"""Whose types count everywhere."""
"""Who says a question's answer type; people's word goes before the file's, and that before a model's proposal."""


class Scope(Options, frozen=True, kw_only=True):
    """A choice of questions of the pool; code problems are never among them."""

    dataset: Annotated[str | None, option("Use only questions of this data set.", "--dataset", metavar="NAME")] = None
    source: Annotated[str | None, option("Use only questions of this source.", "--source", metavar="DOMAIN/NAME")] = (
        None
    )


class PoolQuestion(Struct, frozen=True, kw_only=True):
    """A question of the pool and its properties.

    Attributes:
        licence: Its source's; None where nobody knows it.
        file_type: The subtype's code, else the type's, that its file came with.
        people_type: The subtype that people have settled: agreed on, or decided or accepted by a third.
        said_alone: The subtype that one person said, and nobody else yet.
        disputed: People differ, and nobody has decided yet.
        proposed: The subtype that the newest proposal says.
        outside: Why the newest proposal finds no type, such as ``proof``.
        out: Why the question is out; None for one that is in.
        complete: How much is known of it: what it has of completions, a type, a source, a licence and a reference.
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
    """A duplicate question, and the one that is kept.

    Attributes:
        similarity: Jaccard index of their shingles, or cosine of their embeddings.
    """

    dataset: str
    question_id: str
    source: str | None
    of_dataset: str
    of: str
    of_source: str | None
    similarity: float


class PoolChange(Struct, frozen=True, kw_only=True):
    """Questions of one source before and after."""

    source: str
    before: int
    after: int


class DuplicatesReport(Struct, frozen=True, kw_only=True):
    """``workbench curate DB duplicates --json``.

    Attributes:
        similarity: What was compared: ``shingles``, or a model or file of embeddings.
        shingle: Tokens in a shingle; None with embeddings.
        questions: Looked at: those in scope that are not out.
        duplicates: Those that say what another one says.
        across: How many of them have it in another source.
        excluded: Taken out now; 0 for a plan.
        pairs: All of them, where asked for.
    """

    similarity: str
    threshold: float
    shingle: int | None
    questions: int
    duplicates: int
    across: int
    excluded: int
    sources: tuple[PoolChange, ...]
    pairs: tuple[DuplicatePair, ...] | UnsetType = UNSET


class CandidateQuestion(Struct, frozen=True, kw_only=True):
    """A question that may have to be excluded; a person decides.

    Attributes:
        reason: A code of `EXCLUSION_REASONS`.
        why: What gave rise to it.
        by: ``rule``, or the model that says so.
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
        of: The question that says the same.
        by: The person who decided it.
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
        unchanged: Questions that were as wanted already.
    """

    excluded: int = 0
    restored: int = 0
    unchanged: int = 0


class TypesProposed(Struct, frozen=True, kw_only=True):
    """``workbench curate DB types --model NAME --json``.

    Attributes:
        run: The run that shows the calls and their cost.
        asked: Questions asked about now; those with a proposal of this name are not asked again.
        proposed: Subtype -> questions, over all its proposals.
        outside: Why a question has none of the four types -> questions.
        unreadable: Replies that name no type.
        failed: Calls that failed for good; the same command tries them again.
    """

    name: str
    run: int
    asked: int
    proposed: dict[str, int]
    outside: dict[str, int]
    unreadable: int
    failed: int


class TypesReport(Struct, frozen=True, kw_only=True):
    """``workbench curate DB types --json``.

    Attributes:
        counting: Questions whose type counts: settled by people, or said by their file.
        alone: Questions of which one person alone said a type, whatever their file says.
        origins: Questions of the pool by who says their type; ``none`` for those without one, ``disputed`` where
            people differ. ``one person`` and ``model`` do not count until they are accepted.
        proposals: How each model's proposals agree with what people and files say.
    """

    questions: int
    counting: int
    alone: int
    origins: dict[str, int]
    proposals: tuple[TypeReport, ...]


class DrawReport(SetReport, frozen=True, kw_only=True):
    """``workbench curate DB draw --json``.

    Attributes:
        sources, domains: Drawn questions of each.
        origins: Drawn questions by who says their type.
        untyped: Questions that could not be drawn for want of a type, by why.
    """

    origins: dict[str, int]
    untyped: dict[str, int]


class SourceStatus(Struct, frozen=True, kw_only=True):
    """One source of the pool: a row of the paper's table 7, and the questions left after curation.

    Attributes:
        licence: None where nobody knows it.
        excluded: Reason -> questions; duplicates are among them.
        left: Questions that are in.
        types: Type -> questions that are in; ``none`` for those without one.
        origins: Questions that are in by who says their type.
        drawn: Set -> questions of this source in it, of its newest version.
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
    """``workbench curate DB status --json``.

    Attributes:
        questions: Of the pool; code problems are not among them.
        stale: Duplicates of a question that has gone out itself since, for another reason.
        total: All sources taken together.
    """

    questions: int
    stale: int
    total: SourceStatus
    sources: tuple[SourceStatus, ...]
