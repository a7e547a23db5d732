"""The five tables of VerifyBench (arXiv 2505.15801) for the data sets of a project, as fractions.

A table's ``table`` in JSON is its number in the paper.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.probe import PairReport
from workbench.statistics.records.report import AccuracyRow

PaperNumber = Literal[1, 2, 3, 4, 5]
PAPER_NUMBERS: tuple[PaperNumber, ...] = (1, 2, 3, 4, 5)


CountOf = Literal["questions", "completions", "correct", "wrong", "type", "domain"]
COUNTS: tuple[CountOf, ...] = ("questions", "completions", "correct", "wrong", "type", "domain")


class CountRow(Struct, frozen=True, kw_only=True):
    """One count of table 1.

    Attributes:
        of: The unit that is counted: completions or questions.
        group: The answer type or the domain; None for all.
        counts: Data set -> number of completions or questions with gold.
    """

    of: CountOf
    group: str | None = None
    counts: dict[str, int]


class CountsTable(Struct, frozen=True, kw_only=True, tag_field="table", tag=1):
    """The contents of the data sets.

    Attributes:
        without_gold: Data set -> number of completions without gold, which are in no row.
    """

    datasets: list[str]
    gold_choice: GoldChoice
    rows: list[CountRow]
    without_gold: dict[str, int]


class DatasetAccuracy(Struct, frozen=True, kw_only=True):
    """One data set's rows, as in ``workbench accuracy``."""

    dataset: str
    rows: list[AccuracyRow]


class AccuracyTable(Struct, frozen=True, kw_only=True, tag_field="table", tag=2):
    """Accuracy by answer type, with the average.

    Attributes:
        average: The average in the row over all types: over items (micro).
        kinds: Verifier -> its kind; baselines without a run have none.
        undecided: Verifiers left out because they have not decided any item.
    """

    protocol: Protocol3
    average: Literal["micro"] = "micro"
    gold_choice: GoldChoice
    sets: list[DatasetAccuracy]
    kinds: dict[str, str]
    undecided: list[str]


class ReferenceRow(Struct, frozen=True, kw_only=True):
    """A judge with and without the reference answer, compared on the items on which both have a verdict.

    Attributes:
        n: Number of these items.
        unpaired: Number of items with gold that count for only one of the two.
        delta: Accuracy without the reference minus accuracy with it.
        ci: Its 95 % interval, clustered by question.
        p: p-value of the paired permutation test by question.
        selection_judges: Those of the two that helped to choose the items, themselves or through their model.
    """

    dataset: str
    with_reference: str
    without_reference: str
    n: int
    unpaired: int
    accuracy_with: float
    accuracy_without: float
    delta: float
    ci: tuple[float, float]
    p: float
    selection_judges: list[str] = []


class ReferenceTable(Struct, frozen=True, kw_only=True, tag_field="table", tag=3):
    """The effect of the reference answer.

    Attributes:
        notes: Sentences on pairs of judges that could not be compared, and why.
    """

    protocol: Protocol3
    average: Literal["micro"] = "micro"
    gold_choice: GoldChoice
    rows: list[ReferenceRow]
    notes: list[str]


class DatasetPairs(Struct, frozen=True, kw_only=True):
    """One data set's pairs of completions.

    Attributes:
        refused: Why the data set has no pairs; None if each question has one correct and one incorrect completion.
        reports: One report for each verifier with scores.
        left_out: Verifiers with too few scores -> the reason.
    """

    dataset: str
    refused: str | None = None
    reports: list[PairReport] = []
    left_out: dict[str, str] = {}


class BenchmarkScore(Struct, frozen=True, kw_only=True):
    """A verifier's score on a benchmark outside this project.

    Attributes:
        score: The score as a fraction.
    """

    verifier: str
    benchmark: str
    score: float


class PairwiseTable(Struct, frozen=True, kw_only=True, tag_field="table", tag=4):
    """Share of questions whose correct completion scores above the incorrect one; a tie is wrong.

    Attributes:
        elsewhere: Scores on other benchmarks, for comparison.
    """

    average: Literal["micro"] = "micro"
    gold_choice: GoldChoice
    sets: list[DatasetPairs]
    elsewhere: list[BenchmarkScore] = []


class SubtypeTable(Struct, frozen=True, kw_only=True, tag_field="table", tag=5):
    """Accuracy by answer subtype, compared with the type's accuracy.

    Attributes:
        sets: Each verifier's rows: all items, its types, then its subtypes with ``delta``.
    """

    protocol: Protocol3
    average: Literal["micro"] = "micro"
    gold_choice: GoldChoice
    sets: list[DatasetAccuracy]


PaperTable: TypeAlias = CountsTable | AccuracyTable | ReferenceTable | PairwiseTable | SubtypeTable


class PaperTables(Struct, frozen=True, kw_only=True):
    """The requested tables."""

    tables: list[PaperTable]
