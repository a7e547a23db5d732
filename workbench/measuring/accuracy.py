"""The headline: verifiers by group, in a named protocol, against a named gold."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from workbench.core.breakdown import crossing
from workbench.core.database import events
from workbench.core.database.selection import check_names
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring import selected_by
from workbench.measuring.cells import Parts, tests_of, with_deltas, with_tests
from workbench.measuring.columns import Columns
from workbench.measuring.entries import BASELINES, AccuracyQuery, Entries, Entry, Measured
from workbench.measuring.judged import judges_of
from workbench.measuring.notes import notes
from workbench.measuring.store import curation
from workbench.measuring.transferring import check_share, transfer
from workbench.statistics.records.agreement import Ceiling
from workbench.statistics.records.report import AccuracyReport, AccuracyRow, AverageRow

if TYPE_CHECKING:
    from workbench.statistics.subgroups import CellTest


def accuracy(
    project: Project,
    *,
    verifiers: tuple[str, ...] = (),
    by: str | None = None,
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    selection: Selection | None = None,
    run: int | None = None,
    live: bool = False,
    prevalence: float | None = None,
    accept_rate: float | None = None,
    known: Columns | None = None,
) -> AccuracyReport:
    """Accuracy rows of the newest complete run of each verifier, or of one run, and of the baselines.

    Args:
        verifiers: Names; empty for all that have a complete run and judge completions.
        by: One of ``GROUPS``, several with commas between them, or None for the row over all items only.
        run: Exactly this run.
        live: Take verifiers too that have no complete run yet but one on its way.
        prevalence: Say also how accurate each would be where this share of completions is correct.
        accept_rate: Say also which share of completions is correct where each accepts this share.
        known: The columns, where gold is another than today's.

    Raises:
        UsageError: An unknown verifier, run or group, or a share outside 0 to 1.
    """
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
    report = _counted(entries, entries.gold_counts())
    rows, best_at = transfer(entries, prevalence, accept_rate)
    report = structs.replace(report, rows=_marked(project, report.rows, entries), transfer=rows, best_at=best_at)
    ceilings, untyped = _ceilings(project, report, entries), partial(curation.untyped, reader)
    return structs.replace(report, notes=notes(report, entries, ceilings, untyped))


def _counted(entries: Entries, gold: dict[str, int]) -> AccuracyReport:
    """The report with every figure that has a closed form."""
    asked = entries.asked
    rows, averages, tests = [], [], {}
    for entry in entries.everyone:
        own, found, average = entries.remembered("accuracy", (entry,), partial(_figures, entries, entry))
        rows += own
        tests[entry.name] = found
        averages.append(average)
    rows, made = with_tests(rows, tests)
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


def _figures(entries: Entries, entry: Entry) -> tuple[list[AccuracyRow], dict[Parts, CellTest], AverageRow]:
    """One entry's rows, the tests of its cells, and its averages."""
    from workbench.statistics.accuracy import accuracy_rows, count_clusters

    asked, measured = entries.asked, entries.measured(entry)
    counted = count_clusters(measured.columns)
    rows = accuracy_rows(entry.name, measured.columns, asked.protocol, counted)
    tests: dict[Parts, CellTest] = {}
    if asked.by is not None:
        pieces = measured.pieces(counted, asked.protocol)
        rows = with_deltas(rows, measured.columns, pieces)
        # What is said without a look at the completion can only differ by what gold is.
        if entry.name not in BASELINES and rows[0].accuracy is not None:
            tests = tests_of(measured.columns, pieces)
    return [structs.replace(row, kind=entry.kind) for row in rows], tests, _average(rows, measured, asked)


def _average(rows: list[AccuracyRow], measured: Measured, asked: AccuracyQuery) -> AverageRow:
    """Both averages, macro over the groups shown; over types where there are none, or groups are the verifier's own."""
    from workbench.statistics.averages import average, shares

    everything, *groups = rows
    if everything.accuracy is None:
        return average(everything.verifier, None, (), asked.by or "type")
    if asked.by is not None and "reason" not in crossing(asked.by):
        return average(everything.verifier, everything.accuracy, [row.accuracy for row in groups], asked.by)
    counted, right = measured.graded(asked.protocol)
    return average(everything.verifier, everything.accuracy, shares(right[counted], measured.kind[counted]), "type")


def _marked(project: Project, rows: list[AccuracyRow], entries: Entries) -> list[AccuracyRow]:
    """The rows, with a mark at judges that helped to choose the items."""
    chose = selected_by.choosers(project, entries.asked.selection, entries.datasets())
    return [structs.replace(row, selection_judge=row.verifier in chose) for row in rows]


def _ceilings(project: Project, report: AccuracyReport, entries: Entries) -> list[Ceiling]:
    """How high label noise lets a verifier be measured, where gold is people's."""
    from workbench.labelling.agreement.measuring import ceilings

    if report.gold_choice == "imported" or not report.gold["agreed"] + report.gold["adjudicated"]:
        return []
    newest = events.last(project.database.reader())
    return entries.everything.counted(("ceiling", newest), (), lambda: ceilings(project))


def complete_run(project: Project, verifier: str) -> int | None:
    """The newest run of a verifier that has been complete; None for the baseline, which needs none.

    Raises:
        UsageError: The verifier has no complete run.
    """
    return judges_of(project, (verifier,))[0].run
