"""What is published of frozen sets: the folder's files, and who is how accurate on them."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.sets import SetKind
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.report import Kind as RowKind

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
    """Items of a frozen set that people say something else of today.

    Attributes:
        gold: Their gold is the other one, or there is none any more.
        types: Their answer type is another one.
    """

    gold: int
    types: int


class PublishedSet(Struct, frozen=True, kw_only=True):
    """A set as it was published.

    Attributes:
        config: What ``load_dataset(FOLDER, CONFIG)`` calls it.
        digest: BLAKE2b-128 of its members, as `StoredSet` has it.
        differing: What is not any more as it was when the set was frozen; the files say what stood then.
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
    """What was published; also ``workbench publish --json``.

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
        ci: 95 %, Wilson's with n by the design effect of clustering by question; those of balanced accuracy and MCC
            are of a bootstrap over questions.
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
