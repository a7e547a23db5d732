"""Reports of benchmarks: completions that models write, frozen benchmarks, and publications."""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct

from workbench.core.label import State
from workbench.core.sets import SetKind, SetReport
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.report import Kind as RowKind


class Expected(Struct, frozen=True, kw_only=True):
    """An estimated number.

    Attributes:
        usual: By the mean of the replies so far, or by assumption.
        most: If every reply has the maximum length; None without a limit.
    """

    usual: float
    most: float | None


class ModelPlan(Struct, frozen=True, kw_only=True):
    """The estimated calls of a model.

    Attributes:
        model: Its name in the plan.
        questions: Questions that it is asked.
        samples: Completions of each question.
        there: Completions already in the data set.
        stored: Stored replies that are not in the data set yet.
        failed: Calls that failed permanently and are not repeated, by code.
        calls: Calls still to make.
        prompt_tokens: Prompt tokens of these calls, estimated as one token for four bytes of the request.
        completion_tokens: Tokens of their replies.
        reply_tokens: Tokens of a usual reply, on which the estimate is based.
        measured: Whether that is the mean of its replies so far; else it is an assumption.
        cost: In US dollars; None if the price is unknown.
        seconds: At the configured rpm and tpm; None if neither is set.
    """

    model: str
    questions: int
    samples: int
    there: int
    stored: int
    failed: dict[str, int]
    calls: int
    prompt_tokens: int
    completion_tokens: Expected
    reply_tokens: float
    measured: bool
    cost: Expected | None
    seconds: float | None


class PlanTotal(Struct, frozen=True, kw_only=True):
    """The estimate for all models together.

    Attributes:
        completions: Completions after the run.
        cost: In US dollars, of the models with a known price; None if no such model has calls to make.
        unpriced: Models with calls to make whose price is unknown.
        seconds: Of the slowest model with a configured rate; all models run at the same time.
    """

    models: int
    completions: int
    there: int
    stored: int
    failed: int
    calls: int
    prompt_tokens: int
    completion_tokens: Expected
    cost: Expected | None
    unpriced: int
    seconds: float | None


class CompletionsPlanned(Struct, frozen=True, kw_only=True):
    """The estimate of a plan of completions; also ``workbench complete --dry-run --json``.

    Attributes:
        set: The set of questions, with its version; None for a whole data set.
        missing: Models whose completions are incomplete.
    """

    set: str | None
    dataset: str | None
    questions: int
    models: tuple[ModelPlan, ...]
    total: PlanTotal
    max_cost: float | None
    missing: tuple[str, ...]


class ModelWritten(Struct, frozen=True, kw_only=True):
    """The results of one model.

    Attributes:
        run: Its run; ``workbench runs show`` reports its calls and costs.
        wanted: Completions that it is to write in total.
        there: Completions in the data set.
        truncated: Completions of these that were cut off at the maximum length.
        failed: Calls that failed permanently, by code; ``--retry-errors`` repeats them.
        unasked: Calls that were not made, or that failed and may succeed the next time.
        details: Messages of the first failures since this start.
        halted: Why it stopped; None if it didn't.
        calls, prompt_tokens, completion_tokens: Totals of its run, over all starts.
        cost: In US dollars, as far as known.
        unpriced: Replies of unknown cost.
    """

    model: str
    run: int
    wanted: int
    there: int
    truncated: int
    failed: dict[str, int]
    unasked: int
    details: tuple[str, ...]
    halted: str | None
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    unpriced: int


class CompletionsWritten(Struct, frozen=True, kw_only=True):
    """The result of a plan of completions; also ``workbench complete --json``.

    Attributes:
        written: New completions.
        missing: Models whose completions are incomplete.
        warnings: Options that could not be applied.
    """

    set: str | None
    dataset: str | None
    questions: int
    written: int
    models: tuple[ModelWritten, ...]
    missing: tuple[str, ...]
    warnings: tuple[str, ...]


# -- Frozen benchmarks as listed, shown and compared.


