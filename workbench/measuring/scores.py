"""A verifier's scores compared with gold: correlation, pairs, and the threshold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from workbench.config import protocol_of
from workbench.core.errors import Command, UsageError, opt
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.selection import Condition, Selection
from workbench.core.taxonomy import type_display
from workbench.core.text.emphasis import explain_marks, with_mark
from workbench.core.text.figures import counted, number
from workbench.core.text.inert import inert
from workbench.core.verdict import GoldChoice, OutcomeCode, Protocol3
from workbench.measuring import notes
from workbench.measuring.accuracy_tables import metric_columns
from workbench.measuring.columns import columns as every_column
from workbench.measuring.judged import judges_of
from workbench.runs import verifying
from workbench.runs.choosing import construct_verifier, resolve_verifier
from workbench.runs.store import runs as stored_runs
from workbench.runs.trust import require_trust
from workbench.runs.verdict_files import run_of
from workbench.statistics.records.probe import Method, PairReport, PairRow, ThresholdReport, Unpaired
from workbench.statistics.records.report import AccuracyRow, CorrelationReport, CorrelationRow
from workbench.tables.table import Columns, aligned_rows, count, ends, with_interval, word

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
    from workbench.statistics.scores import Pairs


class ItemScores(Struct, frozen=True, kw_only=True, eq=False):
    """A verifier's scores on the selected items: arrays with one value for each item, in order of row id.

    Attributes:
        run: The run of the scores.
        item: Row ids of the items.
        outcome: The run's outcomes, -1 for none.
        score: Its scores, NaN for none.
        gold: 1 correct, 0 incorrect, -1 none.
        group: Each item's group, as a position in ``names``; None if items are not grouped.
    """

    verifier: str
    run: int
    item: IntArray
    question: IntArray
    outcome: IntArray
    score: FloatArray
    gold: IntArray
    group: IntArray | None
    names: tuple[str, ...]


def scored(
    project: Project,
    verifier: str,
    selection: Selection,
    gold: GoldChoice,
    by: str | None = None,
    run: int | None = None,
) -> ItemScores:
    """Return the scores of a verifier's newest complete run.

    Args:
        run: Use this run.

    Raises:
        UsageError: The verifier has no complete run, or none of its verdicts has a score.
    """
    everything = every_column(project)
    run = judges_of(project, (verifier,))[0].run if run is None else run
    score = everything.score(run)
    if run is None or score is None:
        raise UsageError(
            f"{verifier} gives no scores.",
            "Reward models, similarity metrics and judges with top_logprobs give scores.",
        )
    kept = everything.chosen(selection)
    rows = slice(None) if kept is None else kept
    groups = everything.groups(by) if by else None
    return ItemScores(
        verifier=verifier,
        run=run,
        item=everything.item[rows],
        question=everything.question[rows],
        outcome=everything.outcome(run)[rows],
        score=score[rows],
        gold=everything.gold(gold)[rows],
        group=None if groups is None else groups.code[rows],
        names=() if groups is None else groups.names,
    )


# -- Correlation of a verifier's scores with gold.


def correlate(
    project: Project,
    verifier: str,
    *,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
    run: int | None = None,
) -> CorrelationReport:
    """Compute Kendall's, Pearson's and Spearman's coefficients of a verifier's scores with gold.

    Args:
        verifier: Name of the verifier.
        run: A run of the verifier; by default its newest complete run, or its newest run if none is complete.

    Raises:
        UsageError: The verifier, the run or a field does not exist, or the run has no scores.
    """
    import numpy as np

    from workbench.statistics.correlation import correlations

    wanted = selection or Selection()
    found = scored(project, verifier, wanted, gold, run=run_of(project, verifier, run))
    everything = every_column(project)
    judged = (found.gold >= 0) & (found.outcome >= 0)
    has_score = judged & ~np.isnan(found.score)
    coefficients = correlations(found.score, found.gold, found.question)
    return CorrelationReport(
        verifier=verifier,
        run=found.run,
        n=int(has_score.sum()),
        unscored=int(judged.sum() - has_score.sum()),
        gold=everything.gold_counts(gold, everything.chosen(wanted)),
        gold_choice=gold,
        rows=[
            CorrelationRow(
                method=method, corpus=row.corpus, per_question=row.mean, defined=row.defined, questions=row.groups
            )
            for method, row in coefficients.items()
        ],
        selection_judges=notes.among(project, (verifier,), selection, everything),
    )


# -- Pairwise accuracy, for questions with one correct and one incorrect completion.


GROUPS = ("type", "subtype", "domain", "source", "dataset")
"""Groupings of pairs: properties shared by both completions of a question."""


def pairs(
    project: Project,
    verifier: str,
    *,
    by: str | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> PairReport:
    """Measure how often a verifier scores a question's correct completion above its incorrect one.

    Args:
        by: One of `GROUPS`, or None for the row over all pairs only.

    Raises:
        UsageError: There are no scores, or the data is not paired: fewer than half of the questions with gold have
            exactly one correct and one incorrect completion. A few accidental pairs are not a sample of the data.
    """
    from workbench.statistics.scores import pair_row, pair_up

    if by is not None and by not in GROUPS:
        raise UsageError(f"Pairs can't be broken down by {by!r}.", f"Use one of: {', '.join(GROUPS)}.")
    columns = scored(project, verifier, selection or Selection(), gold, by)
    found = pair_up(columns.score, columns.gold, columns.question)
    paired, questions = len(found.row), len(found.row) + sum(structs.astuple(found.unpaired))
    if not paired or (paired + found.unpaired.unscored) * 2 < questions:
        raise UsageError(
            f"This data is not paired: {paired:,} of {questions:,} questions with gold have exactly one correct and "
            f"one incorrect completion with scores ({unpaired_in_words(found.unpaired)}).",
            f"Choose paired data with {opt.where}, or use accuracy and AUROC: {Command('accuracy DB')}",
        )
    return PairReport(
        verifier=verifier,
        run=columns.run,
        gold_choice=gold,
        by=by,
        questions=questions,
        paired=paired,
        unpaired=found.unpaired,
        rows=[pair_row(None, found), *_pair_rows(columns, found)],
        selection_judges=notes.among(project, (verifier,), selection, every_column(project)),
    )


def unpaired_in_words(unpaired: Unpaired) -> str:
    return (
        f"{unpaired.one_class:,} with completions of one kind only, {unpaired.several:,} with more than one correct or "
        f"incorrect, {unpaired.unscored:,} without both scores"
    )


def _pair_rows(columns: ItemScores, found: Pairs) -> list[PairRow]:
    import numpy as np

    from workbench.statistics.accuracy import group_order
    from workbench.statistics.scores import pair_row

    if columns.group is None:
        return []
    group = columns.group[found.row]
    rows = []
    for place in np.unique(group).tolist():
        chosen = group == place
        parts = {name: getattr(found, name)[chosen] for name in ("row", "correct", "incorrect")}
        rows.append(pair_row(columns.names[place], structs.replace(found, **parts)))
    return sorted(rows, key=lambda row: group_order(row.group or ""))


def pairs_text(report: PairReport) -> str:
    columns: Columns[PairRow] = (
        word("group", lambda row: _group_text(row, report.by)),
        count("pairs", lambda row: row.n),
        *with_interval("accuracy", "accuracy", "ci"),
        count("ties", lambda row: row.ties),
    )
    table = aligned_rows(columns, report.rows)
    left_out = "" if report.paired == report.questions else f"  left out: {unpaired_in_words(report.unpaired)}\n"
    return (
        f"{inert(with_mark(report.verifier, report.selection_judges))}, run {report.run}, gold {report.gold_choice}: "
        f"{report.paired:,} of {counted(report.questions, 'question')} paired\n{left_out}\n{table}\n"
        + "".join(f"{inert(note)}\n" for note in explain_marks(report.selection_judges))
    )


def _group_text(row: PairRow, by: str | None) -> str:
    if row.group is None:
        return "all"
    return type_display(row.group) if by in ("type", "subtype") else row.group


# -- Fitting the threshold that turns scores into verdicts, on a chosen part of the data.


def fit(
    project: Project,
    verifier: str,
    *,
    on: tuple[Condition, ...] = (),
    method: Method = "accuracy",
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> ThresholdReport:
    """Fit a threshold on some of the selected rows, and report its accuracy on these rows and on the others.

    Args:
        on: Conditions on the rows to fit on; empty for all rows.
        selection: All rows to fit and report on.

    Raises:
        UsageError: There are no scores, or the rows to fit on lack correct or incorrect completions.
    """
    protocol = protocol or protocol_of(project)
    import numpy as np

    from workbench.statistics.scores import fit_threshold

    selection = selection or Selection()
    columns = scored(project, verifier, selection, gold)
    split = Selection((*selection.conditions, *on))
    everything = every_column(project)
    chosen = everything.chosen(split)
    inside = np.isin(columns.item, everything.item if chosen is None else everything.item[chosen])
    usable = inside & (columns.gold >= 0) & np.isfinite(columns.score)
    correct = columns.gold[usable] == 1
    if correct.all() or not correct.any():
        raise UsageError(
            f"No threshold can be fitted on {split}: it has {int(correct.sum())} correct and "
            f"{int((~correct).sum())} incorrect completions with a score and gold.",
            "Both are needed.",
        )
    threshold = fit_threshold(columns.score[usable], correct, method)
    counted = (columns.gold >= 0) & (columns.outcome >= 0)
    if protocol == "decided":
        counted &= np.isfinite(columns.score) | (columns.outcome < OutcomeCode.ABSTAIN)
    has_rest = bool((counted & ~inside).any())
    on_questions, other_questions = (set(columns.question[counted & side].tolist()) for side in (inside, ~inside))
    return ThresholdReport(
        verifier=verifier,
        run=columns.run,
        method=method,
        on=str(split),
        threshold=threshold,
        fitted=_accuracy_row("fitted", columns, inside, threshold, protocol),
        rest=_accuracy_row("rest", columns, ~inside, threshold, protocol) if has_rest else None,
        in_sample=not has_rest,
        shared_questions=len(on_questions & other_questions),
        unscored=int((counted & np.isnan(columns.score)).sum()),
        protocol=protocol,
        gold_choice=gold,
        selection_judges=notes.among(project, (verifier,), selection, everything),
    )


def save(project: Project, report: ThresholdReport, name: str, *, trust: bool = False) -> RunInfo:
    """Add a verifier with a fitted threshold and start its run on the items that already have scores.

    The new verifier makes the same requests as the verifier with the scores, so stored replies answer all of them.

    Args:
        trust: Whether the user accepts the servers that the database names.

    Raises:
        UsageError: The verifier has no threshold option, or the name belongs to another configuration.
        NotTrustedError: The user has not accepted its servers.
        RunError: The runner can't be started.
    """
    run = stored_runs.get(project.database.reader(), report.run)
    assert run is not None
    kind, options = run.verifier.kind, {**run.verifier.options, "threshold": repr(report.threshold)}
    # The options come from the database, so starting a kind with them is not the user's own request.
    require_trust(project, construct_verifier(resolve_verifier(project, kind, options, name)), options, accept=trust)
    return verifying.start(project, kind, options, name, run.selection, run.workers)


def _accuracy_row(
    part: str, columns: ItemScores, chosen: BoolArray, threshold: float, protocol: Protocol3
) -> AccuracyRow:
    from workbench.statistics.accuracy import AccuracyColumns, accuracy_rows
    from workbench.statistics.scores import at_threshold

    score = columns.score[chosen]
    outcome = at_threshold(columns.outcome[chosen], score, threshold)
    kept = AccuracyColumns(outcome=outcome, gold=columns.gold[chosen], question=columns.question[chosen], score=score)
    (row,) = accuracy_rows(columns.verifier, kept, protocol)
    return structs.replace(row, group=part)


_FIGURES: Columns[AccuracyRow] = (
    word("rows", lambda row: row.group or ""),
    count("n", lambda row: row.n),
    *metric_columns("accuracy"),
    ends(lambda row: row.ci),
    *metric_columns("auroc", "fpr", "fnr"),
)


def threshold_text(report: ThresholdReport) -> str:
    table = aligned_rows(_FIGURES, [row for row in (report.fitted, report.rest) if row is not None])
    notes = []
    if report.in_sample:
        notes.append(
            "These are the rows the threshold was fitted on, so the metrics are too optimistic: fit on a part."
        )
    if report.shared_questions:
        notes.append(f"{counted(report.shared_questions, 'question')} have rows in both parts.")
    if report.unscored:
        notes.append(f"{counted(report.unscored, 'row')} without a score: no threshold moves their verdicts.")
    notes += map(inert, explain_marks(report.selection_judges))
    return (
        f"{inert(with_mark(report.verifier, report.selection_judges))}, run {report.run}: "
        f"correct if the score is at least {report.threshold!r}\n"
        f"fitted for {report.method} on {inert(report.on)}\n"
        f"protocol {report.protocol}, gold {report.gold_choice}\n\n{table}\n" + "".join(f"{note}\n" for note in notes)
    )


def correlation_lines(report: CorrelationReport) -> Iterator[str]:
    chose = report.selection_judges
    name = with_mark(report.verifier, chose)
    yield f"{name}, run {report.run}: {counted(report.n, 'item')} with a score and gold ({report.gold_choice})"
    if report.unscored:
        yield f"{report.unscored:,} more have a verdict without a score and don't count"
    yield f"{'':10}{'all items':>11}{'by question':>13}  questions that have one"
    for row in report.rows:
        mean = number(row.per_question)
        yield f"{row.method:10}{number(row.corpus):>11}{mean:>13}  {row.defined:,} of {row.questions:,}"
    yield from explain_marks(chose)
