"""Verifiers' agreement and errors in common as tables."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.model.comparison import JointErrorReport, JointErrors, JudgePair
from workbench.render.bars import counted
from workbench.render.columns import interval, number
from workbench.render.marks import what_marks_mean, with_mark
from workbench.reports.document import Row, Table, heads, row
from workbench.services.measuring.comparing_cells import matrix, one_decimal
from workbench.services.measuring.judged import nothing_measured


def error_tables(report: JointErrorReport) -> tuple[Table, ...]:
    """Agreement, errors in common, the same within each gold class, and the matrix of error correlations."""
    return (agreement_table(report), phi_table(report), errors_table(report), classes_table(report))


def agreement_table(report: JointErrorReport) -> Table:
    """How far two verifiers say the same, gold or none."""
    return Table(
        caption="Same verdicts, on items with gold or without",
        head=(heads("A", "B", "n", "questions", "agreement", "kappa", "95 % interval"),),
        left=2,
        rows=tuple(
            row(
                with_mark(pair.a, report.selection_judges),
                with_mark(pair.b, report.selection_judges),
                f"{pair.n:,}",
                f"{pair.questions:,}",
                number(pair.agreement),
                number(pair.kappa),
                interval(pair.kappa_ci),
            )
            for pair in report.errors
        ),
        notes=(
            *nothing_measured(report.failed),
            *_one_verdict(report.errors),
            *what_marks_mean(report.selection_judges),
        ),
    )


def _one_verdict(pairs: Sequence[JudgePair]) -> tuple[str, ...]:
    undefined = any(pair.n and pair.kappa is None for pair in pairs)
    return ("kappa – where both say one and the same thing only: it is undefined there.",) if undefined else ()


def phi_table(report: JointErrorReport) -> Table:
    """The correlation of errors, verifiers by verifiers."""
    found = {frozenset((pair.a, pair.b)): pair.errors.phi for pair in report.errors}
    return matrix(
        list(report.verifiers),
        lambda a, b: number(found[frozenset((a, b))]),
        "Correlation of errors (phi), from -1 to 1; the lower, the more two judges gain by being combined",
    )


_ERRORS = ("A", "B", "n", "A wrong", "B wrong", "both", "by chance", "given gold", "phi", "95 % interval", "Q")


def errors_table(report: JointErrorReport) -> Table:
    """How often both are wrong, against what chance would give."""
    return Table(
        caption="Errors in common, on items with gold",
        head=(heads(*_ERRORS, "either right"),),
        left=2,
        rows=tuple(_errors_row(pair) for pair in report.errors),
        notes=(
            "by chance: items both would be wrong on were their errors independent; given gold: were they so within "
            "each gold class. phi and Q – where a verifier is always or never wrong.",
            best_pair(report),
        ),
    )


def _errors_row(pair: JudgePair) -> Row:
    errors = pair.errors
    return row(
        pair.a,
        pair.b,
        f"{errors.n:,}",
        f"{errors.wrong_a:,}",
        f"{errors.wrong_b:,}",
        f"{errors.both_wrong:,}",
        one_decimal(errors.expected),
        one_decimal(pair.expected_given_gold),
        number(errors.phi),
        interval(errors.phi_ci),
        number(errors.yules_q),
        number(pair.either_right),
    )


def classes_table(report: JointErrorReport) -> Table:
    """The same within each gold class: refused together, accepted together."""
    rows = [
        _class_row(pair, name, errors)
        for pair in report.errors
        for name, errors in (("correct", pair.on_correct), ("incorrect", pair.on_incorrect))
    ]
    return Table(
        caption="Errors in common within a gold class",
        head=(heads("A", "B", "gold", "n", "A wrong", "B wrong", "both", "by chance", "phi", "95 % interval"),),
        left=3,
        rows=tuple(rows),
    )


def _class_row(pair: JudgePair, name: str, errors: JointErrors) -> Row:
    counts = (errors.n, errors.wrong_a, errors.wrong_b, errors.both_wrong)
    figures = (one_decimal(errors.expected), number(errors.phi), interval(errors.phi_ci))
    return row(pair.a, pair.b, name, *(f"{count:,}" for count in counts), *figures)


def best_pair(report: JointErrorReport) -> str:
    """Which two leave the fewest items to both being wrong."""
    known = [pair for pair in report.errors if pair.either_right is not None]
    if not known:
        return "No two of them have an item with gold in common."
    best = max(known, key=lambda pair: pair.either_right or 0.0)
    return (
        f"{best.a} and {best.b} are both wrong on the smallest share: {best.errors.both_wrong:,} of "
        f"{counted(best.errors.n, 'item')}."
    )
