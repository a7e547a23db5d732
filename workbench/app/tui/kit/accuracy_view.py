"""An accuracy report in words: every metric with its n, protocol and gold."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len
from textual.content import Content

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.cells import fit, printable
from workbench.core import reasons, selection
from workbench.core.taxonomy import TYPES, UNTYPED, type_name
from workbench.core.text.figures import (
    compact_count,
    counted,
    interval_bar,
    percent,
    percent_interval,
    points,
    scale_words,
    shade,
    tint,
)
from workbench.core.verdict import Protocol3
from workbench.measuring.accuracy_tables import is_baseline, tests_in_words
from workbench.statistics.records.comparison import LEVEL
from workbench.statistics.records.report import METRICS, AccuracyReport, AccuracyRow

if TYPE_CHECKING:
    from workbench.statistics.metrics.metric import Metric

# -- What a cell of the accuracy table can show: the metric in words, its scale, its text and its interval.


PALE_N: Final = 10
"""Number of items at which a cell has half of its full colour; with fewer items it is paler."""


class Figure(NamedTuple):
    """A metric of an accuracy row, and how it is formatted, coloured and explained.

    Attributes:
        words: Its meaning and unit, for the caption.
        of: Returns the metric of a row; None if undefined.
        text: Formats a value of the metric.
        low: The lower end of its scale.
        high: The upper end.
        ends: Labels of both ends in the legend.
        rising: Whether a higher value is better; None if the metric has no scale.
        tested: Whether the row's q-value is a test of this metric.
    """

    words: str
    of: Callable[[AccuracyRow], float | None]
    text: Callable[[float | None], str] = percent
    low: float = 0.0
    high: float = 1.0
    ends: tuple[str, str] = ("0", "100")
    rising: bool | None = True
    tested: bool = False

    def step(self, row: AccuracyRow) -> int | None:
        """Return the row's step on the colour scale; None if there is no scale, no value, or no item."""
        value = self.of(row)
        return None if self.rising is None or value is None or not row.n else shade(value, self.low, self.high)

    def tint(self, row: AccuracyRow) -> float | None:
        """Return how good the value is, from -1 (worst) to 1 (best), nearer to 0 (paler) for few items."""
        step = self.step(row)
        if step is None or self.rising is None:
            return None
        return tint(step, rising=self.rising) * row.n / (row.n + PALE_N)


def _metric_figure(name: str, metric: Metric) -> Figure:
    return Figure(
        f"{metric.name}{' in %' if metric.unit else f', {metric.scale}'}{metric.hint and f': {metric.hint}'}",
        attrgetter(name),
        metric.text,
        low=metric.low,
        ends=(f"{100 * metric.low:g}", "100") if metric.unit else (f"{metric.low:g}", "1"),
        rising=metric.better == "high",
        tested=name == "accuracy",
    )


def _explain(metric: Metric) -> str:
    said = f"{metric.help}, {metric.scale}."
    return said if metric.name == metric.short else f"{metric.name.capitalize()}: {said[0].lower()}{said[1:]}"


_DELTA: Final = Figure(
    "delta in points: from all items (a subtype: from its type)",
    lambda row: row.delta,
    points,
    low=-0.3,
    high=0.3,
    ends=("-30", "+30"),
    tested=True,
)
_COUNT: Final = Figure("n: items counted", lambda row: row.n, lambda value: compact_count(int(value or 0)), rising=None)
_SHOWN: Final = {name: _metric_figure(name, metric) for name, metric in METRICS.items() if not metric.is_optional}
FIGURES: Final[dict[str, Figure]] = {"accuracy": _SHOWN["accuracy"], "delta": _DELTA, **_SHOWN, "n": _COUNT}
"""The metrics by name, in the order in which a key steps through them."""


WORDS: Final[dict[str, str]] = {
    "n, qst": "Counted items, and their questions, by which intervals are clustered.",
    **{metric.short: _explain(metric) for metric in METRICS.values()},
    "? abst, ! err": "Items without a decision: the verifier abstained, or ended in an error.",
}
"""Explanations of metrics, by column heading."""


PROTOCOLS: dict[Protocol3, str] = {
    "forced": "abstentions count as “incorrect”",
    "strict": "abstentions count as wrong",
    "decided": "abstentions are left out",
}
"""How each protocol counts abstentions and errors, by protocol."""
STAR: Final = "*"
ROUGH: Final = "≈"
"""Marks cells with a q-value below `LEVEL`."""
PIN: Final = "↑"
BASELINE_MARK: Final = "○"
SELECTION_JUDGE: Final = "†"
_SENTENCE_BAR = 30
_NAME_CELLS = 32  # cells of a verifier's name in a sentence