class SetLine(Struct, frozen=True, kw_only=True):
    """A benchmark in a list.

    Attributes:
        gold: Whose labels count as gold; None for a benchmark without gold.
        guideline: The version of the guidelines that was in force.
        code_version: The version of the workbench that froze it.
        tuples, questions: Their numbers.
        short: Number of shortfalls in its report.
        states: State -> number of its items today; empty for a set of questions.
        changed: Items whose gold or answer type has changed since freezing.
    """

    name: str
    version: int
    kind: SetKind
    questions: int
    tuples: int
    seed: int
    gold: GoldChoice | None
    guideline: str | None
    code_version: str
    digest: str
    created_at: str
    short: int
    states: dict[State, int]
    changed: dict[str, int]

    @property
    def full_name(self) -> str:
        """Return ``NAME@VERSION``."""
        return f"{self.name}@{self.version}"

    @property
    def progress(self) -> tuple[int, int, int] | None:
        """Return the number of decided, waiting and conflicting items; None for questions."""
        if not self.tuples:
            return None
        decided, conflict = self.states.get("final", 0) + self.states.get("excluded", 0), self.states.get("conflict", 0)
        return decided, self.tuples - decided - conflict, conflict


class Flip(Struct, frozen=True, kw_only=True):
    """Changes of a selection judge's verdicts on the benchmark's items in a later run.

    Attributes:
        run: The run that chose the items.
        later: The judge's newest complete run since; None without one.
        both: Items of the benchmark decided in both runs.
        flipped: Items of these with different verdicts.
        rate: ``flipped / both``; None if ``both`` is 0.
    """

    judge: str
    run: int
    later: int | None
    both: int
    flipped: int
    rate: float | None


class SetDetail(Struct, frozen=True, kw_only=True):
    """The full description of a benchmark.

    Attributes:
        config: Settings that the choice depended on, besides the data.
        report: The report of its building.
        flips: Verdict changes of the judges that chose its items.
        changed: Items whose gold or answer type has changed since freezing; as in ``set``.
    """

    set: SetLine
    config: dict[str, Any]
    report: SetReport
    flips: tuple[Flip, ...]
    changed: dict[str, int]


class DiffRow(Struct, frozen=True, kw_only=True):
    """An item or question that differs between two sets.

    Attributes:
        completion_id: None for a question of a set of questions.
        before, after: Its gold or answer type in each.
    """

    dataset: str
    question_id: str
    completion_id: str | None
    before: str | None = None
    after: str | None = None


class SetDiff(Struct, frozen=True, kw_only=True):
    """The differences between two benchmarks.

    Attributes:
        old, new: Their names with their versions.
        same: Items or questions that are equal in both.
        settings: Different settings: key -> the two values.
        texts: Items whose question, reference or completion differs; possible only between data sets that share ids.
    """

    old: str
    new: str
    same: int
    settings: dict[str, tuple[Any, Any]]
    only_old: tuple[DiffRow, ...]
    only_new: tuple[DiffRow, ...]
    gold: tuple[DiffRow, ...]
    subtypes: tuple[DiffRow, ...]
    texts: tuple[DiffRow, ...]


# -- Published benchmarks: the files of the folder, and the accuracy of verifiers on them.


FORMAT: Final = "verifier-workbench/publication"
"""The format name at the beginning of a manifest."""
FORMAT_VERSION: Final = 1
PUBLISHABLE: Final[tuple[SetKind, ...]] = ("balanced", "hard")
"""Kinds of benchmarks in which every item has a final label."""


Kind = Literal["text", "bool"]
COLUMNS: Final[dict[str, tuple[Kind, str]]] = {
    "question_id": ("text", "the question; its completions share it"),
    "completion_id": ("text", "the completion"),
    "question": ("text", "what was asked"),
    "answer": ("text", "the reference: its final answer counts, and it may be a whole solution"),
    "completion": ("text", "what a model answered, from its first word to its last"),
    "gold_correct": ("bool", "whether the completion's final answer is right"),
    "gold_from": (
        "text",
        "who says so: agreed (two people), adjudicated (a third one), imported (the data it is from)",
    ),
    "completion_model": ("text", "the model that answered"),
    "source": ("text", "where the question is from"),
    "domain": ("text", "the kind of source"),
    "licence": ("text", "the source's, where it is known"),
    "answer_type": ("text", "the type of the reference's final answer"),
    "answer_subtype": ("text", "its subtype"),
    "extra": ("text", "what else came with the item, as a JSON object"),
}
"""Columns of the Parquet file with their descriptions; the two answer-type columns are not swapped as in the
release.
"""


