"""A plan as text for a terminal."""

from __future__ import annotations

from workbench.core.taxonomy import type_display
from workbench.core.text.figures import NONE, counted
from workbench.core.text.inert import inert
from workbench.labelling.plan import Plan, PlanRow
from workbench.measuring.samples import sample_sentences
from workbench.tables.table import Columns, count, figure, listed, text, word

_COLUMNS: Columns[PlanRow] = (
    word("group", lambda row: type_display(row.group)),
    count("gold", lambda row: row.n),
    figure("accuracy", lambda row: row.accuracy),
    figure("±", lambda row: row.half_width),
    count("needed", lambda row: row.needed),
    count("more", lambda row: row.more),
    count("available", lambda row: row.available),
    count("short", lambda row: row.shortfall),
    count("labels", lambda row: row.labels),
    text("verifier", lambda row: NONE if row.verifier is None else inert(row.verifier)),
)


def plan_text(plan: Plan) -> str:
    """The table, then what it comes to."""
    table = listed(_COLUMNS, plan.rows)
    return f"± {plan.within:g} by {plan.by}, gold {plan.gold}\n\n{table}\n\n" + "".join(
        f"{sentence}\n" for sentence in _sentences(plan)
    )


def _sentences(plan: Plan) -> list[str]:
    """What the labels come to, and what was assumed."""
    lines = [f"{counted(plan.labels, 'label')} to make, {plan.per_item} an item."]
    if plan.adjudications:
        rate = plan.conflict_rate or 0.0
        lines.append(f"{counted(plan.adjudications, 'adjudication')} of them: people differed on {rate:.1%} so far.")
    made = sum(row.made for row in plan.rows)
    if made:
        lines.append(f"Not counted: {counted(made, 'label')} that these items have already.")
    if plan.hours is None or plan.seconds_per_label is None:
        lines.append("No label so far has its time: the hours can't be projected.")
    else:
        lines.append(f"About {plan.hours:,.1f} hours at {plan.seconds_per_label:,.0f} s a label, the median so far.")
    short = sum(row.shortfall for row in plan.rows)
    if short:
        lines.append(f"{counted(short, 'item')} short: there are not that many without gold. Import more.")
    lines.extend(sample_sentences(plan.samples, plan.by))
    if any(row.accuracy is None for row in plan.rows):
        lines.append("Where no accuracy is known, 0.5 is assumed, the worst case.")
    return lines
