"""Records of documents: the data card (what readers of metrics must know about the data) and the paper's tables."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.probe import PairReport
from workbench.statistics.records.report import AccuracyRow


class ImportedFile(Struct, frozen=True, kw_only=True):
    """A source file of items.

    Attributes:
        name: The file's name without the folder.
        blake2b: BLAKE2b-128 of its bytes in hexadecimal; "" if unknown.
        read: Number of rows; read = imported + unchanged + quarantined (rejected).
        swapped_types: Whether the file's two type columns were swapped, which the import corrected.
    """

    dataset: str
    name: str
    format: str
    blake2b: str
    read: int
    imported: int
    unchanged: int
    quarantined: int
    swapped_types: bool


class NamedCount(Struct, frozen=True, kw_only=True):
    """The number of items with gold from one source or model.

    Attributes:
        items: Number of items.
        questions: Number of their questions.
        correct: Number of items with gold correct.
        licence: The licence of a source; None if unknown.
        drawn: Number of questions of the source from which items were chosen; None if not applicable.
    """

    name: str
    items: int
    questions: int
    correct: int
    licence: str | None = None
    drawn: int | None = None


class LengthRow(Struct, frozen=True, kw_only=True):
    """Quartiles of the lengths of completions, in characters: ``low``, ``median`` and ``high``."""

    gold: str
    items: int
    low: float
    median: float
    high: float


class DataCard(Struct, frozen=True, kw_only=True):
    """A description of the data.

    Attributes:
        counts: The paper's table 1.
        crossing: Answer type and domain -> number of items with gold.
        gold: Origin of gold -> number of items.
        lengths: Lengths of completions by gold label; completions without a known length are left out.
        exclusions: Reason -> number of excluded items in the whole database.
        quarantined: Code of the reason -> number of rejected rows of all files.
        selection_judges: Data set -> judges whose verdicts chose its items.
        quirks: Peculiarities of the data, one sentence each.
    """

    counts: CountsTable
    crossing: dict[tuple[str, str], int]
    gold: dict[str, int]
    sources: list[NamedCount]
    models: list[NamedCount]
    lengths: list[LengthRow]
    exclusions: dict[str, int]
    files: list[ImportedFile]
    quarantined: dict[str, int]
    selection_judges: dict[str, list[str]]
    quirks: list[str]


# -- The five tables of VerifyBench (arXiv 2505.15801) for the data sets of a project, as fractions.


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
