"""The contents of a report as data, before they become sentences, tables and plots."""

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
    """Counts of a verifier's verdicts on correct and on incorrect completions: correct, incorrect, undecided."""

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
        auroc: None if gold lacks a class.
        threshold: The least score that counts as correct; None if the verifier has none.
        probability: Whether all scores are from 0 to 1, so that they can be probabilities.
    """

    verifier: str
    n: int
    auroc: float | None
    threshold: float | None
    probability: bool
    bins: list[ScoreBin]


class ErrorExample(Struct, frozen=True, kw_only=True):
    """An item that a verifier judges wrongly; texts may be shortened, which is marked.

    Attributes:
        others_right: Number of other verifiers that judge it correctly.
        others: Number of other verifiers that have judged it.
        why: The verdict's reason in words; "" if its code has no description.
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
    """One verifier's errors of one kind: their number, and the first of them."""

    verifier: str
    kind: ErrorKind
    count: int
    examples: list[ErrorExample]


class RunFacts(Struct, frozen=True, kw_only=True):
    """The run behind a verifier's metrics, and the identity of its configuration.

    Attributes:
        version: Version of its rules, parser or library.
        identity: Template, parser, model and sampling, if the configuration has them.
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
        selection: The items in words.
        overall: Metrics on all items.
        by: Grouping -> its metrics.
        family: Comparisons between the verifiers; None with fewer than two comparable ones.
        validity: Bias checks; None without a verifier that decides.
        agreement: The annotators' agreement; None without labels.
        causes: Causes of errors, as reviewers assigned them.
        examples: Most examples for each kind of error.
        tests: Test results by run and suite.
        trainings: Reports on watched trainings.
        costs: Costs of verdicts; None if no verifier calls a model.
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
