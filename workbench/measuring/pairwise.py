"""Measures a model's preferences between two completions, asked in both orders: consistency and agreement with gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from workbench.core import reasons
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.text.figures import counted
from workbench.core.text.inert import inert
from workbench.core.verdict import GoldChoice
from workbench.measuring.columns import columns
from workbench.runs.run_status import run_info, run_row
from workbench.runs.store import probes as stored
from workbench.statistics.records.probe import PAIRWISE, PairwiseReport, PairwiseRow
from workbench.tables.table import Columns, aligned_rows, count, with_interval, word

if TYPE_CHECKING:
    from workbench.verifiers.duel.pairwise import PairOutcome


def pairwise_report(project: Project, run: int, gold: GoldChoice = "final") -> PairwiseReport:
    """Report a run's comparisons made so far.

    Raises:
        UsageError: The run does not exist, or doesn't compare completions.
    """
    info, row = run_info(project, run), run_row(project.database.reader(), run)
    if row.verifier.kind != PAIRWISE:
        raise UsageError(f"Run {run} is of {row.verifier.name!r}, which compares no completions.")
    found = list(stored.comparisons(project.database.reader(), run))
    pairs = list(_distinct_pairs(found))
    read = [one for one in pairs if one.outcome.winner is not None]
    steady = [one.outcome.winner != "tie" or one.outcome.orders == ("tie", "tie") for one in read]
    orders = [place for one in read for place in one.outcome.orders]
    judged = [one for one in _compare_with_gold(project, read, gold) if one.right is not None]
    return PairwiseReport(
        verifier=row.verifier.name,
        run=run,
        state=info.state,
        items=len(found),
        none=dict(Counter(reason or "" for _, _, reason, _ in found if reason != PAIRWISE)),
        pairs=len(pairs),
        read=len(read),
        ties=sum(one.outcome.orders == ("tie", "tie") for one in read),
        inconsistent=len(steady) - sum(steady),
        gold_choice=gold,
        gold_ties=sum(one.outcome.winner == "tie" for one in judged),
        rows=[
            _share_row("consistent in both orders", steady, [one.question for one in read]),
            _share_row(
                "first place preferred",
                [place == "first" for place in orders if place != "tie"],
                [one.question for one in read for place in one.outcome.orders if place != "tie"],
            ),
            _share_row("pairwise accuracy", [bool(one.right) for one in judged], [one.question for one in judged]),
        ],
    )


class _CompletionPair(Struct, frozen=True, kw_only=True):
    """A compared pair of completions.

    Attributes:
        right: Whether the completion that is correct by gold won; a tie is False. None unless gold differs between the
            two.
    """

    question: int
    item: int
    outcome: PairOutcome
    right: bool | None = None


def _distinct_pairs(found: Sequence[tuple[int, int, str | None, str | None]]) -> Iterator[_CompletionPair]:
    from workbench.verifiers.duel.pairwise import PairOutcome

    seen: set[frozenset[int]] = set()
    for item, question, _, trace in found:
        for one in msgspec.json.decode(trace)["pairs"] if trace is not None else ():
            outcome = msgspec.convert(one, PairOutcome)
            if (both := frozenset((item, outcome.rival))) not in seen:
                seen.add(both)
                yield _CompletionPair(question=question, item=item, outcome=outcome)


def _compare_with_gold(
    project: Project, pairs: Sequence[_CompletionPair], gold: GoldChoice
) -> Iterator[_CompletionPair]:
    everything = columns(project)
    labels = dict(zip(everything.item.tolist(), everything.gold(gold).tolist(), strict=True))
    for one in pairs:
        own, other = labels.get(one.item, -1), labels.get(one.outcome.rival, -1)
        right = one.outcome.winner == ("a" if own else "b") if {own, other} == {0, 1} else None
        yield msgspec.structs.replace(one, right=right)


def _share_row(name: str, values: Sequence[bool], questions: Sequence[int]) -> PairwiseRow:
    import numpy as np

    from workbench.statistics.intervals import share_interval

    true = np.array(values, dtype=bool)
    interval = share_interval(true, np.array(questions, dtype=np.int64)) if len(true) else None
    return PairwiseRow(figure=name, n=len(true), share=float(true.mean()) if len(true) else None, ci=interval)


_ROWS: Columns[PairwiseRow] = (
    word("", lambda row: row.figure),
    count("n", lambda row: row.n),
    *with_interval("share", "share", "ci"),
)


def pairwise_text(report: PairwiseReport) -> str:
    lines = [
        f"{inert(report.verifier)}, run {report.run} ({report.state}): {counted(report.items, 'item')}",
        f"{counted(report.pairs, 'pair')}, {report.read:,} read in both orders; {report.ties:,} ties; "
        f"{report.inconsistent:,} with different preferences in the two orders, counted as ties",
        f"n: pairs; orders with a preference; pairs in which gold ({report.gold_choice}) calls one correct, "
        f"{report.gold_ties:,} of them ties, which are wrong",
    ]
    lines += [
        f"  no comparison: {n:,} {inert(reasons.code_with_title(reason))}" for reason, n in sorted(report.none.items())
    ]
    return "\n".join([*lines, "", aligned_rows(_ROWS, report.rows)]) + "\n"
