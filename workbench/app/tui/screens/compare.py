"""Two verifiers on the same items: paired counts, their uncertainty, and the items behind every count."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import partial
from typing import ClassVar, Final, Literal

from msgspec import structs
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.app.tui.figure_screen import BreakdownScreen, FigureQuery, counting
from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.accuracy_view import PROTOCOLS, WORDS, group_name
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import PickMenu, choose, following
from workbench.app.tui.kit.columns import verdict_cell
from workbench.app.tui.kit.sources import FixedSource
from workbench.app.tui.sharing import share
from workbench.app.tui.table_screen import TableScreen
from workbench.core.selection import Condition
from workbench.core.text.emphasis import with_mark
from workbench.core.text.figures import NONE, compact_count, counted, number, p_value, percent, points, points_interval
from workbench.measuring.comparing import ComparedItem, PairedComparison, comparable, compared
from workbench.measuring.comparing_tables import (
    KINDS,
    comparison_as,
    comparison_name,
    groups_table,
    paired_table,
    verdict,
)
from workbench.statistics.records.comparison import CompareReport, MetricDifference, Quadrant
from workbench.statistics.records.report import METRICS
from workbench.tables.table import Columns, column, identifier, word
from workbench.tables.table_text import body_lines

Shown = Quadrant | Literal["groups"]
TABS: Final[dict[Shown, str]] = dict((*KINDS.items(), ("groups", "by {by}")))
"""Contents of the lower table, in the order in which a key steps through them."""

ITEM_COLUMNS: Columns[ComparedItem] = (
    identifier("id", lambda row: row.item.completion_id, room=(6, 20)),
    column("A says", lambda row: row.a.word, verdict_cell, words=True, room=11),
    column("B says", lambda row: row.b.word, verdict_cell, words=True, room=11),
    column("gold", lambda row: row.gold.word, verdict_cell, words=True, room=11),
    word("type", lambda row: row.item.subtype, room=(4, 8)),
    word("question", lambda row: row.item.question, room=(12, 60)),
    word("model", lambda row: row.item.model, room=(8, 24), tone="dim"),
)
"""Columns of the table of items; A, B and gold are shown as symbol and word."""


# -- above the table -------------------------------------------------------------------------------


def head_text(report: CompareReport, words: str) -> Content:
    """Return three lines on a comparison: the verifiers, the items, and how verdicts are counted."""
    left_out = f" · {report.unpaired:,} count for only one" if report.unpaired else ""
    undecided = f" · abstentions A {report.undecided_a:,}, B {report.undecided_b:,}"
    return Content.assemble(
        ("A ", "bold"),
        (printable(with_mark(report.a, report.selection_judges)), "bold $text-accent"),
        ("   B ", "bold"),
        (printable(with_mark(report.b, report.selection_judges)), "bold $text-accent"),
        f"\n{words} · {counted(report.n, 'item')} in {counted(report.questions, 'question')}"
        f"{undecided if report.undecided_a or report.undecided_b else ''}{left_out}"
        f"\ngold {report.gold_choice} · protocol {report.protocol}: {PROTOCOLS[report.protocol]}",
    )


def metrics_text(report: CompareReport) -> Content:
    """Return both verifiers' metrics, their differences with intervals, and both tests: five lines."""
    lines = [f"{'':<4}{'A':>6}{'B':>6}{'A - B':>7}  95 %"]
    lines += [_metric_line(metric) for metric in report.metrics]
    tests = f"p   {p_value(report.permutation_p)} by question · McNemar {p_value(report.mcnemar_p)}"
    return Content("\n".join((*lines, tests)))


def _metric_line(metric: MetricDifference) -> str:
    name = f"{METRICS[metric.metric].short:<4}"
    if metric.a is None or metric.b is None or metric.difference is None:
        return f"{name}{NONE:>6}{NONE:>6}{NONE:>7}  one gold class"
    ends = metric.ci
    if metric.metric == "mcc":
        a, b, difference = number(metric.a), number(metric.b), f"{metric.difference:+.3f}"
        between = "" if ends is None else f"[{ends[0]:+.3f}, {ends[1]:+.3f}]"
    else:
        a, b, difference = percent(metric.a), percent(metric.b), points(metric.difference)
        between = "" if ends is None else points_interval(ends)
    return f"{name}{a:>6}{b:>6}{difference:>7}  {between or 'too few'}"


