"""The contents of a report as data, before they become sentences, tables and plots."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice, OutcomeWord, Protocol3
from workbench.measuring.costs import CostReport
from workbench.measuring.records.documents import DataCard
from workbench.measuring.reviewing.triage import TriageLine
from workbench.measuring.testing import SuiteFigures
from workbench.measuring.validity import ValidityReport
from workbench.statistics.records.agreement import AgreementReport
from workbench.statistics.records.comparison import FamilyReport
from workbench.statistics.records.report import AccuracyReport

ErrorKind = Literal["accepted", "refused", "undecided"]
"""A wrong completion accepted, a right one refused, no verdict."""

ERROR_KINDS: tuple[ErrorKind, ...] = ("accepted", "refused", "undecided")


class ConfusionCounts(Struct, frozen=True, kw_only=True):
    """Counts of a verifier's verdicts.

    Attributes:
        of_correct: Numbers of verdicts correct, incorrect and undecided on correct completions.
        of_incorrect: The same on incorrect completions."""

    verifier: str
    of_correct: tuple[int, int, int]
    of_incorrect: tuple[int, int, int]


class ScoreBin(Struct, frozen=True, kw_only=True):
    """Items whose score is at least ``low`` and below ``high``, or equal to ``high`` in the last bin.

    Attributes:
        correct: Number of items whose gold is correct.
        incorrect: Number of items whose gold is incorrect.
        mean: The items' mean score; None without items.
        rate: The share of items whose gold is correct; None without items.
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
        n: Number of items with gold and a score.
        auroc: Area under the ROC curve; None if gold lacks a class.
        threshold: The least score that counts as correct; None if the verifier has no threshold.
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
        others_right: Number of other verifiers that judge the item correctly.
        others: Number of other verifiers that have judged the item.
        why: Description of the verdict's reason code; "" if the code has none.
        answer: The reference's final answer.
        reference_read: The answer that the verifier read from the reference.
        completion_read: The answer that the verifier read from the completion.
        ending: The end of the completion.
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
    """One verifier's errors of one kind: their number, and examples."""

    verifier: str
    kind: ErrorKind
    count: int
    examples: list[ErrorExample]


class RunFacts(Struct, frozen=True, kw_only=True):
    """The run behind a verifier's metrics, and the identity of its configuration.

    Attributes:
        version: Version of the verifier's rules, parser or library.
        identity: Name -> value of template, parser, model and sampling, as far as the configuration has them.
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
        selection: A description of the selected items.
        overall: Metrics on all items.
        by: Property that forms groups -> metrics by group.
        family: Comparisons between the verifiers; None with fewer than two comparable ones.
        validity: Bias checks; None if no verifier has a decided verdict.
        agreement: The annotators' agreement; None without labels.
        causes: Causes of errors, as reviewers assigned them.
        examples: Maximum number of examples for each kind of error.
        tests: Test results by run and suite.
        costs: Costs of verdicts; None if no verifier calls a model.
    """

    database: str
    selection: str
    protocol: Protocol3
    gold_choice: GoldChoice
    generated_at: str
    card: DataCard
    overall: AccuracyReport
    by: dict[str, AccuracyReport] = {}
    confusions: list[ConfusionCounts] = []
    family: FamilyReport | None = None
    scores: list[Scores] = []
    validity: ValidityReport | None = None
    agreement: AgreementReport | None
    errors: list[Errors] = []
    causes: list[TriageLine] = []
    examples: int = 0
    tests: list[SuiteFigures] = []
    costs: CostReport | None = None
    runs: list[RunFacts]
    software: Software
