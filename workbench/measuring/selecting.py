"""Best of n: verifiers that pick one of several completions of a question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.config import protocol_of
from workbench.core.database.selection import check_names
from workbench.core.errors import Command, UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.text.emphasis import explain_marks, with_mark
from workbench.core.text.figures import NONE, counted, percent, signed_interval, signed_number
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring import notes
from workbench.measuring.judged import JudgedSelection, VerifierRun, counting, judged
from workbench.statistics.records.combined import BestOfReport, BestOfRow, PicksBy
from workbench.tables.document import Table
from workbench.tables.table import Columns as TableColumns
from workbench.tables.table import column, counts, ends, metric_column, table, with_interval, word
from workbench.tables.table_text import plain_table

if TYPE_CHECKING:
    from workbench.statistics.best_of import Picks


_MAX_EXPONENT = 10
"""Exponent of 2 for the largest n shown by default."""
_NOTHING = 1e-12


def best_of(
    project: Project,
    verifiers: tuple[str, ...] = (),
    *,
    sizes: tuple[int, ...] = (),
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> BestOfReport:
    """Measure how often the completion that a verifier picks from n is correct, compared with a random pick and the
    best possible pick.

    Args:
        verifiers: Names; empty for all verifiers with a complete run that judge completions.
        sizes: Values of n; by default 1, 2, 4, 8 ... as far as questions have that many completions with gold.
        protocol: How undecided verdicts, and items without a score in a run with scores, are counted.

    Raises:
        UsageError: A verifier is unknown or has no complete run.
    """
    protocol = protocol or protocol_of(project)
    import numpy as np

    reader = project.database.reader()
    wanted = check_names(reader, selection or Selection())
    found = judged(project, verifiers, gold=gold, selection=wanted)
    if not found.judges:
        raise UsageError("No verifier has a complete run.", "Start one", Command("verify DB NAME"))
    _, several = np.unique(found.question[found.gold >= 0], return_counts=True)
    most = int(several.max(initial=0))
    usual = (2**power for power in range(_MAX_EXPONENT + 1) if 2**power <= max(most, 1))
    return BestOfReport(
        questions=len(several),
        several=int(np.count_nonzero(several > 1)),
        most=most,
        rows=list(_best_of_rows(found, tuple(dict.fromkeys(sizes or usual)), protocol)),
        protocol=protocol,
        gold=found.gold_counts,
        gold_choice=gold,
        selection_judges=notes.among(project, [judge.name for judge in found.judges], wanted, found.columns),
    )


def _best_of_rows(found: JudgedSelection, sizes: tuple[int, ...], protocol: Protocol3) -> Iterator[BestOfRow]:
    from workbench.statistics.best_of import best_of, keys_of, ranked

    for judge, outcome, score in zip(found.judges, found.outcomes, found.scores(), strict=True):
        usable, key = keys_of(outcome, score, found.gold, protocol)
        levels = ranked(key[usable], found.gold[usable], found.question[usable])
        for n in sizes:
            yield _best_of_row(judge, "verdict" if score is None else "score", n, best_of(levels, n))


def _best_of_row(judge: VerifierRun, picks_by: PicksBy, n: int, picks: Picks) -> BestOfRow:
    from workbench.statistics.best_of import mean_interval
    from workbench.statistics.intervals import student_interval

    there, completions = len(picks.size) > 0, int(picks.size.sum())
    accuracy, random, oracle = (
        float(share.mean()) if there else None for share in (picks.picked, picks.random, picks.oracle)
    )
    return BestOfRow(
        verifier=judge.name,
        run=judge.run,
        picks_by=picks_by,
        n=n,
        questions=len(picks.size),
        mixed=int(picks.mixed.sum()),
        completions=completions,
        accuracy=accuracy,
        ci=mean_interval(picks.picked, completions),
        random=random,
        oracle=oracle,
        gain=_gain_over_random(accuracy, random),
        gain_ci=student_interval(picks.picked - picks.random) if there else None,
        closed=_closed_share(accuracy, random, oracle),
        reason=None if there else f"No question has {n:,} completions with gold and a verdict to pick from.",
    )


def _gain_over_random(accuracy: float | None, random: float | None) -> float | None:
    if accuracy is None or random is None:
        return None
    return 0.0 if abs(accuracy - random) < _NOTHING else accuracy - random


def _closed_share(accuracy: float | None, random: float | None, oracle: float | None) -> float | None:
    if accuracy is None or random is None or oracle is None or oracle - random < _NOTHING:
        return None
    return (accuracy - random) / (oracle - random)


# -- Best of n as a table and as text.


_UNDECIDED = {
    "forced": "undecided completions rank last",
    "strict": "undecided completions rank opposite to their gold",
    "decided": "undecided completions can't be picked",
}


def best_of_text(report: BestOfReport) -> str:
    return f"{best_of_head(report)}\n\n{plain_table(best_of_table(report))}"


def best_of_head(report: BestOfReport) -> str:
    return (
        f"{counting(report.protocol, report.gold_choice, report.gold)}\n"
        f"{counted(report.questions, 'question')} with gold, {report.several:,} of them with two completions or more; "
        f"the most is {report.most:,}"
    )


def best_of_table(report: BestOfReport) -> Table:
    columns: TableColumns[BestOfRow] = (
        word("verifier", lambda one: with_mark(one.verifier, report.selection_judges)),
        word("picks by", lambda one: one.picks_by),
        *counts("n", "questions", "mixed"),
        *with_interval("best of n", "accuracy", "ci"),
        metric_column("random", lambda one: one.random),
        metric_column("oracle", lambda one: one.oracle),
        column("gain", lambda one: one.gain, signed_number),
        ends(lambda one: one.gain_ci, signed_interval),
        column("closed", lambda one: one.closed, lambda share: NONE if share is None else f"{percent(share)} %"),
    )
    caption = "How often the completion that a verifier picks of n is correct"
    return table(caption, columns, report.rows, notes=_table_notes(report))


def _table_notes(report: BestOfReport) -> Iterator[str]:
    yield (
        f"Expected values over all subsets of n completions; ties are picked at random; {_UNDECIDED[report.protocol]}. "
        "Questions with at least n completions, equally weighted; mixed: those with both correct "
        "and incorrect completions."
    )
    yield (
        "random: a random pick; oracle: a correct completion if there is one (pass@n); closed: the share of the gap "
        "between them that the verifier closes."
    )
    if report.several * 2 < report.questions:
        several = counted(report.several, "question")
        yield f"Most questions here have one completion: what a verifier picks of {several} says little about it."
    yield from explain_marks(report.selection_judges)
