"""Agreement: how far annotators agree, by pair, group and time; a pair opens its items."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, get_args

from msgspec import Struct, structs
from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit import agreement_view as view
from workbench.app.tui.kit.agreement_view import value_with_symbol
from workbench.app.tui.kit.cells import fit, printable
from workbench.app.tui.kit.matrix_table import Matrix, MatrixCell, MatrixColumn, MatrixRow
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.sharing import share
from workbench.app.tui.switches import following
from workbench.app.tui.table_screen import TableScreen
from workbench.core.label import Task
from workbench.core.text.figures import counted
from workbench.labelling.agreement.measuring import GROUPS, agreement
from workbench.measuring.browsing import LabelledRow, PairItems, pair_items
from workbench.statistics.records.agreement import AgreementReport, AnnotatorQuality, PairAgreement
from workbench.tables.document import Cell
from workbench.tables.table import Columns, column, identifier, word

MOST = 40
"""Maximum number of annotators in the matrix: those with the most labels; the tables below list all."""
_OF_LABELS = "#agreement-measure, #agreement-matrix, #agreement-cell, #agreement-view, #agreement-table"
"""Widgets that are empty while there is no label."""
_NAME_WIDTH = 12
_AGREE, _DIFFER = Cell("=", "dim"), Cell("≠", "warning")


class AgreementQuery(Struct, frozen=True, kw_only=True):
    """A request for agreement metrics.

    Attributes:
        coarse: Compare answer types by their letter only, without subtypes.
        latest: Compare the labels of each item's current round instead of its first round.
    """

    task: Task = "correctness"
    by: str = "type"
    coarse: bool = False
    latest: bool = False

    @property
    def words(self) -> str:
        return "types by letter" if self.coarse else self.task


ASKED = (AgreementQuery(), AgreementQuery(task="type"), AgreementQuery(task="type", coarse=True))
"""Requests that the task key steps through."""


class AgreementScreen(LiveScreen):
    """The metrics, a matrix of annotators with a cursor on one pair, and a table of people, groups, time or pairs."""

    CSS_PATH = "agreement.tcss"
    TITLE_TEXT = "Agreement"
    PALETTE = True
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("agreement.open", "enter", "open_pair", "Differing", "List the items on which the two disagree."),
        Action("agreement.all", "i", "open_pair(True)", "Shared", "List all items both have labelled.", False),
        Action("agreement.task", "t", "next_task", "Task", "Switch between correctness, types, and types by letter."),
        Action("agreement.measure", "o", "next_measure", "Measure", "Show kappa, agreement or differing items."),
        Action("agreement.view", "w", "next_view", "Table", "Show people, groups, time or pairs below."),
        Action("agreement.by", "b", "next_group", "By", "Group by the next property (type, subtype, domain …)."),
        Action("agreement.round", "L", "other_round", "Round", "Count labels of the first or latest round.", False),
        Action("agreement.export", "e", "export", "Export", "Save or copy the tables.", False),
    )

    def __init__(self) -> None:
        super().__init__()
        self.asked = AgreementQuery()
        self.measure: view.Measure = "kappa"
        self.view: view.View = "people"
        self.report: AgreementReport | None = None
        self._people: dict[str, AnnotatorQuality] = {}

    def content(self) -> ComposeResult:
        yield Static("", id="agreement-conclusion", markup=False)
        yield Static("", id="agreement-figures", markup=False)
        yield Static("", id="agreement-measure", markup=False)
        yield Matrix(id="agreement-matrix")
        yield Static("", id="agreement-cell", markup=False)
        yield Static("", id="agreement-view", markup=False)
        yield VirtualTable(id="agreement-table")

    def on_mount(self) -> None:
        self.query_one(Matrix).focus()

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> tuple[AgreementQuery, AgreementReport]:
        asked = self.asked
        return asked, agreement(self.project, asked.task, by=asked.by, coarse=asked.coarse, latest=asked.latest)

    def show(self, data: tuple[AgreementQuery, AgreementReport]) -> None:
        asked, report = data
        if asked != self.asked:
            return
        self.report = report
        self.say(f"{printable(self.project.path.name)} · {self.asked.words}")
        said, line = view.conclusion(report), self.query_one("#agreement-conclusion", Static)
        line.display = bool(said)
        line.update(said)
        self.query_one("#agreement-figures", Static).update(view.metrics_text(report))
        for part in self.query(_OF_LABELS):
            part.display = bool(report.labels)
        self._fill_matrix()
        self._fill_table()

    # -- the matrix --------------------------------------------------------------------------------

    def _fill_matrix(self) -> None:
        assert self.report is not None
        most = sorted(self.report.per_annotator, key=lambda person: -person.labels)[:MOST]
        before, self._people = self._people, {one.name: one for one in self.report.per_annotator if one in most}
        pairs = {frozenset(pair.pair): pair for pair in self.report.cohen_kappa}
        people = self._people.values()
        matrix = self.query_one(Matrix)
        matrix.put(
            "with",
            [MatrixColumn(one.name, fit(one.name, _NAME_WIDTH).rstrip()) for one in people],
            [
                MatrixRow(a.name, "", a.name, "", tuple(MatrixCell(self._cell_text(a, b, pairs)) for b in people))
                for a in people
            ],
        )
        if len(people) > 1 and not before:
            matrix.move_to(None, [*self._people][1])
        left_out = len(self.report.per_annotator) - len(self._people)
        more = f" · {left_out} with fewer labels left out" if left_out else ""
        self.query_one("#agreement-measure", Static).update(f"people × people: {view.MEASURES[self.measure]}{more}")

    def _cell_text(self, a: AnnotatorQuality, b: AnnotatorQuality, pairs: dict[frozenset[str], PairAgreement]) -> str:
        return view.own_text(a) if a is b else view.pair_text(pairs.get(frozenset((a.name, b.name))), self.measure)

    @property
    def chosen(self) -> tuple[AnnotatorQuality | None, AnnotatorQuality | None]:
        """Return the two annotators of the cell under the cursor; the name column counts as the first person's
        column.
        """
        matrix = self.query_one(Matrix)
        return self._people.get(matrix.row_key or ""), self._people.get(matrix.column_key or "")

    @property
    def pair(self) -> PairAgreement | None:
        row, column = self.chosen
        if self.report is None or row is None or column is None:
            return None
        names = {row.name, column.name}
        return next((pair for pair in self.report.cohen_kappa if set(pair.pair) == names), None)

    @on(Matrix.Moved)
    def _describe_cell(self) -> None:
        if self.report is not None:
            sentence = view.cell_sentence(*self.chosen, self.pair, self.report)
            self.query_one("#agreement-cell", Static).update(sentence)

    # -- the lower table ---------------------------------------------------------------------------

    def _fill_table(self) -> None:
        if self.report is None:
            return
        self.query_one("#agreement-view", Static).update(view.table_title(self.report, self.view, self.asked.by))
        columns, records = view.table(self.report, self.view)
        self.query_one("#agreement-table", VirtualTable).show_records(columns, enumerate(records))

    # -- actions -----------------------------------------------------------------------------------

    @on(Matrix.Opened)
    def _cell_chosen(self) -> None:
        self.action_open_pair()

    def action_open_pair(self, everything: bool = False) -> None:
        pair = self.pair
        if pair is None:
            self.notify("Choose two people with common items.", markup=False)
        else:
            self.app.push_screen(AgreementItemsScreen(self.asked, pair.pair, everything))

    def action_next_task(self) -> None:
        present = structs.replace(self.asked, by=AgreementQuery().by, latest=False)
        self._change(structs.replace(following(present, ASKED), by=self.asked.by, latest=self.asked.latest))

    def action_other_round(self) -> None:
        self._change(structs.replace(self.asked, latest=not self.asked.latest))

    def action_next_group(self) -> None:
        self.view = "groups"
        self._change(structs.replace(self.asked, by=following(self.asked.by, GROUPS)))

    def action_next_measure(self) -> None:
        self.measure = following(self.measure, get_args(view.Measure))
        if self.report is not None:
            self._fill_matrix()

    def action_next_view(self) -> None:
        self.view = following(self.view, get_args(view.View))
        self._fill_table()

    def action_export(self) -> None:
        from workbench.measuring.report.people import agreement_as

        if (report := self.report) is not None:
            share(self, f"agreement-{report.task}", partial(agreement_as, report), lambda: report)

    def _change(self, asked: AgreementQuery) -> None:
        self.asked = asked
        self.say("reading …")
        self.read_again()


# -- The items two people have both labelled: those on which they differ, or all of them.


def _columns(pair: tuple[str, str]) -> Columns[LabelledRow]:
    a, b = map(printable, pair)
    return (
        identifier("id", lambda row: row.item.completion_id, room=(6, 20)),
        column("", lambda row: row.a == row.b, (_DIFFER, _AGREE).__getitem__, words=True, room=1),
        word(a, lambda row: value_with_symbol(row.a), room=(12, 14)),
        word(b, lambda row: value_with_symbol(row.b), room=(12, 14)),
        word("state", lambda row: row.item.state, room=10),
        word("type", lambda row: row.item.subtype, room=(4, 8)),
        word("domain", lambda row: row.item.domain, room=(8, 18), tone="dim"),
        word("question", lambda row: row.item.question, room=(10, 60)),
    )


class AgreementItemsScreen(TableScreen):
    """The items that two people labelled; enter opens one, which is recorded as a reveal.

    Args:
        asked: The request that says which labels are compared.
        pair: The two people's names.
        everything: Initially list all items, not only those on which the two disagree.
    """

    CSS_PATH = "agreement_items.tcss"
    TITLE_TEXT = "Items of two people"
    PREFIX, ABOVE, PALETTE, ITEMS = "agreement-items", ("counts",), True, True
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("agreement-items.open", "enter", "open_row", "Open", "Open the item with all its labels."),
        Action("agreement-items.which", "w", "other_items", "All/≠", "List all items, or only disagreements."),
    )

    def __init__(self, asked: AgreementQuery, pair: tuple[str, str], everything: bool = False) -> None:
        super().__init__()
        self.asked, self.pair, self.everything = asked, pair, everything
        self.found: PairItems | None = None

    def heading(self) -> tuple[str, str]:
        return "Items", f"{printable(' – '.join(self.pair))} · {self.asked.words}"

    def on_mount(self) -> None:
        self.put("counts", "reading …")
        asked = self.asked
        work = partial(pair_items, self.project, asked.task, *self.pair, coarse=asked.coarse, latest=asked.latest)
        self.in_background(work, self._show, group="items")

    def _show(self, found: PairItems) -> None:
        self.found = found
        self.fill()

    def fill(self) -> None:
        if self.found is None:
            return
        found, differing, same = self.found, self.found.differing, self.found.same
        listed = "all are listed" if self.everything else "disagreements are listed"
        both = counted(len(differing) + len(same), "item")
        self.put("counts", f"{both}: ≠ {len(differing):,} differ · = {len(same):,} agree · {listed}")
        order = differing + same if self.everything else differing
        self.list_items(_columns(self.pair), order, found.rows, lambda row: row.item.id)

    def action_other_items(self) -> None:
        self.everything = not self.everything
        self.fill()

    def opened(self, row: int) -> None:
        from workbench.app.tui.screens.item import ItemScreen

        self.app.push_screen(ItemScreen(row, self.table.order))