def tabs_text(report: CompareReport, shown: Shown) -> Content:
    """Return the tabs of the lower table with counts; the current one is in brackets."""
    parts: list[str | tuple[str, str]] = []
    for tab, words in TABS.items():
        text = words.format(by=report.by) + (f" {compact_count(getattr(report, tab))}" if tab in KINDS else "")
        parts.append((f"[{text}]", "bold $text-accent") if tab == shown else f" {text} ")
    return Content.assemble(*parts)


# -- The screen.


class Pair(FigureQuery, frozen=True, kw_only=True):
    """A request to compare two verifiers.

    Attributes:
        by: Property by which wins and losses are grouped.
        words: Description of the items, for the caption.
        conditions: The conditions that select the items.
    """

    a: str
    b: str
    by: str = "type"
    words: str = "all"
    conditions: tuple[Condition, ...] = ()


class CompareScreen(TableScreen, BreakdownScreen):
    """The paired table, the metrics and a sentence; below them, the items of one cell of that table, or wins and losses
    by group.

    Args:
        pair: The initial comparison; None for the first two verifiers on all items.
        verifiers: The possible names of A and B; empty for all that can be compared.

    Attributes:
        shown: The content of the lower table.
        found: The comparison and its items; None until loaded.
        report: Metrics of the comparison; None until loaded.
    """

    TITLE_TEXT = "Compare"
    WORDS: ClassVar = {
        "right, wrong": "Right: the verdict equals gold. ✓ and ✗ are the verdicts of A, B and gold on a completion.",
        **{word: WORDS[word] for word in ("acc", "BA", "MCC")},
    }
    PREFIX = "compare"
    asked: Pair | None
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("compare.open", "enter", "open_row", "Open", "Open the item with both verdicts, or the group."),
        Action("compare.where", "w", "next_tab(1)", "Where", "List the next kind of items: only A right, only B …"),
        Action("compare.where-before", "W", "next_tab(-1)", "Previous kind", "List the previous kind.", False),
        Action("compare.by", "b", "groups", "By type", "Count wins and losses by type; again: by subtype, domain …"),
        Action("compare.a", "comma", "pick('a')", "A", "Choose A from a list."),
        Action("compare.b", ".", "pick('b')", "B", "Choose B from a list."),
        Action("compare.next", "]", "next_verifier", "Next B", "Take the next verifier as B.", False),
        Action("compare.previous", "[", "next_verifier(-1)", "Previous B", "Take the previous verifier as B.", False),
        Action("compare.swap", "S", "swap", "Swap", "Swap A and B.", False),
        Action("compare.protocol", "p", "next_protocol", "Protocol", "Change how abstentions are counted."),
        Action("compare.gold", "g", "next_gold", "Gold", "Compare with another gold: final, people, imported."),
        Action("compare.family", "|", "family", "All", "Compare all verifiers, as a command."),
        Action("compare.export", "e", "export", "Export", "Export or copy: CSV, Markdown, LaTeX."),
    )

    def __init__(self, pair: Pair | None = None, verifiers: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.asked, self.verifiers = pair, verifiers
        self.shown: Shown = "only_a"
        self.found: PairedComparison | None = None
        self.report: CompareReport | None = None

    def above(self) -> Iterator[Widget]:
        yield Static(id="compare-verdict", markup=False)
        yield Static(id="compare-head", markup=False)
        yield Horizontal(
            Static(id="compare-paired", markup=False), Static(id="compare-tests", markup=False), id="compare-figures"
        )
        yield Static(id="compare-tabs", markup=False)

    def on_mount(self) -> None:
        if self.asked is None:
            self.in_background(partial(comparable, self.project), self._start_with, group="compare", stops=True)

    def _start_with(self, names: tuple[str, ...]) -> None:
        self.verifiers = names
        if len(names) < 2:
            self.say("no verifier has a complete run yet")
            self.put("head", "Start one in Verifiers & runs, then compare it here.")
            return
        self.count(Pair(a=names[0], b=names[1]))

    # -- reading and showing -----------------------------------------------------------------------

    def read(self) -> PairedComparison:
        asked = self.asked
        assert asked is not None
        return compared(self.project, asked.a, asked.b, by=asked.by, **counting(asked))

    def show(self, found: PairedComparison) -> None:
        assert self.asked is not None
        self.found, self.report = found, found.report
        self.say(printable(self.project.path.name))
        self.put("head", head_text(found.report, self.asked.words))
        self.put("paired", "\n".join(body_lines(paired_table(found.report))))
        self.put("tests", metrics_text(found.report))
        self.put("verdict", verdict(found.report))
        self.fill()

    def show_failure(self, error: Exception) -> None:
        self.found = self.report = None
        pair = self.asked
        self.say("" if pair is None else f"{printable(pair.a)} and {printable(pair.b)} can't be compared")
        for part in ("head", "paired", "tests", "verdict", "tabs"):
            self.put(part, "")
        self.table.show_records(ITEM_COLUMNS, ())

    def fill(self) -> None:
        if self.found is None:
            return
        report = self.found.report
        self.put("tabs", tabs_text(report, self.shown))
        if self.shown == "groups":
            self.table.show_table(groups_table(report, in_points=True))
        else:
            items = self.found.ids[self.shown]
            self.table.set_source(FixedSource(ITEM_COLUMNS, items, self.found.rows, lambda row: row.item.id))

    @property
    def item_here(self) -> int | None:
        return None if self.shown == "groups" else self.table.selected_id

    # -- what is listed ----------------------------------------------------------------------------

    def opened(self, row: int) -> None:
        from workbench.app.tui.screens.item import ItemScreen

        if self.found is None or self.asked is None:
            return
        if self.shown == "groups":
            self._open_group(self.asked, self.found.report.groups[row].group)
            return
        a, b = self.asked.a, self.asked.b
        first = (b, a) if self.shown == "only_b" else (a, b)
        self.app.push_screen(ItemScreen(row, self.table.order, first))

    def _open_group(self, pair: Pair, group: str) -> None:
        own = group_name(group, pair.by)
        narrower = structs.replace(
            pair,
            by="subtype" if pair.by == "type" else pair.by,
            words=f"{pair.words} · {own}" if pair.conditions else own,
            conditions=(*pair.conditions, Condition(pair.by, "=", group)),
        )
        self.app.push_screen(CompareScreen(narrower, self.verifiers))

    def action_next_tab(self, step: int) -> None:
        self.shown = following(self.shown, tuple(TABS)[::step])
        self.fill()

    def action_groups(self) -> None:
        if self.asked is None:
            return
        if self.shown != "groups":
            self.shown = "groups"
            self.fill()
        else:
            self.change(by=following(self.asked.by, tuple(by for by in self.groups if by != "reason")))

    # -- what is compared --------------------------------------------------------------------------

    def action_pick(self, side: Literal["a", "b"]) -> None:
        """Choose a verifier from a list; choosing the other side's verifier swaps the two."""
        if self.asked is not None:
            names = {name: printable(name) for name in self.verifiers}
            menu = PickMenu(f"{side.upper()} is", names, chosen={getattr(self.asked, side)})
            choose(self, menu, partial(self._set_side, side))

    def _set_side(self, side: Literal["a", "b"], name: str) -> None:
        assert self.asked is not None
        a, b = (name, self.asked.b) if side == "a" else (self.asked.a, name)
        if a == b:
            a, b = self.asked.b, self.asked.a
        self.change(a=a, b=b)

    def action_next_verifier(self, step: int = 1) -> None:
        if self.asked is not None:
            others = tuple(name for name in self.verifiers if name != self.asked.a)[::step]
            self.change(b=following(self.asked.b, others))

    def action_swap(self) -> None:
        if self.asked is not None:
            if self.shown in ("only_a", "only_b"):
                self.shown = "only_b" if self.shown == "only_a" else "only_a"
            self.change(a=self.asked.b, b=self.asked.a)

    def action_family(self) -> None:
        if self.asked is not None:
            begin = {"where": shlex.join(map(str, self.asked.conditions)), "protocol": self.asked.protocol or ""}
            self.workbench.run_verb("compare", all="yes", gold=self.asked.gold, **begin)

    def action_export(self) -> None:
        if self.report is not None:
            report = self.report
            share(self, comparison_name(report), partial(comparison_as, report), lambda: report)
