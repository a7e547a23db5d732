"""Records of reports on benchmarks: completions that models write, frozen benchmarks, and publications."""

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
        usual: The estimate by the mean length of the replies so far, or by an assumed length.
        most: The number if every reply has the maximum length; None without a limit.
    """

    usual: float
    most: float | None


class ModelPlan(Struct, frozen=True, kw_only=True):
    """The estimated calls of a model.

    Attributes:
        model: The model's name in the plan.
        questions: Number of questions that it is asked.
        samples: Number of completions of each question.
        there: Number of completions already in the data set.
        stored: Number of stored replies that are not in the data set yet.
        failed: Failure code -> number of calls that failed permanently and are not repeated.
        calls: Number of calls still to make.
        prompt_tokens: Prompt tokens of these calls, estimated as one token for four bytes of the request.
        completion_tokens: Tokens of the replies to these calls.
        reply_tokens: Tokens of a usual reply, on which the estimate is based.
        measured: Whether ``reply_tokens`` is the mean of the model's replies so far; otherwise it is an assumption.
        cost: Cost in US dollars; None if the price is unknown.
        seconds: Time at the configured rates rpm and tpm (requests and tokens a minute); None if neither is set.
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
        completions: Number of completions after the run.
        cost: Cost in US dollars of the models with a known price; None if no such model has calls to make.
        unpriced: Number of models with calls to make whose price is unknown.
        seconds: Time of the slowest model with a configured rate; all models run at the same time.
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
        set: The benchmark whose questions are asked, with its version; None for a whole data set.
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
        run: The model's run; ``workbench runs show`` reports its calls and costs.
        wanted: Number of completions that it is to write in total.
        there: Number of completions in the data set.
        truncated: Number of these completions that were cut off at the maximum length.
        failed: Failure code -> number of calls that failed permanently; ``--retry-errors`` repeats them.
        unasked: Number of calls that were not made, or that failed and may succeed the next time.
        details: Messages of the first failures since this start.
        halted: Why the model stopped early; None if it didn't.
        calls, prompt_tokens, completion_tokens: Totals of the run, over all starts.
        cost: Cost in US dollars, as far as known.
        unpriced: Number of replies whose cost is unknown.
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
        written: Number of new completions.
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


# -- Records of frozen benchmarks: the list, the description, the comparison.


class SetLine(Struct, frozen=True, kw_only=True):
    """A benchmark in a list.

    Attributes:
        gold: Whose labels count as gold; None for a benchmark without gold.
        guideline: The current version of the guidelines at freezing.
        code_version: The version of the workbench that froze it.
        tuples, questions: Numbers of items and of questions.
        short: Number of shortfalls in its report.
        states: Current state -> number of items; empty for a benchmark of questions without completions.
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
        run: The run whose verdicts chose the items.
        later: The judge's newest complete run since then; None without one.
        both: Number of items of the benchmark with a decided verdict in both runs.
        flipped: Number of these items with different verdicts.
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
        config: The settings on which the choice of items depended, in addition to the data.
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
    """An item or question that differs between two benchmarks.

    Attributes:
        completion_id: None in a benchmark of questions without completions.
        before, after: The gold or answer type in the old and in the new benchmark.
    """

    dataset: str
    question_id: str
    completion_id: str | None
    before: str | None = None
    after: str | None = None


class SetDiff(Struct, frozen=True, kw_only=True):
    """The differences between two benchmarks.

    Attributes:
        old, new: The benchmarks' names with their versions.
        same: Number of items or questions that are equal in both.
        settings: Setting that differs -> its two values.
        only_old, only_new: Items or questions that only one of them has.
        gold, subtypes: Items whose gold, or answer type, differs.
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
    """A file of a published folder.

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
    """Numbers of items of a frozen benchmark whose labels have changed since freezing.

    Attributes:
        gold: Number of items whose gold has flipped or no longer exists.
        types: Number of items whose answer type has changed.
    """

    gold: int
    types: int


class PublishedSet(Struct, frozen=True, kw_only=True):
    """A benchmark as it was published.

    Attributes:
        config: The benchmark's name in ``load_dataset(FOLDER, CONFIG)``.
        digest: BLAKE2b-128 of its members, see `StoredSet`.
        differing: Numbers of labels that have changed since freezing; the files have the values at freezing.
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
        files: All files of the folder except this one and ``checksums.txt``.
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
    """A verifier's accuracy on one answer type.

    Attributes:
        n: Number of counted items.
        accuracy: None without counted items.
        ci: Its 95 % interval, clustered by question; None with too few questions."""

    n: int
    accuracy: float | None
    ci: tuple[float, float] | None


class LeaderboardLine(Struct, frozen=True, kw_only=True):
    """One verifier or baseline on a published benchmark. Metrics are fractions; an undefined metric is null.

    Attributes:
        set: ``NAME@VERSION``.
        items: Number of items of the benchmark; ``n`` of them count under the protocol.
        average: How ``accuracy`` is averaged: over items.
        ci: The 95 % interval of ``accuracy``, clustered by question; those of balanced accuracy and MCC combine the
            intervals of both classes.
        macro: The unweighted mean over answer types.
        coverage: Decided verdicts over all items with a verdict.
        types: Answer type -> its metrics.
        selection_judge: Whether the verifier, or its model, helped to choose the benchmark.
        chose_by_these: Whether the measured verdicts themselves chose the benchmark; then another run is needed to
            measure the verifier.
        flip_rate: For a selection judge, the share of items decided in both runs on which its newest verdict differs
            from the one that chose the item; None without such items.
        version: Version of the verifier's rules, parser or library; None for a baseline.
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