class PublishedFile(Struct, frozen=True, kw_only=True):
    """A file of the folder.

    Attributes:
        path: Path within the folder, with slashes.
        sha256: SHA-256 of its bytes, in hexadecimal.
        rows: Number of rows; None for a file without rows.
    """

    path: str
    sha256: str
    bytes: int
    rows: int | None = None


class Differing(Struct, frozen=True, kw_only=True):
    """Items of a frozen benchmark whose labels have changed since.

    Attributes:
        gold: Items whose gold has flipped or no longer exists.
        types: Items whose answer type has changed.
    """

    gold: int
    types: int


class PublishedSet(Struct, frozen=True, kw_only=True):
    """A benchmark as it was published.

    Attributes:
        config: Its name for ``load_dataset(FOLDER, CONFIG)``.
        digest: BLAKE2b-128 of its members, as `StoredSet` has it.
        differing: Labels that have changed since freezing; the files have the values at freezing.
    """

    name: str
    version: int
    config: str
    kind: SetKind
    seed: int
    frozen_at: str
    digest: str
    questions: int
    tuples: int
    correct: int
    labels: int
    verifiers: int
    differing: Differing


class FolderManifest(Struct, frozen=True, kw_only=True):
    """The manifest that identifies a published folder and lets it be checked.

    Attributes:
        workbench: The version of the workbench that wrote it.
        schema: Version of the database's tables.
        files: Everything in the folder besides this file and ``checksums.txt``.
    """

    format: Literal["verifier-workbench/publication"]
    version: Literal[1]
    workbench: str
    schema: int
    title: str
    licence: str | None
    sets: list[PublishedSet]
    files: list[PublishedFile]


class Publication(Struct, frozen=True, kw_only=True):
    """The result of publishing; also ``workbench publish --json``.

    Attributes:
        bytes: Total size of all files.
        notes: Notes for the publisher, one sentence each.
    """

    folder: str
    sets: list[PublishedSet]
    files: list[PublishedFile]
    bytes: int
    notes: tuple[str, ...]


class TypeScore(Struct, frozen=True, kw_only=True):
    """Accuracy on one answer type; None without counted items."""

    n: int
    accuracy: float | None
    ci: tuple[float, float] | None


class LeaderboardLine(Struct, frozen=True, kw_only=True):
    """One verifier or baseline on a published benchmark. Metrics are fractions; an undefined metric is null.

    Attributes:
        set: ``NAME@VERSION``.
        items: Items of the benchmark; ``n`` of them count under the protocol.
        average: How ``accuracy`` averages: over items.
        ci: 95 %, clustered by question; those of balanced accuracy and MCC combine the intervals of both classes.
        macro: The unweighted mean over answer types.
        coverage: Decided verdicts over all items with a verdict.
        types: Answer type -> its metrics.
        selection_judge: The verifier, or its model, helped to choose the benchmark.
        chose_by_these: These verdicts chose the benchmark; measuring the judge requires another run.
        flip_rate: Share of items on which a selection judge's newest verdict differs from the one that chose them, of
            the items decided by both runs; None without such items.
        version: Version of its rules, parser or library; None for a baseline.
        config_hash: BLAKE2b of its configuration; None for a baseline.
    """

    set: str
    verifier: str
    kind: RowKind
    protocol: Protocol3
    gold: GoldChoice
    items: int
    n: int
    questions: int
    accuracy: float | None
    average: Literal["micro"] = "micro"
    ci: tuple[float, float] | None
    macro: float | None
    types: dict[str, TypeScore]
    mcc: float | None
    mcc_ci: tuple[float, float] | None
    balanced_accuracy: float | None
    balanced_accuracy_ci: tuple[float, float] | None
    fpr: float | None
    fnr: float | None
    coverage: float | None
    abstain: int
    error: int
    selection_judge: bool
    chose_by_these: bool
    flip_rate: float | None
    version: str | None
    config_hash: str | None
