"""The contents of a report, as numbers and texts, before they become words, tables and plots."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice, OutcomeWord, Protocol3
from workbench.measuring.costs import CostReport
from workbench.measuring.records.card import DataCard
from workbench.measuring.records.testing import SuiteFigures
from workbench.measuring.records.triage import TriageLine
from workbench.measuring.records.validity import ValidityReport
from workbench.measuring.records.watching import TrainingReport
from workbench.statistics.records.agreement import AgreementReport
from workbench.statistics.records.comparison import FamilyReport
from workbench.statistics.records.report import AccuracyReport

ErrorKind = Literal["accepted", "refused", "undecided"]
"""A wrong completion accepted, a right one refused, no verdict."""

ERROR_KINDS: tuple[ErrorKind, ...] = ("accepted", "refused", "undecided")


class ConfusionCounts(Struct, frozen=True, kw_only=True):
    """A verifier's verdicts on correct and on incorrect completions: correct, incorrect, undecided."""

    verifier: str
    of_correct: tuple[int, int, int]
    of_incorrect: tuple[int, int, int]


class ScoreBin(Struct, frozen=True, kw_only=True):
    """Items whose score is from ``low`` to below ``high`` (the last bin's bound included).

    Attributes:
        mean: Their mean score; None without items.
        rate: The share of them whose gold is correct; None without items.
    """

    low: float
    high: float
    correct: int
    incorrect: int
    mean: float | None
    rate: float | None


class Scores(Struct, frozen=True, kw_only=True):
    """A verifier's scores compared with gold.

    Attributes:
        n: Items with gold and a score.
        auroc: None when gold lacks a class.
        threshold: The least score that counts as correct; None where the verifier has none.
        probability: All scores are from 0 to 1, so that they can be read as chances.
    """

    verifier: str
    n: int
    auroc: float | None
    threshold: float | None
    probability: bool
    bins: list[ScoreBin]


class ErrorExample(Struct, frozen=True, kw_only=True):
    """An item that a verifier judges wrongly; texts may be shortened, which they then say.

    Attributes:
        others_right: How many of the other verifiers judge it rightly.
        others: How many of them have judged it.
        why: The verdict's reason in words; "" where its code says nothing to anyone.
        answer: The reference's final answer.
        ending: The completion's end.
    """

    dataset: str
    question_id: str
    completion_id: str
    subtype: str
    source: str
    model: str
    gold: str
    verdict: OutcomeWord
    score: float | None
    reason: str
    rule: str
    why: str
    detail: str
    others_right: int
    others: int
    question: str
    answer: str
    reference_read: str
    completion_read: str
    ending: str


class Errors(Struct, frozen=True, kw_only=True):
    """One verifier's errors of one kind: how many, and the first of them."""

    verifier: str
    kind: ErrorKind
    count: int
    examples: list[ErrorExample]


class RunFacts(Struct, frozen=True, kw_only=True):
    """The run a verifier's metrics come from, and what identifies its configuration.

    Attributes:
        version: Of its rules, parser or library.
        identity: Template, parser, model and sampling, where the configuration has them.
    """

    verifier: str
    kind: str
    run: int
    version: str
    config_hash: str
    items: int
    completed_at: str
    identity: dict[str, str]


class Software(Struct, frozen=True, kw_only=True):
    """The software that made the report.

    Attributes:
        schema: Version of the database's tables.
        content_hash: BLAKE2b-128 over all items, their gold and the verdicts counted.
    """

    workbench: str
    python: str
    numpy: str
    scipy: str
    schema: int
    content_hash: str


class Contents(Struct, frozen=True, kw_only=True):
    """The contents of a report.

    Attributes:
        selection: Which items, in words.
        overall: All items.
        by: What items are grouped by -> the figures.
        family: The verifiers against each other; None where fewer than two can be compared.
        validity: Whether verdicts follow what they should not; None without a verifier that decides.
        agreement: How far people agree; None without labels.
        causes: Why verifiers err, as reviewers gave it case by case.
        examples: How many examples an error has at most.
        tests: What came of solutions' tests, by run and suite.
        trainings: What is seen of trainings that are watched.
        costs: What verdicts take; None where no verifier asks a model.
    """

    database: str
    selection: str
    protocol: Protocol3
    gold_choice: GoldChoice
    generated_at: str
    card: DataCard
    overall: AccuracyReport
    by: dict[str, AccuracyReport]
    confusions: list[ConfusionCounts]
    family: FamilyReport | None
    scores: list[Scores]
    validity: ValidityReport | None
    agreement: AgreementReport | None
    errors: list[Errors]
    causes: list[TriageLine] = []
    examples: int
    tests: list[SuiteFigures] = []
    trainings: list[TrainingReport] = []
    costs: CostReport | None = None
    runs: list[RunFacts]
    software: Software
