"""The changes that other options of a verifier would make, as they are reported: fractions, and null for undefined
metrics.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from msgspec import Struct

from workbench.core.run import Estimate
from workbench.core.verdict import GoldChoice, OutcomeWord, Protocol3

FlipKind = Literal["fixed", "broken", "now_decided", "now_undecided", "other", "without_gold"]
"""What a changed verdict means: it was not right and is, was right and is not, neither but was undecided and is not,
the other way round, neither of all these; or nobody knows what is right."""
FLIP_KINDS: Final[tuple[FlipKind, ...]] = get_args(FlipKind)
Means = Literal["scores", "replies", "local", "calls"]
"""What the new verdicts rest on: stored scores, stored replies, judging on this machine, or replies asked for now."""


class FlipRow(Struct, frozen=True, kw_only=True):
    """The changes in one group of items.

    Attributes:
        group: A type's code; ``"untyped"`` where there is none, None for all items.
        n: Items with gold and both verdicts.
        accuracy_before: None where no item counts under the protocol.
        accuracy_after: None likewise.
        fixed: Items that were not right and are.
        broken: Items that were right and are not.
        now_decided: Others that were undecided and are decided.
        now_undecided: Others that were decided and are undecided.
        other: Other changed verdicts, such as an abstention that becomes an error.
    """

    group: str | None
    n: int
    accuracy_before: float | None
    accuracy_after: float | None
    fixed: int
    broken: int
    now_decided: int
    now_undecided: int
    other: int


class FlippedItem(Struct, frozen=True, kw_only=True):
    """An item whose verdict changes.

    Attributes:
        id: Its row id.
        subtype: Its code; "" where it has none.
        gold: None where nobody knows.
        reason_before: A reason code; None without one.
        reason_after: The same of the new verdict.
    """

    id: int
    dataset: str
    question_id: str
    completion_id: str
    subtype: str
    kind: FlipKind
    gold: OutcomeWord | None
    before: OutcomeWord
    after: OutcomeWord
    reason_before: str | None
    reason_after: str | None


class RejudgedItems(Struct, frozen=True, kw_only=True):
    """The items that were searched for changes.

    Attributes:
        chosen: Items that were asked for.
        judged: Those that have a verdict in the run.
        drawn: Those of them that were drawn; all, where no sample was asked for.
        read: Those of them that have a new verdict.
        missing: Those whose verdict would rest on replies that are not stored: lost, withdrawn, or never asked for.
        failed: Those that the run failed on, of which it has nothing that could be read again.
        left: Those that were left when the work ended before its time.
        undecided: The reasons of new verdicts that decide nothing (``truncated``, ``unparsed`` …), and how many.
    """

    chosen: int
    judged: int
    drawn: int
    read: int
    missing: int
    failed: int
    left: int
    undecided: dict[str, int]


class WhatIfReport(FlipRow, frozen=True, kw_only=True):
    """The changes that other options of a verifier would make in a run.

    Attributes:
        name: What the verifier with these options is called where it is given a run.
        changed: Options that differ, with their values before and after; null where one isn't given.
        threshold: What scores were compared with; None where they were not.
        version: The version that made the new verdicts; that of the run where ``means`` is ``scores``.
        ran: The version the run is of: where it is another one, its own changes are among those counted.
        gold: How many items have gold, and from where.
        without_gold: Changed verdicts on items without gold; they count nowhere else.
        seed: Of the sample; None without one.
        calls: Requests that were sent.
        needed: What the missing replies would take at most; None where none is missing.
        trouble: Why items were left; None where none was.
        types: The figures of each answer type.
        flips: Items whose verdict changes, those that are fixed first.
        more: How many more there are than are named.
    """

    verifier: str
    run: int
    name: str
    kind: str
    changed: dict[str, tuple[str | None, str | None]]
    threshold: float | None
    means: Means
    version: str
    ran: str
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    items: RejudgedItems
    without_gold: int
    seed: int | None
    calls: int
    needed: Estimate | None
    trouble: str | None
    types: list[FlipRow]
    flips: list[FlippedItem]
    more: int
