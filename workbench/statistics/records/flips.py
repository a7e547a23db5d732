"""Records of the verdicts that would change if a verifier had other options. Shares are fractions; undefined metrics
are null."""

from __future__ import annotations

from typing import Final, Literal, get_args

from msgspec import Struct

from workbench.core.run import Estimate
from workbench.core.verdict import GoldChoice, OutcomeWord, Protocol3

FlipKind = Literal["fixed", "broken", "now_decided", "now_undecided", "other", "without_gold"]
"""The kind of a changed verdict: it becomes right, becomes wrong, becomes decided, becomes undecided, changes
otherwise; or the gold is unknown.
"""
FLIP_KINDS: Final[tuple[FlipKind, ...]] = get_args(FlipKind)
Means = Literal["scores", "replies", "local", "calls"]
"""The source of the new verdicts: stored scores, stored replies, judging on this machine, or new replies."""


class FlipRow(Struct, frozen=True, kw_only=True):
    """The changed verdicts in one group of items.

    Attributes:
        group: A type's code; ``"untyped"`` for items without a type, None for all items.
        n: Number of items with gold and with verdicts before and after the change.
        accuracy_before: Accuracy before the change; None if no item counts under the protocol.
        accuracy_after: Accuracy after the change; None in the same case.
        fixed: Number of items whose verdict becomes right.
        broken: Number of items whose verdict is no longer right.
        now_decided: Number of other items whose verdict becomes decided.
        now_undecided: Number of other items whose verdict becomes undecided.
        other: Number of other changed verdicts, such as an abstention that becomes an error.
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
        id: The item's row id.
        subtype: The code of the answer's subtype; "" without one.
        gold: The gold label; None without one.
        reason_before: The reason code of the stored verdict; None without one.
        reason_after: The reason code of the new verdict; None without one.
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
    """Numbers of items that were judged again with the other options.

    Attributes:
        chosen: Requested items.
        judged: Requested items with a verdict in the run.
        drawn: Judged items that were drawn; all of them if no sample was requested.
        read: Drawn items with a new verdict.
        missing: Drawn items whose new verdict needs replies that are not stored: lost, withdrawn or never requested.
        failed: Drawn items on which the run failed, without stored replies.
        left: Drawn items that were not judged again because the work ended early.
        undecided: Reason of an undecided new verdict (``truncated``, ``unparsed`` …) -> number of items.
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
    """The verdicts of a run that would change if the verifier had other options.

    Attributes:
        name: The name that the verifier with these options would have in a run of its own.
        changed: Changed option -> its values before and after; a value is null if not given.
        threshold: The threshold for scores; None if scores were not used.
        version: The verifier's version that made the new verdicts; that of the run if ``means`` is ``scores``.
        ran: The verifier's version in the run; if it differs, changes between the versions are counted too.
        gold: Origin of gold -> items.
        without_gold: Number of changed verdicts on items without gold; they are not counted elsewhere.
        seed: Seed of the sample; None without a sample.
        calls: Number of requests that were sent to model servers.
        needed: Maximum cost of the missing replies; None if no reply is missing.
        trouble: The error that ended the work early; None without one.
        types: The changes by answer type.
        flips: Items whose verdict changes, fixed ones first.
        more: Number of changed items that are not listed.
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
