"""A paired comparison as text: the table, its figures, and what they say."""

from __future__ import annotations

from textwrap import fill

from workbench.model.report import CompareReport, Example
from workbench.render.bars import counted, percent
from workbench.render.inert import inert

_LEVEL = 0.05
_WIDTH = 79


def compare_text(report: CompareReport) -> str:
    """The whole report for a terminal."""
    blocks = [_head(report), _table(report), _figures(report), fill(verdict(report), _WIDTH)]
    blocks += [_examples(title, found) for title, found in _kinds(report) if found]
    return "\n\n".join(blocks) + "\n"


def verdict(report: CompareReport) -> str:
    """What the figures say, in a sentence or two."""
    a, b = inert(report.a), inert(report.b)
    points = f"{abs(100 * report.difference):.1f} points"
    if report.only_a == report.only_b == 0:
        return f"{a} and {b} are right and wrong on the very same items."
    tests = max(report.mcnemar_p, report.permutation_p) < _LEVEL
    interval = not report.ci[0] <= 0 <= report.ci[1]
    if tests and interval:
        better, worse = (a, b) if report.difference > 0 else (b, a)
        return f"{better} is right more often than {worse}, by {points}; chance alone seldom gives so much."
    seen = "" if report.detectable is None else _could_be_seen(report.detectable)
    ahead = f"are {points} apart" if report.difference else "are right equally often"
    if tests or interval:
        return f"{a} and {b} {ahead}, a close call: the tests and the interval don't agree that it is no chance.{seen}"
    return f"{a} and {b} {ahead}: these items can't tell which of them is better.{seen}"


def p_value(p: float) -> str:
    """A p-value as it is read: three digits, and no false precision near 0."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def _could_be_seen(difference: float) -> str:
    if difference >= 1:
        return " They are too few to show any difference reliably."
    return f" A true difference of {percent(difference)} points would show in four of five cases."


def _head(report: CompareReport) -> str:
    sources = ", ".join(f"{number:,} {name}" for name, number in report.gold.items())
    left_out = f"; {report.unpaired:,} that count for one only are left out" if report.unpaired else ""
    return (
        f"A {inert(report.a)}{_run(report.run_a)}\nB {inert(report.b)}{_run(report.run_b)}\n"
        f"protocol {report.protocol}, gold {report.gold_choice} ({sources})\n"
        f"{counted(report.n, 'item')} in {counted(report.questions, 'question')}{left_out}"
    )


def _run(number: int | None) -> str:
    return "" if number is None else f", run {number}"


def _table(report: CompareReport) -> str:
    right, wrong = (report.both_right, report.only_a), (report.only_b, report.both_wrong)
    rows = [
        ("", "B right", "B wrong", "all"),
        *(
            (name, *(f"{number:,}" for number in (*cells, sum(cells))))
            for name, cells in (
                ("A right", right),
                ("A wrong", wrong),
                ("all", (right[0] + wrong[0], right[1] + wrong[1])),
            )
        ),
    ]
    return "\n".join(f"{row[0]:<8}" + "".join(f"{cell:>12}" for cell in row[1:]) for row in rows)


def _figures(report: CompareReport) -> str:
    low, high = report.ci
    return "\n".join(
        (
            f"accuracy A       {report.accuracy_a:.3f}",
            f"accuracy B       {report.accuracy_b:.3f}",
            f"A - B           {report.difference:+.3f}  95 % interval [{low:+.3f}, {high:+.3f}] by question",
            f"McNemar        p {p_value(report.mcnemar_p)}  exact, two-sided",
            f"permutation    p {p_value(report.permutation_p)}  two-sided, by question",
        )
    )


def _kinds(report: CompareReport) -> tuple[tuple[str, list[Example]], ...]:
    of_a, of_b = report.examples["only_a"], report.examples["only_b"]
    return (
        (f"only A right: {len(of_a):,} of {report.only_a:,}", of_a),
        (f"only B right: {len(of_b):,} of {report.only_b:,}", of_b),
    )


def _examples(title: str, found: list[Example]) -> str:
    names = [(inert(example.completion_id), inert(example.question_id)) for example in found]
    widths = [max(len(name[column]) for name in names) for column in (0, 1)]
    lines = [
        f"  {completion:<{widths[0]}}  {question:<{widths[1]}}  gold {example.gold:<9}  A {example.a:<9}  B {example.b}"
        for (completion, question), example in zip(names, found, strict=True)
    ]
    return "\n".join((title, *lines))