def star_of(report: AccuracyReport) -> str:
    """Return the mark of significant cells; it is a different sign if any p-value of the report is an approximation."""
    return ROUGH if report.tests is not None and report.tests.approximate else STAR


def short_name(verifier: str) -> str:
    """Return a verifier's name for a sentence, cut if it is too long."""
    return fit(verifier, min(_NAME_CELLS, cell_len(printable(verifier))))


def group_name(group: str | None, by: str | None) -> str:
    """Return a group in words: ``"all"``, ``"A - Numeric Values"``, ``"number - compared as numbers"``, a source's
    name.
    """
    if group is not None and by == "reason":
        return printable(reasons.code_with_title(group))
    return printable(selection.group_name(group, by))


def group_title(group: str | None, by: str | None, wide: bool) -> str:
    if by == "reason" and group is not None:
        return printable(group)
    if group is None or by not in ("type", "subtype") or group == UNTYPED:
        return group_name(group, by)
    return f"{group} {type_name(group)}" if wide and group in TYPES else group


def caption(report: AccuracyReport, figure: Figure) -> Content:
    sources = ", ".join(f"{number:,} {name}" for name, number in report.gold.items() if number) or "no items"
    return Content.assemble(
        (figure.words, "bold $foreground"),
        f" · by {report.by or 'nothing'} · protocol ",
        (report.protocol, "bold"),
        f" ({PROTOCOLS[report.protocol]})\ngold ",
        (report.gold_choice, "bold"),
        f" ({sources})",
    )


def legend(report: AccuracyReport, figure: Figure, *, pinned: bool) -> str:
    rows = report.rows
    found = (
        (figure.rising is not None, scale_words(*figure.ends)),
        (figure.rising is not None and any(0 < row.n < PALE_N for row in rows), f"pale: n < {PALE_N}"),
        (
            figure.tested and any(row.is_significant for row in rows),
            f"{star_of(report)} q < {LEVEL:.2f}".replace("0.", "."),
        ),
        (figure.tested and star_of(report) == ROUGH, f"{ROUGH} q until deals are drawn"),
        (any(map(is_baseline, rows)), f"{BASELINE_MARK} baseline"),
        (any(row.selection_judge for row in rows), f"{SELECTION_JUDGE} helped to select the items"),
        (pinned, f"{PIN} pinned"),
        (bool(report.unfinished), "% run: judged so far"),
    )
    return " · ".join(words for there, words in found if there)


def notes(report: AccuracyReport) -> str:
    """Return the report's caveats and the method of its significance tests, one per line."""
    found = [f"• {note}" for note in report.notes]
    if report.tests is not None:
        found.append(f"• q ({STAR} below .05): {tests_in_words(report.tests)}.")
    found += [
        f"• {printable(name)} has been judged to {int(100 * share)} %: its metrics still change."
        for name, share in report.unfinished.items()
    ]
    return "\n".join(printable(line) for line in found) or "There are no notes."


def cell_sentence(report: AccuracyReport, row: AccuracyRow | None) -> Content:
    if row is None or row.accuracy is None:
        return Content(
            f"No item has a verdict and gold ({report.gold_choice}): {key_of('accuracy.gold')} changes the gold."
        )
    name = group_name(row.group, report.by)
    if report.by == "reason":
        name = reasons.title(row.group or "") or name
    drawn = "Too few questions for more detail"
    if row.ci is not None:
        drawn = f"0 % │[$text-accent]{interval_bar(row.accuracy, *row.ci, _SENTENCE_BAR)}[/]│ 100 %"
    return Content.assemble(
        (short_name(row.verifier), "bold"),
        " · ",
        (name, "bold"),
        f" · accuracy {percent(row.accuracy)} % {percent_interval(row.ci)}\n",
        f"n {row.n:,} in {counted(row.questions, 'question')} · TP {row.tp:,} FP {row.fp:,} TN {row.tn:,} FN {row.fn:,}"
        f" · ? {row.abstain:,} abstain · ! {row.error:,} error\n",
        Content.from_markup(drawn),
        _difference_text(row),
    )


def _difference_text(row: AccuracyRow) -> str:
    if row.delta is None or row.group is None:
        return ""
    q = "" if row.q is None else ", q < .001" if row.q < 0.001 else f", q {row.q:.3f}".replace("0.", ".")
    return f"  Δ {points(row.delta)} points{q}"
