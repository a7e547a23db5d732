"""Verifiers that vote together, as they are reported: fractions, and null where a figure is undefined."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.comparison import PairedFigures

RuleKind = Literal["member", "baseline", "best_single", "k_of_n", "chosen_k", "weighted"]
"""``best_single``, ``chosen_k`` and ``weighted`` are fitted: chosen on some questions, judged on the others."""

ENSEMBLES: Final[tuple[RuleKind, ...]] = ("k_of_n", "chosen_k", "weighted")
"""The kinds that are made of several members' votes."""


class EnsembleRow(Struct, frozen=True, kw_only=True):
    """One way to make a verdict of the members' votes, on one group of items.

    Attributes:
        rule: Its name, such as ``"2 of 3"``, or the verifier's.
        kind: What it is.
        k: How many members must accept; None for a rule without such a number, and for one that differs by fold.
        group: A type, a name ...; None for all items.
        n: Rows counted under the protocol.
        questions: Questions those rows belong to; the interval's clusters.
        accuracy: Share of counted rows that are right; None without rows.
        ci: The accuracy's 95 % interval, clustered by question; None without rows.
        balanced_accuracy: Mean of both classes' accuracy; None when gold lacks a class.
        mcc: Matthews' correlation; None where gold lacks a class, 0 where all verdicts are the same.
        fpr: Share of wrong completions accepted; None when there are none.
        fnr: Share of right completions refused; None when there are none.
        coverage: Rows the rule decides over all rows; None without rows.
        against: The rule (A) against the best single verifier (B); None for single verifiers and where no row counts
            for both.
        q: ``against.permutation_p`` after Benjamini and Hochberg, over all comparisons of the report.
    """

    rule: str
    kind: RuleKind
    k: int | None
    group: str | None
    n: int
    questions: int
    accuracy: float | None
    ci: tuple[float, float] | None
    balanced_accuracy: float | None
    mcc: float | None
    fpr: float | None
    fnr: float | None
    coverage: float | None
    against: PairedFigures | None = None
    q: float | None = None


class FoldRow(Struct, frozen=True, kw_only=True):
    """What was chosen on the questions outside a fold, to be judged on those inside.

    Attributes:
        fold: Its number, from 1.
        questions: Questions in it.
        items: Their items.
        best_single: The verifier that is right most often outside.
        k: The number of acceptances that is right most often outside.
    """

    fold: int
    questions: int
    items: int
    best_single: str
    k: int


class MemberRow(Struct, frozen=True, kw_only=True):
    """What an ensemble loses without one of its members.

    Attributes:
        run: The run whose verdicts are its votes.
        voted: Share of the items on which it votes: it neither abstains nor fails.
        without: Accuracy of the ensemble of the others, fitted anew; None where no row counts.
        help: The whole ensemble (A) against that of the others (B); None where no row counts for both.
        accepts: Log-odds that its acceptance adds, with weights fitted on all items; None without weights.
        refuses: Log-odds that its refusal adds; negative speaks against the completion.
    """

    verifier: str
    run: int | None
    voted: float
    without: float | None
    help: PairedFigures | None
    accepts: float | None = None
    refuses: float | None = None


class EnsembleReport(Struct, frozen=True, kw_only=True):
    """Ensembles beside their members, with everything a reader needs to repeat the figures.

    Attributes:
        items: Items with gold and a verdict of every member.
        questions: Their questions.
        unjudged: Items with gold that lack a member's verdict, and are left out.
        seed: Seed of the folds; a question is in one fold with all its items.
        folds: What was chosen for each fold.
        headline: The rule that ``members`` speaks of.
        intercept: Log-odds where nobody votes, with weights fitted on all items; None without weights.
        rows: For each rule the row of all items, then one row a group.
        protocol: How undecided rows count; a rule abstains where the votes cast don't settle it.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, none.
        gold_choice: Which gold was asked for.
        by: What rows are grouped by; None for all items only.
        selection_judges: Those of the verifiers that helped, or whose model helped, to choose the items.
        failed: Verifiers left out because they failed on every item they were asked about, and on how many.
    """

    items: int
    questions: int
    unjudged: int
    seed: int
    folds: list[FoldRow]
    headline: str
    members: list[MemberRow]
    intercept: float | None
    rows: list[EnsembleRow]
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    by: str | None
    selection_judges: list[str] = []
    failed: dict[str, int] = {}
