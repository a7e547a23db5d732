"""Plots of cost: accuracy against price (the Pareto front), and against a setting (scaling)."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_letters

from workbench.core.text.inert import inert
from workbench.measuring.costs import PRICES, CostReport
from workbench.statistics.records.probe import SweepReport
from workbench.tables.document import Dot, Scatter
from workbench.tables.pictures import Curve, Curves, Picture

_SIGN = {True: "● ", False: "", None: ""}


def cost_plots(report: CostReport) -> Iterator[tuple[str, Scatter]]:
    if (plot := cost_plot(report)) is not None:
        yield "cost", plot


def cost_plot(report: CostReport) -> Scatter | None:
    """Plot accuracy against the cost of an item, as a share of the highest cost; None if fewer than two costs are
    known."""
    prices = [(row, PRICES[report.against](row)) for row in report.rows]
    known = [(row, price, row.accuracy.accuracy) for row, price in prices if price is not None]
    dearest = max((price for _, price, _ in known), default=0.0)
    dots = [
        Dot(f"{_SIGN[row.leads]}{row.verifier}", price / dearest, accuracy)
        for row, price, accuracy in known
        if dearest and accuracy is not None
    ]
    if len(dots) < 2:
        return None
    most = f"{dearest:,.0f}" if dearest >= 1 else f"{dearest:.2g}"
    return Scatter(
        caption=f"Accuracy against {report.against} per item. ● no other is as accurate for fewer, or more accurate "
        f"for as many. Protocol {report.protocol}, gold {report.gold_choice}.",
        x_label=f"{report.against} an item, of {most}",
        y_label="accuracy",
        dots=tuple(dots),
    )


_COLUMNS, _LINES = 56, 12
"""Cells of a text plot."""


def plot_text(plot: Scatter) -> str:
    """Draw a plot for a terminal: one letter for each dot, ``*`` for several in one cell, with a legend below."""
    dots = list(zip(ascii_letters, plot.dots, strict=False))
    low, high = min(dot.y for _, dot in dots), max(dot.y for _, dot in dots)
    spread = high - low or 1.0
    cells = [[" "] * _COLUMNS for _ in range(_LINES)]
    for letter, dot in dots:
        line, column = round((high - dot.y) / spread * (_LINES - 1)), round(dot.x * (_COLUMNS - 1))
        cells[line][column] = letter if cells[line][column] == " " else "*"
    sides = [f"{high:.3f}", *[""] * (_LINES - 2), f"{low:.3f}"]
    lines = [f"{side:>6} |{''.join(cell).rstrip()}" for side, cell in zip(sides, cells, strict=True)]
    lines += [f"{'':6} +{'-' * _COLUMNS}", f"{'':8}{plot.y_label} against {plot.x_label}"]
    if more := len(plot.dots) - len(dots):
        lines.append(f"{'':8}{more:,} more are not drawn")
    return "\n".join([*lines, *(f"{'':8}{letter}  {inert(dot.label)}" for letter, dot in dots)]) + "\n"


def scaling_plots(report: SweepReport) -> Iterator[tuple[str, Picture]]:
    """Yield a plot of accuracy against each numeric setting, with one line for each combination of the other settings
    (MCTS-Judge, figure 5).
    """
    for option in dict.fromkeys(name for point in report.points for name in point.settings):
        lines: dict[str, list[tuple[float, float]]] = {}
        for point in report.points:
            value = _parse_number(point.settings.get(option, ""))
            if value is None or point.accuracy is None or point.accuracy.accuracy is None:
                continue
            others = ", ".join(f"{name}={said}" for name, said in point.settings.items() if name != option)
            lines.setdefault(others or report.judge, []).append((value, point.accuracy.accuracy))
        drawn = tuple(
            Curve(label=name, points=tuple(sorted(points))) for name, points in lines.items() if len(points) > 1
        )
        if drawn:
            caption = f"{report.judge}: accuracy by {option}. Protocol {report.protocol}, gold {report.gold_choice}."
            yield f"scaling-{option}", Curves(caption=caption, x_label=option, y_label="accuracy", lines=drawn)


def _parse_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
