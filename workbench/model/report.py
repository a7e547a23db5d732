"""Figures as they are reported: fractions, and null where a figure is undefined."""

from __future__ import annotations

from msgspec import Struct

from workbench.model.verdict import GoldChoice, Protocol3


class AccuracyRow(Struct, frozen=True, kw_only=True):
    """One verifier on one group of items.

    Attributes:
        verifier: The verifier's name.
        group: A type or subtype code or a name; ``"untyped"`` where there is none; None for all items.
        n: Rows counted under the protocol.
        questions: Questions those rows belong to; the interval's clusters.
        accuracy: Share of counted rows that are right; None without rows.
        ci: The accuracy's 95 % interval, clustered by question; None without rows.
        balanced_accuracy: Mean of both classes' accuracy; None when gold lacks a class.
        mcc: Matthews' correlation; 0 when it has no denominator.
        fpr: Share of wrong completions accepted; None when there are none.
        fnr: Share of right completions refused; None when there are none.
        coverage: Decided rows over all rows with gold and a stored verdict; None without rows.
        tp: Correct completions counted as accepted.
        fp: Incorrect completions counted as accepted.
        tn: Incorrect completions counted as refused.
        fn: Correct completions counted as refused.
        abstain: Rows the verifier abstained on, whatever the protocol makes of them.
        error: Rows the verifier failed on, whatever the protocol makes of them.
        deff: The design effect behind ``ci``, at least 1.
    """

    verifier: str
    group: str | None
    n: int
    questions: int
    accuracy: float | None
    ci: tuple[float, float] | None
    balanced_accuracy: float | None
    mcc: float
    fpr: float | None
    fnr: float | None
    coverage: float | None
    tp: int
    fp: int
    tn: int
    fn: int
    abstain: int
    error: int
    deff: float


class AccuracyReport(Struct, frozen=True, kw_only=True):
    """Verifiers against gold, with everything a reader needs to repeat the figures.

    Attributes:
        protocol: How undecided rows count.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, none.
        gold_choice: Which gold was asked for.
        by: What rows are grouped by, such as ``"type"``; None for all items only.
        rows: For each verifier the row of all items, then one row a group.
    """

    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    by: str | None
    rows: list[AccuracyRow]
