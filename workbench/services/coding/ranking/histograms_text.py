"""Histograms of a selection as bars of text, and what came of tests as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.model.code_figures import HistogramReport, HistogramsReport, OutcomeShares, SharesOfTests
from workbench.render.bars import bar, counted, percent
from workbench.render.columns import aligned
from workbench.render.inert import inert

_BAR = 40
_HEAD = ("verifier", "run", "suite", "data set", "of", "solutions", "tests", "passed", "assertion", "other")


def histograms_text(report: HistogramsReport) -> str:
    """The whole report for a terminal."""
    parts = [part for one in report.histograms for part in _parts(one)]
    if report.shares:
        parts.append("What came of tests, in %\n" + _shares(report.shares))
    return "\n\n".join(parts or ["No problem has a selection."]) + "\n"


def _parts(one: HistogramReport) -> Iterator[str]:
    name = f"{inert(one.dataset)}: " if one.dataset else ""
    yield (
        f"{name}{counted(one.problems, 'problem')}, {counted(one.solutions, 'solution')} selected, "
        f"mean score {one.mean_score:.2f}"
    )
    for title, bins in (("Scores of the selected solutions", one.scores), ("Best less worst score", one.gaps)):
        edges = [f"{edge:.2f}" for edge in bins.edges]
        yield f"{title}\n{_bars(dict(zip(edges, bins.counts, strict=False)))}"
    yield "Selected solutions of a problem\n" + _bars({str(size): count for size, count in one.sizes.items()})


def _bars(counts: Mapping[str, int]) -> str:
    """A bar a count, as long as its share of the greatest."""
    most = max([*counts.values(), 1])
    lines = [(name, f"{count:,}", bar(count / most, _BAR)) for name, count in counts.items()]
    return aligned(lines, left=(0, 2))


def _shares(shares: list[OutcomeShares]) -> str:
    lines: list[tuple[str, ...]] = [_HEAD]
    for one in shares:
        lines.append(_line(one, "all", one.every))
        if one.ground_truth is not None:
            lines.append(_line(one, "ground truths", one.ground_truth))
    return aligned(lines, left=(0, 2, 3, 4))


def _line(one: OutcomeShares, of: str, found: SharesOfTests) -> tuple[str, ...]:
    counts = (f"{found.solutions:,}", f"{found.tests:,}")
    shares = map(percent, (found.passed, found.assertion, found.other))
    return (one.verifier, str(one.run), one.suite, one.dataset, of, *counts, *shares)
