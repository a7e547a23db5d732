"""The contents of a data card, before they become text and tables."""

from __future__ import annotations

from msgspec import Struct

from workbench.benchmarks.records import Differing, LeaderboardLine, PublishedFile, SetDiff
from workbench.core.label import LabelVerdict, Task
from workbench.core.sets import SetReport, StoredSet
from workbench.measuring.report.contents import Contents, RunFacts
from workbench.statistics.records.agreement import AgreementReport


class GuidelineVersion(Struct, frozen=True, kw_only=True):
    """A version of the guidelines; its text is None where it is not in the database."""

    version: str
    text: str | None


class Conflicts(Struct, frozen=True, kw_only=True):
    """The disagreements of annotators on one task, over the benchmark's items or questions.

    Attributes:
        labelled: Those with two people's blind labels or more, as agreement counts them.
        disputed: Those on which they differ.
        settled: What a third person decided of those -> how many.
    """

    task: Task
    labelled: int
    disputed: int
    settled: dict[str, int]

    @property
    def unsettled(self) -> int:
        return self.disputed - sum(self.settled.values())


class Annotations(Struct, frozen=True, kw_only=True):
    """The published labels of the benchmark's items.

    Attributes:
        lines: Labels and decisions.
        people: How many gave them.
        guidelines: Version they were given under -> how many; "" where it isn't known.
        later: Those given after the set was frozen.
    """

    lines: int
    people: int
    guidelines: dict[str, int]
    later: int
    conflicts: list[Conflicts]


def title_of(stored: StoredSet) -> str:
    return f"{stored.name} v{stored.version}"


class SetContents(Struct, frozen=True, kw_only=True):
    """One benchmark.

    Attributes:
        config: What it is called in the folder.
        report: What came of building it.
        contents: Its items and figures, as a report has them.
        types: Agreement on answer subtypes; None without two people's labels.
        pool: The items it was made of, in words, and agreement on all of them; None where they are its own.
        made_of: Sets it was made of, the nearest first, each with what came of building it.
        judges: Runs whose verdicts decided what belongs to it.
        undecided: Verifiers that judged its items and decided none.
        changes: What differs from the version before; None for a first version.
        qualified: Ids have their data set before them.
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
    """The whole card.

    Attributes:
        licence: Of what is published; None where nobody has said.
        languages: ISO 639 codes.
        files: All other files of the folder.
        workbench: The version that publishes.
        schema: Version of the database's tables.
    """

    title: str
    licence: str | None
    languages: tuple[str, ...]
    sets: list[SetContents]
    files: list[PublishedFile]
    workbench: str
    schema: int
