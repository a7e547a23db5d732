"""A family of verifiers as tables."""

from __future__ import annotations

from typing import Final

from workbench.model.comparison import FamilyPair, FamilyReport
from workbench.render.bars import NONE, counted
from workbench.render.columns import interval, number, p_value
from workbench.render.marks import what_marks_mean, with_mark
from workbench.reports.document import Row, Table, heads, row
from workbench.services.measuring.comparing_cells import detectable, matrix, signed, signed_interval
from workbench.services.measuring.judged import nothing_measured

STANDINGS: Final = ("better", "worse", "not told apart")
"""What a pair's tests can say of A."""


def family_tables(report: FamilyReport) -> tuple[Table, ...]:
    """The verifiers by rank, the matrix of differences where all meet all, and the pairs."""
    matrix = () if report.against else (differences_table(report),)
    return (members_table(report), *matrix, pairs_table(report))


def members_table(report: FamilyReport) -> Table:
    """The verifiers, the most accurate first, with their letters."""
    letters = () if report.against else ("letters",)
    together = "" if report.against else "; those that share a letter can't be told apart"
    return Table(
        caption=f"Verifiers by accuracy{together}",
        head=(heads("", "verifier", "run", "n", "questions", "accuracy", "95 % interval", *letters),),
        left=2,
        rows=tuple(
            row(
                str(place),
                with_mark(one.verifier, report.selection_judges),
                NONE if one.run is None else str(one.run),
                f"{one.n:,}",
                f"{one.questions:,}",
                number(one.accuracy),
                interval(one.ci),
                *((one.letters,) if letters else ()),
            )
            for place, one in enumerate(report.members, 1)
        ),
        notes=(*nothing_measured(report.failed), *_uneven(report), *what_marks_mean(report.selection_judges)),
    )


def _uneven(report: FamilyReport) -> tuple[str, ...]:
    if report.failed or all(one.n == report.common for one in report.members):
        return ()
    return (
        f"Items that count for every verifier: {report.common:,}. Ranks compare accuracies on different items; pairs "
        "never do.",
    )


def differences_table(report: FamilyReport) -> Table:
    """Row less column, with a mark where Holm's p is below the level."""
    pairs = {(pair.a, pair.b): pair for pair in report.family}

    def cell(a: str, b: str) -> str:
        pair = pairs.get((a, b)) or pairs.get((b, a))
        if pair is None:
            return NONE
        difference = pair.difference if pair.a == a else 0.0 - pair.difference  # never "-0.000"
        return signed(difference) + ("*" if pair.holm_p < report.level else " ")

    return matrix(
        [one.verifier for one in report.members],
        cell,
        f"Accuracy of the row less that of the column; * {_holm(report)}",
    )


def pairs_table(report: FamilyReport) -> Table:
    """Every pair with its tests."""
    return Table(
        caption=f"All with {report.against}" if report.against else "Pairs",
        head=(
            heads(
                "A",
                "B",
                "n",
                "only A",
                "only B",
                "A - B",
                "95 % interval",
                "p",
                "Holm's p",
                "q",
                "detectable",
                "in words",
            ),
        ),
        left=2,
        rows=tuple(_pair_row(pair, report.level) for pair in report.family),
        notes=(
            f"p by permutation of questions; Holm's p keeps the chance of any false difference among "
            f"{counted(len(report.family), 'pair')} at its level, however they depend on each other; q (Benjamini and "
            "Hochberg) keeps the share of false ones. Each interval is for its pair alone.",
            *(
                f"{a} and {b} have no item in common that counts."
                for a, b in report.apart
                if not {a, b} & set(report.failed)
            ),
        ),
    )


def _pair_row(pair: FamilyPair, level: float) -> Row:
    return row(
        pair.a,
        pair.b,
        f"{pair.n:,}",
        f"{pair.only_a:,}",
        f"{pair.only_b:,}",
        signed(pair.difference),
        signed_interval(pair.ci),
        p_value(pair.permutation_p),
        p_value(pair.holm_p),
        p_value(pair.q),
        detectable(pair),
        standing(pair, level),
    )


def standing(pair: FamilyPair, level: float) -> str:
    """What a pair's tests say of A, one of `STANDINGS`."""
    return STANDINGS[2] if pair.holm_p >= level else STANDINGS[pair.difference < 0]


def _holm(report: FamilyReport) -> str:
    return f"Holm's p below {report.level} over {counted(len(report.family), 'pair')}"
