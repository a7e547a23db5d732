"""Metrics as the commands compute them, each under a unique name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.verdict import Protocol3

if TYPE_CHECKING:
    from workbench.statistics.records.report import AccuracyReport

Value = float | None
Figures = dict[str, Value]

_RATES = ("n", "questions", "accuracy", "balanced_accuracy", "mcc", "fpr", "fnr")
_ROW = (*_RATES, "coverage", "auroc")
_COUNTS = ("tp", "fp", "tn", "fn", "abstain", "error")
_PAIRED = (
    *("n", "questions", "both_right", "only_a", "only_b", "both_wrong", "difference"),
    *("accuracy_a", "accuracy_b"),
)
_AGREED = ("items", "paired", "labels", "percent_agreement", "krippendorff_alpha", "gwet_ac1", "pabak", "fleiss_kappa")
_ESTIMATED = ("estimate", "classical", "power", "effective")
_RANKED = ("top1", "bottom1", "spearman", "kendall")


def named(record: Any, names: Sequence[str], prefix: str = "") -> Figures:
    """Return fields of a record by their names."""
    return {f"{prefix}{name}": getattr(record, name) for name in names}


def table(project: Project, protocol: Protocol3, by: str | None) -> AccuracyReport:
    """Return an accuracy table without the columns of judges."""
    from workbench.measuring.accuracy import accuracy

    return accuracy(project, protocol=protocol, by=by, seed=None)


def verifiers(report: AccuracyReport) -> list[str]:
    """Return the verifiers of a table that have runs and did not fail on every item."""
    rows = [row for row in report.rows if row.group is None and row.kind == "verifier"]
    return [row.verifier for row in rows if row.error < row.tp + row.fp + row.tn + row.fn or not row.error]


def accuracy_rows(report: AccuracyReport, verifier: str) -> Figures:
    """Return the rows and averages of one verifier."""
    found: Figures = {}
    for row in report.rows:
        if row.verifier == verifier and (row.group is None or report.by is not None):
            at = "all" if row.group is None else f"{report.by} {row.group}"
            found |= named(row, _ROW if row.group is None else (*_ROW, "delta"), f"{at} | ")
    average = next(one for one in report.averages if one.verifier == verifier)
    return found | {"all | micro": average.micro, "all | macro": average.macro}


def counts(report: AccuracyReport, verifier: str) -> Figures:
    """Return the counts of one verifier over all items."""
    row = next(row for row in report.rows if row.verifier == verifier and row.group is None)
    return named(row, _COUNTS)


def joint(project: Project, a: str, b: str) -> Figures:
    """Return how far two verifiers agree."""
    from workbench.measuring.comparing import joint_errors

    (pair,) = joint_errors(project, (a, b)).errors
    return {
        **named(pair, ("n", "agreement", "kappa")),
        "both wrong": pair.errors.both_wrong,
        "phi": pair.errors.phi,
        "yules_q": pair.errors.yules_q,
    }


def comparison(project: Project, a: str, b: str, protocol: Protocol3) -> Figures:
    """Return the comparison of a pair; empty if no item counts for both."""
    from workbench.measuring.comparing import compare

    try:
        report = compare(project, a, b, protocol=protocol)
    except UsageError:
        return {}
    found = named(report, _PAIRED)
    for one in report.metrics:
        found |= {f"{one.metric} of A": one.a, f"{one.metric} of B": one.b}
    return found


def agreement(project: Project, task: Any) -> Figures:
    """Return the agreement between annotators."""
    from workbench.labelling.agreement.measuring import agreement as measured

    report = measured(project, task)
    found = named(report, _AGREED)
    for pair in report.cohen_kappa:
        found |= named(pair, ("n", "agreement", "kappa"), f"{' and '.join(sorted(pair.pair))} | ")
    return found


def estimates(project: Project, verifier: str, others: tuple[str, ...]) -> Figures:
    """Return the accuracy and the share of correct items, over all and by type."""
    from workbench.measuring.estimating import estimate

    report = estimate(project, verifier, others, by="type")
    found: Figures = {}
    for row in report.rows:
        if row.strata in (None, "type"):
            at = "all, by type" if row.stratified else "all" if row.group is None else f"type {row.group}"
            found |= named(row, _ESTIMATED, f"{row.quantity} | {at} | ")
    return found


def passes(project: Project, verifier: str, k: int) -> Figures:
    """Return pass@k by verdicts."""
    from workbench.coding.ranking.passing import pass_report, passes_by_verdict

    report = pass_report(passes_by_verdict(project, verifier), (k,))
    return {f"{row.dataset} | pass@{row.k}": row.value for row in report.rows}


class VerifierRanking(NamedTuple):
    """One verifier's ranking of the solutions of a data set.

    Attributes:
        name: The names of both.
        problems: The true and the verifier's scores of each measured problem.
    """

    name: str
    shown: Figures
    problems: list[tuple[list[float], list[float]]]


def rankings(project: Project) -> Iterator[VerifierRanking]:
    """Return every verifier with scores on every data set; empty without ground truth or scores."""
    from workbench.coding.ranking.measuring import compare_verifiers
    from workbench.coding.ranking.scores import truth_of

    try:
        found = compare_verifiers(project, truth_of(project), missing="drop", samples=0)
    except UsageError:
        return
    names = {row.verifier for row in found.report.rows}
    for row in found.report.rows:
        problems = []
        for problem in found.problems:
            scores = [[one.score, *(one.scores.get(name) for name in names)] for one in problem.solutions]
            if problem.dataset == row.dataset and all(None not in some for some in scores):
                truth = [one.score or 0.0 for one in problem.solutions]
                problems.append((truth, [one.scores[row.verifier] or 0.0 for one in problem.solutions]))
        yield VerifierRanking(f"{row.verifier} | {row.dataset}", named(row, _RANKED), problems)


def calibration(project: Project, verifier: str) -> Figures:
    """Return the metrics that need no fit; empty for a verifier without scores or with too few."""
    from workbench.measuring.calibrating import calibrate

    try:
        report = calibrate(project, verifier)
    except UsageError:
        return {}
    rows = [row for row in report.rows if row.reading in ("verdict", "score")]
    return {
        key: value
        for row in rows
        for key, value in named(row, ("auroc", "ece", "brier", "accuracy"), f"{row.reading} | ").items()
    }
