"""Comparisons as text: what is compared, its tables, and what they say."""

from __future__ import annotations

from textwrap import fill

from workbench.model.comparison import (
    LEVEL,
    CompareReport,
    Example,
    FamilyReport,
    JointErrorReport,
    PairedFigures,
    Quadrant,
)
from workbench.render.bars import counted, percent
from workbench.render.inert import inert
from workbench.render.marks import with_mark
from workbench.reports.document import Table
from workbench.reports.table_text import plain_table
from workbench.services.measuring.comparing_tables import pair_tables
from workbench.services.measuring.counting import counting
from workbench.services.measuring.error_tables import error_tables
from workbench.services.measuring.family_tables import STANDINGS, family_tables, standing

_WIDTH = 79
_KINDS: dict[Quadrant, str] = {
    "only_a": "only A right",
    "only_b": "only B right",
    "both_wrong": "both wrong",
    "both_right": "both right",
}
"""Quadrant -> what it is called, those that tell most first."""


def comparison_text(report: CompareReport | FamilyReport | JointErrorReport) -> str:
    """Any comparison for a terminal."""
    if isinstance(report, CompareReport):
        return compare_text(report)
    return family_text(report) if isinstance(report, FamilyReport) else errors_text(report)


def compare_text(report: CompareReport) -> str:
    """The whole comparison of a pair for a terminal."""
    blocks = [_head(report), *_tables(pair_tables(report)), *_drawn(report), fill(verdict(report), _WIDTH)]
    blocks += [_examples(report, kind) for kind in _KINDS if report.examples[kind]]
    return "\n\n".join(blocks) + "\n"


def family_text(report: FamilyReport) -> str:
    """The whole comparison of a family for a terminal."""
    how = counting(report.protocol, report.gold_choice, report.gold)
    return "\n\n".join([how, *_tables(family_tables(report)), fill(ranking(report), _WIDTH)]) + "\n"


def errors_text(report: JointErrorReport) -> str:
    """Agreement and errors in common for a terminal."""
    how = counting(report.protocol, report.gold_choice, report.gold)
    return "\n\n".join([how, *_tables(error_tables(report)), *_drawn(report)]) + "\n"


def verdict(report: CompareReport) -> str:
    """What a comparison's figures say, in a sentence or two."""
    return told(report, report.a, report.b)


def told(figures: PairedFigures, a: str, b: str) -> str:
    """What paired figures say of two, named as they are to be named."""
    a, b = inert(a), inert(b)
    points = f"{abs(100 * figures.difference):.1f} points"
    if figures.only_a == figures.only_b == 0:
        return f"{a} and {b} are right and wrong on the very same items."
    tests, interval = _signs(figures)
    if tests and interval:
        better, worse = (a, b) if figures.difference > 0 else (b, a)
        return f"{better} is right more often than {worse}, by {points}; chance alone seldom gives so much."
    seen = "" if figures.detectable is None else _could_be_seen(figures.detectable)
    ahead = f"are {points} apart" if figures.difference else "are right equally often"
    if tests or interval:
        return f"{a} and {b} {ahead}, a close call: the tests and the interval don't agree that it is no chance.{seen}"
    return f"{a} and {b} {ahead}: these items can't tell which of them is better.{seen}"


def is_clear(figures: PairedFigures) -> bool:
    """Whether `told` calls one of the two better."""
    return all(_signs(figures))


def _signs(figures: PairedFigures) -> tuple[bool, bool]:
    """Whether both tests, and the interval, say that a difference is no chance."""
    tests = max(figures.mcnemar_p, figures.permutation_p) < LEVEL
    return tests, not figures.ci[0] <= 0 <= figures.ci[1]


def ranking(report: FamilyReport) -> str:
    """What a family's tests say: how each stands to the reference, or who can't be told apart."""
    if report.against is not None:
        named = {
            word: [inert(pair.a) for pair in report.family if standing(pair, report.level) == word]
            for word in STANDINGS
        }
        parts = [f"{word}: {', '.join(names)}" for word, names in named.items() if names]
        return f"Against {inert(report.against)}, {'; '.join(parts)}."
    groups = [group for group in report.groups or [] if len(group) > 1]
    if not groups:
        return "Every two of them differ."
    if len(groups[0]) == len(report.members):
        return "No two of them can be told apart on these items."
    together = "; ".join(", ".join(map(inert, group)) for group in groups)
    return f"Not told apart: {together}. Any two that don't stand together here differ."


def _could_be_seen(difference: float) -> str:
    if difference >= 1:
        return " They are too few to show any difference reliably."
    return f" A true difference of {percent(difference)} points would show in four of five cases."


def _tables(tables: tuple[Table, ...]) -> list[str]:
    return [plain_table(table).rstrip("\n") for table in tables]


def _drawn(report: CompareReport | JointErrorReport) -> list[str]:
    draws = report.bootstrap
    return [f"bootstrap of questions, {draws.samples:,} samples, seed {draws.seed}"] if draws else []


def _head(report: CompareReport) -> str:
    left_out = f"; {report.unpaired:,} that count for one only are left out" if report.unpaired else ""
    chose = report.selection_judges
    undecided = f"\nundecided: A {report.undecided_a:,}, B {report.undecided_b:,}"
    return (
        f"A {inert(with_mark(report.a, chose))}{_run(report.run_a)}\n"
        f"B {inert(with_mark(report.b, chose))}{_run(report.run_b)}\n"
        f"{counting(report.protocol, report.gold_choice, report.gold)}\n"
        f"{counted(report.n, 'item')} in {counted(report.questions, 'question')}{left_out}"
        f"{undecided if report.undecided_a or report.undecided_b else ''}"
    )


def _run(number: int | None) -> str:
    return "" if number is None else f", run {number}"


def _examples(report: CompareReport, kind: Quadrant) -> str:
    found: list[Example] = report.examples[kind]
    names = [(inert(example.completion_id), inert(example.question_id)) for example in found]
    widths = [max(len(name[column]) for name in names) for column in (0, 1)]
    lines = [
        f"  {completion:<{widths[0]}}  {question:<{widths[1]}}  gold {example.gold:<9}  A {example.a:<9}  B {example.b}"
        for (completion, question), example in zip(names, found, strict=True)
    ]
    return "\n".join((f"{_KINDS[kind]}: {len(found):,} of {getattr(report, kind):,}", *lines))
