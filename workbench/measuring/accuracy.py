"""Measures the accuracy of verifiers by group, under a named protocol and against a named gold."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec import structs

from workbench.config import protocol_of
from workbench.core.database import journal
from workbench.core.database.selection import check_names
from workbench.core.errors import UsageError, opt
from workbench.core.project import Project, at_one_moment
from workbench.core.selection import Selection, split_grouping
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring import notes as selected_by
from workbench.measuring.columns import Columns
from workbench.measuring.entries import (
    BASELINES,
    CONSTANTS,
    AccuracyQuery,
    Entries,
    Entry,
    Measured,
    Parts,
    with_deltas,
    with_tests,
)
from workbench.measuring.notes import notes_for
from workbench.measuring.store import curation
from workbench.runs.store.settled import shown_items
from workbench.statistics.records.agreement import Ceiling
from workbench.statistics.records.report import AccuracyReport, AccuracyRow, AverageRow, BestAt, NoisyRow, TransferRow

if TYPE_CHECKING:
    from workbench.statistics.permutations import CellTest
    from workbench.statistics.rates import Rates


SEED: Final = 0
"""Seed of the permutations behind p-values."""

# -- Expected metrics of a table's verifiers at another share of correct completions.


def check_share(what: str, share: float | None) -> None:
    """Reject a number that is not a share.

    Raises:
        UsageError: The number is not from 0 to 1.
    """
    if share is not None and not 0 <= share <= 1:
        raise UsageError(f"The {what} is a share from 0 to 1, not {share:g}.", "Write one half as 0.5.")


def transfer(
    entries: Entries, prevalence: float | None, accept_rate: float | None
) -> tuple[list[TransferRow], list[BestAt]]:
    """Return each row's expected metrics at another prevalence, and the ranges where each verifier is best.

    Args:
        prevalence: The share of correct completions in other data; None if not requested.
        accept_rate: The share of completions that a verifier accepts in other data; None if not requested.
    """
    from workbench.statistics.rates import best

    if prevalence is None and accept_rate is None:
        return [], []
    known = {entry.name: _class_rates(entries, entry) for entry in entries.everyone}
    # A baseline that knows the gold can't be a candidate.
    choice = [entry.name for entry in entries.everyone if entry.kind == "verifier" or entry.name in CONSTANTS]
    compared = {name: rates for name in choice if (rates := known[name]) is not None}
    ahead = best(list(compared.values())) if prevalence is not None else []
    names = list(compared)
    return (
        [_transfer_row(entry, known[entry.name], prevalence, accept_rate) for entry in entries.everyone],
        [BestAt(verifier=names[one.place], low=one.low, high=one.high) for one in ahead],
    )


def _class_rates(entries: Entries, entry: Entry) -> Rates | None:
    from workbench.statistics.rates import rates

    measured = Measured(entries, entry, entries.asked.by)
    counted, right = measured.graded()
    return rates(right[counted], measured.columns.gold[counted], measured.columns.question[counted])


def _transfer_row(
    entry: Entry, known: Rates | None, prevalence: float | None, accept_rate: float | None
) -> TransferRow:
    from workbench.statistics.rates import accuracy_at, true_rate

    expected = None if known is None or prevalence is None else accuracy_at(prevalence, known)
    # A baseline's verdicts don't depend on completions: there is nothing to estimate.
    return TransferRow(
        verifier=entry.name,
        prevalence=prevalence,
        accuracy=None if expected is None else expected[0],
        ci=None if expected is None or entry.kind == "baseline" else expected[1],
        accept_rate=accept_rate,
        true_rate=None if known is None or accept_rate is None else true_rate(accept_rate, known),
    )


@at_one_moment
def accuracy(
    project: Project,
    *,
    verifiers: tuple[str, ...] = (),
    by: str | None = None,
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
    run: int | None = None,
    live: bool = False,
    prevalence: float | None = None,
    accept_rate: float | None = None,
    known: Columns | None = None,
    seed: int | None = SEED,
    label_noise: bool = False,
    notes: bool = True,
) -> AccuracyReport:
    """Return accuracy rows of each verifier's newest complete run (or of one run) and of the baselines.

    Args:
        verifiers: Names; empty for all verifiers with a complete run that judge completions.
        by: One of ``GROUPS``, several with commas between them, or None for the row over all items only.
        run: Measure exactly this run; None for each verifier's newest complete run.
        live: Also include verifiers whose first complete run is in progress.
        prevalence: Also report expected accuracy at this share of correct completions.
        accept_rate: Also report the share of correct completions at which each verifier would accept this share of
            completions.
        known: Columns with gold that differs from the current gold; None to read the current columns.
        label_noise: Also report expected accuracy against labels without errors.
        seed: Seed of the permutations behind p-values; None for a normal approximation, which is fast.
        notes: Whether to compute the notes on the report, which takes longer than its rows.

    Raises:
        UsageError: An unknown verifier, run or group, a share outside 0 to 1, or gold whose noise is unknown.
    """
    protocol = protocol or protocol_of(project)
    check_share("prevalence", prevalence)
    check_share("accept rate", accept_rate)
    reader = project.database.reader()
    asked = AccuracyQuery(
        verifiers=verifiers,
        by=by,
        protocol=protocol,
        gold=gold,
        selection=check_names(reader, selection or Selection()),
        run=run,
        live=live,
    )
    entries = Entries(project, asked, known)
    report = _accuracy_report(entries, entries.everything.gold_counts(gold, entries.kept), seed)
    rows, best_at = transfer(entries, prevalence, accept_rate)
    chose = selected_by.choosers(project, asked.selection, entries.everything.datasets(entries.rows))
    marked = [structs.replace(row, selection_judge=row.verifier in chose) for row in report.rows]
    report = structs.replace(report, rows=marked, transfer=rows, best_at=best_at)
    ceilings = _ceilings(project, report, entries) if notes or label_noise else []
    if label_noise:
        report = structs.replace(report, label_noise=_without_noise(report, ceilings))
    if not notes:
        return report
    untyped = partial(curation.untyped, reader)
    return structs.replace(report, notes=notes_for(report, entries, ceilings, untyped, shown_items(reader)))


def _accuracy_report(entries: Entries, gold: dict[str, int], seed: int | None) -> AccuracyReport:
    asked = entries.asked
    rows, averages, tests = [], [], {}
    for entry in entries.everyone:
        measured = Measured(entries, entry, asked.by)
        own, average = entries.remembered("accuracy", (entry,), partial(_rows_and_average, measured))
        rows += own
        # A baseline's verdict doesn't depend on the completion, so its rows differ only by gold.
        if asked.by is not None and entry.name not in BASELINES and own[0].accuracy is not None:
            tests[entry.name] = entries.remembered(f"tests {seed}", (entry,), partial(_test_groups, measured, seed))
        averages.append(average)
    rows, made = with_tests(rows, tests, seed)
    return AccuracyReport(
        protocol=asked.protocol,
        gold=gold,
        gold_choice=asked.gold,
        by=asked.by,
        rows=rows,
        averages=averages,
        tests=made,
        unfinished=entries.unfinished,
    )


def _rows_and_average(of: Measured) -> tuple[list[AccuracyRow], AverageRow]:
    from workbench.statistics.accuracy import accuracy_rows

    asked = of.entries.asked
    rows = accuracy_rows(of.entry.name, of.columns, asked.protocol, of.counts)
    if asked.by is not None:
        rows = with_deltas(rows, of.columns, of.pieces())
    if of.entry.kind == "baseline":
        rows = [structs.replace(row, kind="baseline", balanced_accuracy_ci=None, mcc_ci=None) for row in rows]
    return rows, _average(rows, of, asked)


def _test_groups(of: Measured, seed: int | None) -> dict[Parts, CellTest]:
    from workbench.statistics.permutations import cell_tests

    pieces, parts = of.pieces(), of.columns.parts
    found = cell_tests(pieces) if seed is None else of.entries.everything.memory.tests(pieces, seed)
    return {parts[place]: test for place, test in found.items()}


def _average(rows: list[AccuracyRow], measured: Measured, asked: AccuracyQuery) -> AverageRow:
    """Return the micro average, and the macro average over the groups shown. It is over types if no groups are shown
    or if the groups depend on the verifier.
    """
    from workbench.statistics.accuracy import average, shares

    everything, *groups = rows
    if everything.accuracy is None:
        return average(everything.verifier, None, (), asked.by or "type")
    if asked.by is not None and "reason" not in split_grouping(asked.by):
        return average(everything.verifier, everything.accuracy, [row.accuracy for row in groups], asked.by)
    counted, right = measured.graded()
    return average(everything.verifier, everything.accuracy, shares(right[counted], measured.kind[counted]), "type")


def _ceilings(project: Project, report: AccuracyReport, entries: Entries) -> list[Ceiling]:
    from workbench.labelling.agreement.measuring import ceilings

    if report.gold_choice == "imported" or not report.gold["agreed"] + report.gold["adjudicated"]:
        return []
    chosen = entries.asked.selection
    if chosen != Selection():
        return ceilings(project, chosen)
    newest = journal.last_event_id(project.database.reader())
    return entries.everything.counted(("ceiling", newest), (), lambda: ceilings(project))


def _without_noise(report: AccuracyReport, ceilings: list[Ceiling]) -> list[NoisyRow]:
    """Return each verifier's accuracy corrected for label noise, with one row for each estimate of the annotators'
    error rate.

    Raises:
        UsageError: Some gold is not from annotators, or their error rate is unknown.
    """
    from workbench.statistics.rates import accuracy_without_label_errors

    if report.gold.get("imported"):
        raise UsageError(
            f"The error rate of imported labels is unknown: {report.gold['imported']:,} items have only such labels.",
            f"Use labels by annotators: {opt.gold:people}.",
        )
    if not ceilings:
        raise UsageError(
            "The error rate of annotators is unknown.", "Have items labelled by two people, or add checks."
        )
    found = []
    for one in ceilings:
        for row in report.rows:
            if row.group is not None or row.kind == "baseline" or row.accuracy is None:
                continue
            ends = (1 - one.highest_ci[1], 1 - one.highest_ci[0])
            known = None if row.ci is None else accuracy_without_label_errors(row.accuracy, row.ci, one.wrong, ends)
            found.append(
                NoisyRow(
                    verifier=row.verifier,
                    source=one.source,
                    wrong=one.wrong,
                    measured=row.accuracy,
                    measured_ci=row.ci,
                    accuracy=known and known[0],
                    ci=known and known[1],
                )
            )
    return found
