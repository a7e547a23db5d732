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
        usual: As replies were up to now, or as is assumed.
        most: If every reply is as long as it may be; None where nothing limits it.
    """

    usual: float
    most: float | None


class ModelPlan(Struct, frozen=True, kw_only=True):
    """The estimated calls of a model.

    Attributes:
        model: Its name in the plan.
        questions: How many it is asked.
        samples: Completions of each.
        there: Completions that are in the data set.
        stored: Replies that are stored and only have to join it.
        failed: Calls that failed for good and are not made again, by code.
        calls: Calls still to make.
        prompt_tokens: Of these calls, estimated as a token for four bytes of the request.
        completion_tokens: Of their replies.
        reply_tokens: Tokens of a usual reply that this rests on.
        measured: Whether that is the mean of its replies up to now; else it is assumed.
        cost: In US dollars; None where the price is not known.
        seconds: At the configured rpm and tpm; None where neither is set.
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
    """All models together.

    Attributes:
        completions: How many there will be.
        cost: Of the models whose price is known; None where there is none with calls to make.
        unpriced: Models with calls to make whose price is not known.
        seconds: Of the slowest one whose rate is configured; all run at a time.
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
        set: The set of questions, with its version; None where a whole data set is asked.
        missing: Models without all of their completions.
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
        run: Its run, whose calls and costs ``workbench runs show`` has.
        wanted: Completions that it is to write in all.
        there: Those that are in the data set.
        truncated: Those of them that were cut off by their longest length.
        failed: Calls that failed for good, by code; ``--retry-errors`` makes them again.
        unasked: Calls that were not made, or may go better the next time.
        details: What was said about the first failures of this start.
        halted: Why it stopped; None if it didn't.
        calls, prompt_tokens, completion_tokens: Of its run, over all starts.
        cost: In US dollars, as far as it is known.
        unpriced: Replies whose cost nobody knows.
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
        written: Completions that are new.
        missing: Models without all of their completions.
        warnings: What could not be done as asked.
    """

    set: str | None
    dataset: str | None
    questions: int
    written: int
    models: tuple[ModelWritten, ...]
    missing: tuple[str, ...]
    warnings: tuple[str, ...]


# -- Frozen sets as they are listed, shown and compared.


class SetLine(Struct, frozen=True, kw_only=True):
    """A set in a list.

    Attributes:
        gold: Whose labels count; None for a set without any.
        guideline: The version of the guidelines that was in force.
        code_version: The version of this program that froze it.
        tuples, questions: How many it has.
        short: How many shortfalls its report has.
        states: How many of its items are in each state today; none of a set of questions.
        changed: What differs now: items with another gold, and of another answer type.
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
    """How often a selection judge's verdicts on the benchmark's items change in a later run.

    Attributes:
        run: The one that chose.
        later: Its newest complete one since; None where there is none.
        both: Items of the set that both have decided.
        flipped: Those of them on which they differ.
        rate: Their share; None without any.
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
        config: What the choice depended on besides the data.
        report: What came of it when it was frozen.
        flips: The judges whose verdicts chose it.
        changed: As in ``set``.
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
        same: Items or questions in both that are equal.
        settings: What was asked for: key -> the two values.
        texts: Those whose question, reference or completion is another; in two data sets only, where ids are equal.
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


# -- What is published of frozen sets: the folder's files, and who is how accurate on them.


FORMAT: Final = "verifier-workbench/publication"
"""What a manifest of ours begins with."""
FORMAT_VERSION: Final = 1
PUBLISHABLE: Final[tuple[SetKind, ...]] = ("balanced", "hard")
"""Kinds of sets that are finished: every item of them has a final label."""


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
"""Columns of the Parquet file, each with what it holds; the two of the answer type stand the right way round."""


class PublishedFile(Struct, frozen=True, kw_only=True):
    """A file of the folder.

    Attributes:
        path: Within the folder, with slashes.
        sha256: Of its bytes, as hexadecimal digits.
        rows: How many rows it has; None for one that has none.
    """

    path: str
    sha256: str
    bytes: int
    rows: int | None = None


class Differing(Struct, frozen=True, kw_only=True):
    """Items of a frozen benchmark whose labels have changed since.

    Attributes:
        gold: Their gold is the other one, or there is none any more.
        types: Their answer type is another one.
    """

    gold: int
    types: int


class PublishedSet(Struct, frozen=True, kw_only=True):
    """A benchmark as it was published.

    Attributes:
        config: What ``load_dataset(FOLDER, CONFIG)`` calls it.
        digest: BLAKE2b-128 of its members, as `StoredSet` has it.
        differing: What is not any more as it was when the set was frozen; the files have the values of the freezing.
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
    """The file by which a folder is known as published, and can be checked.

    Attributes:
        workbench: The version that wrote it.
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
        bytes: Of all files.
        notes: What its publisher should know, a sentence each.
    """

    folder: str
    sets: list[PublishedSet]
    files: list[PublishedFile]
    bytes: int
    notes: tuple[str, ...]


class TypeScore(Struct, frozen=True, kw_only=True):
    """Accuracy on one answer type; None without items that count."""

    n: int
    accuracy: float | None
    ci: tuple[float, float] | None


class LeaderboardLine(Struct, frozen=True, kw_only=True):
    """One verifier, or a baseline, on a published set: fractions, and null where a figure is undefined.

    Attributes:
        set: ``NAME@VERSION``.
        items: Items of the set; ``n`` of them count under the protocol.
        average: How ``accuracy`` averages: over items.
        ci: 95 %, clustered by question; those of balanced accuracy and MCC are put together from both classes'.
        macro: The unweighted mean over answer types.
        coverage: Decided verdicts over all items with a verdict.
        types: Answer type -> its figures.
        selection_judge: The verifier, or its model, helped to choose the set.
        chose_by_these: These very verdicts chose the set; another run would be needed to measure the judge.
        flip_rate: Share of the set's items on which a selection judge's newest verdict differs from the one that chose,
            of those decided by both; None where there are none.
        version: Of its rules, parser or library; None for a baseline.
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
