"""Queues counted from verdicts: against gold, against each other, and k against n - k."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.errors import UsageError
from workbench.measuring.reviewing.asked import QueueContents, QueueItem, QueueQuery
from workbench.measuring.reviewing.wording import gold_says, runs_of, who_says


def verifier_gold(asked: QueueQuery) -> QueueContents:
    """A decided verdict differs from gold."""
    from workbench.statistics.against_gold import against_gold

    types = asked.columns.groups("type")
    found = against_gold(asked.votes, asked.truth, types.code, len(types.names), asked.kept)

    return QueueContents(
        ranking=found,
        text=f"A decided verdict differs from gold ({asked.gold}), of {runs_of(asked)}. Ordered by how far all "
        "verdicts on the item speak against gold: a log-likelihood ratio, by each verifier's rates on the item's type.",
        why=_sides,
    )


def verifiers(asked: QueueQuery) -> QueueContents:
    """Decided verdicts differ, whatever gold says."""
    from workbench.statistics.split import uneven

    _require(asked, 2)
    return QueueContents(
        ranking=uneven(asked.votes, len(asked.columns.item), asked.kept),
        text=f"Decided verdicts differ, of {runs_of(asked)}. The most evenly split first (the score is twice "
        "the minority's share), then those with more verdicts.",
        why=_sides,
    )


def split(asked: QueueQuery) -> QueueContents:
    """Exactly k verifiers stand against all the others."""
    from workbench.statistics.split import splits

    _require(asked, 2)
    many = len(asked.judges)
    k = many // 2 if asked.k is None else asked.k
    if not 1 <= k < many:
        raise UsageError(f"{k} of {many} verifiers can't stand against the others.", f"Use 1 to {many - 1}.")
    k = min(k, many - k)
    found = splits(asked.votes, len(asked.columns.item), k, asked.kept)
    sizes = ", ".join(f"{many - fewer}:{fewer} {number:,}" for fewer, number in enumerate(found.sizes))
    return QueueContents(
        ranking=found.ranking,
        text=f"{k} against {many - k} of {runs_of(asked)}. Items by split: {sizes}; not fully voted "
        f"{found.unvoted:,} (an abstention or an error is no vote). First where the weaker side weighs nearly as much "
        "as the stronger: a verifier weighs the more, the more often it sides with the others' majority.",
        why=_sides,
    )


def _require(asked: QueueQuery, least: int) -> None:
    if len(asked.judges) < least:
        raise UsageError(
            f"{len(asked.judges)} verifier can't disagree with another.",
            "Run one more, or name more: --verifier A --verifier B",
        )


def _sides(cases: Sequence[QueueItem]) -> list[str]:
    return [f"{who_says(case.votes)}; {gold_says(case)}." for case in cases]
