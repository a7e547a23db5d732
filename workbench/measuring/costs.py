"""Compares accuracy with cost: calls, tokens, seconds and dollars of each verifier, and the Pareto front."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal

from msgspec import Struct, structs

from workbench.config import protocol_of
from workbench.core.project import Project, at_one_moment
from workbench.core.selection import Selection
from workbench.core.text.emphasis import explain_marks, with_mark
from workbench.core.text.figures import NONE, counted, whole_number
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring.accuracy import accuracy
from workbench.measuring.columns import columns
from workbench.measuring.judged import judges_of
from workbench.measuring.studies import consumption
from workbench.runs.store import calls
from workbench.statistics.records.probe import Consumption, Part
from workbench.statistics.records.report import AccuracyRow
from workbench.tables.document import Dot, Scatter, Table
from workbench.tables.table import Columns, column, count, table, text, with_interval, word

THOUSAND: Final = 1_000
Price = Literal["dollars", "tokens", "seconds", "calls"]
"""The unit of cost."""


class CostRow(Struct, frozen=True, kw_only=True):
    """One verifier's accuracy and cost. Costs are averages over items, computed as if no reply had been cached.

    Attributes:
        items: Number of selected items with a verdict, over which costs are averaged.
        calls: Number of replies behind an item's verdict.
        prompt_tokens: Tokens of the prompts; None if a server didn't report them.
        completion_tokens: Tokens written to judge, including reasoning; None if a server didn't report them.
        executing_tokens: Tokens of simulated executions (MCTS-Judge, arXiv 2502.12468, table 2, superscript).
        writing_tokens: Tokens of generated tests, which a problem's completions share.
        seconds: Time from request to reply, summed over calls; for a verifier without a server, its computing time.
        dollars: Price of the calls; None if the price of a call is unknown.
        leads: Whether the verifier is on the Pareto front: no verifier of the table is as accurate for less, or more
            accurate at the same price. None if its accuracy or price is unknown.
    """

    verifier: str
    accuracy: AccuracyRow
    items: int
    calls: float
    prompt_tokens: float | None
    completion_tokens: float | None
    executing_tokens: float | None
    writing_tokens: float | None
    seconds: float
    dollars: float | None
    leads: bool | None = None

    @property
    def tokens(self) -> float | None:
        return _sum_known((self.completion_tokens, self.executing_tokens, self.writing_tokens))


class CostReport(Struct, frozen=True, kw_only=True):
    """The costs of verifiers, the most accurate first.

    Attributes:
        against: The unit of cost of the Pareto front.
    """

    protocol: Protocol3
    gold_choice: GoldChoice
    against: Price
    rows: list[CostRow]


@at_one_moment
def costs(
    project: Project,
    verifiers: tuple[str, ...] = (),
    *,
    against: Price | None = None,
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> CostReport:
    """Return the accuracy of each verifier's newest complete run, and the cost of its verdicts on the same items.

    Args:
        verifiers: Names; empty for all verifiers with a complete run that judge completions.
        against: The unit of cost; by default dollars if the prices of all verifiers are known, else tokens.

    Raises:
        UsageError: A verifier is unknown or has no complete run.
    """
    protocol = protocol or protocol_of(project)
    report = accuracy(project, verifiers=verifiers, protocol=protocol, gold=gold, selection=selection, notes=False)
    over_all = {row.verifier: row for row in report.rows if row.group is None and row.kind == "verifier"}
    known = columns(project)
    kept = None if selection is None else known.chosen(selection)
    items = None if kept is None else known.item[kept].tolist()
    rows = [
        _cost_row(project, judge.run, over_all[judge.name], items)
        for judge in judges_of(project, verifiers)
        if judge.run is not None and judge.name in over_all
    ]
    price: Price = against or ("dollars" if all(row.dollars is not None for row in rows) else "tokens")
    rows.sort(key=lambda row: -1.0 if row.accuracy.accuracy is None else row.accuracy.accuracy, reverse=True)
    leads = on_front([_point(row, price) for row in rows])
    rows = [structs.replace(row, leads=front) for row, front in zip(rows, leads, strict=True)]
    return CostReport(protocol=protocol, gold_choice=gold, against=price, rows=rows)


def _cost_row(project: Project, run: int, found: AccuracyRow, items: Sequence[int] | None) -> CostRow:
    reader = project.database.reader()
    judged, own_ms = calls.judged_count_and_ms(reader, run, items)
    sums = calls.by_step(reader, run, items)
    parts = dict(consumption(sums, judged)) if judged else {}
    asked = bool(sums)
    priced = [one.cost for one in sums]
    dollars = None if None in priced else sum(cost for cost in priced if cost is not None)
    waited = sum(one.ms for one in sums) if asked else own_ms
    return CostRow(
        verifier=found.verifier,
        accuracy=found,
        items=judged,
        calls=sum(part.calls for part in parts.values()),
        prompt_tokens=_sum_known(part.prompt_tokens for part in parts.values()),
        completion_tokens=_completion_tokens(parts, "judging"),
        executing_tokens=_completion_tokens(parts, "execution"),
        writing_tokens=_completion_tokens(parts, "tests"),
        seconds=waited / THOUSAND / judged if judged else 0.0,
        dollars=dollars if dollars is None or not judged else dollars / judged,
    )


def _completion_tokens(parts: dict[Part, Consumption], part: Part) -> float | None:
    return parts[part].completion_tokens if part in parts else 0.0


def _sum_known(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(filter(None, known), 0.0)


# -- The Pareto front of accuracy and price.


def on_front(points: Sequence[tuple[Any, Any]]) -> list[bool | None]:
    """Return for each point (accuracy and price) whether it is on the front; None if one of both is unknown."""
    known = [point for point in points if None not in point]
    return [
        None if None in own else not any(one[0] >= own[0] and one[1] <= own[1] and one != own for one in known)
        for own in points
    ]


def _point(row: CostRow, price: Price) -> tuple[Any, Any]:
    return row.accuracy.accuracy, getattr(row, price)


# -- The table.


_LEADS: Final = {True: "●", False: "", None: NONE}


def _seconds_text(value: float) -> str:
    return "< 0.001" if 0 < value < 1 / THOUSAND else f"{value:,.3f}"


def _per_thousand_text(value: float | None) -> str:
    return NONE if value is None else f"{value * THOUSAND:,.2f}"


def cost_table(report: CostReport, *, clock: bool = True) -> Table:
    """Tabulate accuracy with tokens, seconds and dollars.

    Args:
        clock: Whether to show seconds, which differ from run to run.
    """
    chose = [row.verifier for row in report.rows if row.accuracy.selection_judge]
    shown: Columns[CostRow] = (
        word("verifier", lambda row: with_mark(row.verifier, chose)),
        text("leads", lambda row: _LEADS[row.leads]),
        count("n", lambda row: row.accuracy.n),
        *with_interval("accuracy", "accuracy.accuracy", "accuracy.ci"),
        column("calls", lambda row: row.calls, "{:,.1f}".format),
        column("tokens in", lambda row: row.prompt_tokens, whole_number),
        column("tokens", lambda row: row.completion_tokens, whole_number),
        column("executing", lambda row: row.executing_tokens, whole_number),
        column("writing tests", lambda row: row.writing_tokens, whole_number),
        column("seconds", lambda row: row.seconds, _seconds_text, there=clock),
        column("$ per 1,000", lambda row: row.dollars, _per_thousand_text),
    )
    unpriced = [row.verifier for row in report.rows if row.dollars is None]
    most = max((row.accuracy.n for row in report.rows), default=0)
    fewer = [f"{row.verifier} {row.accuracy.n:,}" for row in report.rows if row.accuracy.n < most]
    unknown = [row.verifier for row in report.rows if row.leads is None]
    notes = [
        "Averages per item, as if no reply had been stored before; dollars per 1,000 items.",
        f"● no other is as accurate for fewer {report.against}, or more accurate for as many: by the point estimates, "
        "ignoring their intervals.",
        *([f"Not all count the same {most:,} items: n of {', '.join(fewer)}."] if fewer else []),
        *([f"Without a known price: {', '.join(unpriced)}."] if unpriced else []),
        *(
            [f"{counted(len(unknown), 'verifier')} without accuracy or {report.against} can't be on the frontier."]
            if unknown
            else []
        ),
        *explain_marks(chose),
    ]
    caption = f"Accuracy and cost. Protocol {report.protocol}, gold {report.gold_choice}."
    return table(caption, shown, report.rows, notes=notes)


# -- Accuracy against price, as a plot.


def cost_plots(report: CostReport) -> Iterator[tuple[str, Scatter]]:
    if (plot := cost_plot(report)) is not None:
        yield "cost", plot


def cost_plot(report: CostReport) -> Scatter | None:
    """Plot accuracy against the cost of an item, as a share of the highest cost; None if fewer than two costs are
    known."""
    known = [(row, *_point(row, report.against)) for row in report.rows]
    dearest: float = max((price for *_, price in known if price is not None), default=0.0)
    dots = [
        Dot(f"{'● ' if row.leads else ''}{row.verifier}", price / dearest, accuracy)
        for row, accuracy, price in known
        if dearest and None not in (accuracy, price)
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
