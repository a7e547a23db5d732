"""The contents of a data card, before they become text and tables."""

from __future__ import annotations

from msgspec import Struct

from workbench.benchmarks.records import Differing, LeaderboardLine, PublishedFile, SetDiff
from workbench.core.label import LabelVerdict, Task
from workbench.core.sets import SetReport, StoredSet
from workbench.measuring.report.contents import Contents, RunFacts
from workbench.statistics.records.agreement import AgreementReport


class GuidelineVersion(Struct, frozen=True, kw_only=True):
    """A version of the guidelines; the text is None if the database doesn't have it."""

    version: str
    text: str | None


class Conflicts(Struct, frozen=True, kw_only=True):
    """The disagreements of annotators on one task, over the benchmark's items or questions.

    Attributes:
        labelled: Number of items or questions with blind labels of at least two annotators, as agreement counts them.
        disputed: Number of items or questions on which these labels differ.
        settled: The adjudicator's decision -> number of disputed items or questions.
    """

    task: Task
    labelled: int
    disputed: int
    settled: dict[str, int]

    @property
    def unsettled(self) -> int:
        return self.disputed - sum(self.settled.values())


class Annotations(Struct, frozen=True, kw_only=True):
    """Counts of the published labels of the benchmark's items.

    Attributes:
        lines: Number of labels and decisions.
        people: Number of people who gave them.
        guidelines: Version of the guidelines -> number of labels; "" if unknown.
        later: Number of labels given after the benchmark was frozen.
    """

    lines: int
    people: int
    guidelines: dict[str, int]
    later: int
    conflicts: list[Conflicts]


def title_of(stored: StoredSet) -> str:
    return f"{stored.name} v{stored.version}"


class SetContents(Struct, frozen=True, kw_only=True):
    """The card's contents about one benchmark.

    Attributes:
        config: The benchmark's name in the folder.
        report: The report of its building.
        contents: Its items and metrics, as in a report.
        types: Agreement on answer subtypes; None without two annotators.
        pool: A description of the items from which it was chosen, and the agreement on all of them; None if it has all
            of these items.
        made_of: Benchmarks from which it was made, the most direct first, each with its report.
        judges: Runs whose verdicts chose its items.
        undecided: Verifiers that judged its items and decided none of them.
        changes: Differences from the previous version; None for a first version.
        qualified: Whether ids are prefixed with their data set.
    """

    config: str
    stored: StoredSet
    report: SetReport
    contents: Contents
    types: AgreementReport | None
    pool: tuple[str, AgreementReport] | None
    made_of: list[tuple[StoredSet, SetReport]]
    judges: list[RunFacts]
    annotations: Annotations
    guideline: GuidelineVersion | None
    leaderboard: list[LeaderboardLine]
    undecided: tuple[str, ...]
    differing: Differing
    changes: SetDiff | None
    qualified: bool

    @property
    def name(self) -> str:
        return title_of(self.stored)

    @property
    def correct(self) -> int:
        return sum(row.correct for row in self.contents.card.sources)

    def count(self, verdict: LabelVerdict) -> int:
        return self.correct if verdict == "correct" else self.stored.items - self.correct


class CardContents(Struct, frozen=True, kw_only=True):
    """The contents of a card.

    Attributes:
        licence: The licence of the published data; None if unknown.
        languages: ISO 639 codes.
        files: The other files of the folder.
        workbench: The version of the workbench that publishes.
        schema: Version of the database's tables.
    """

    title: str
    licence: str | None
    languages: tuple[str, ...]
    sets: list[SetContents]
    files: list[PublishedFile]
    workbench: str
    schema: int
