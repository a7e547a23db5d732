"""Agreement: how far annotators agree, by pair, group and time; a pair opens its items."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

from msgspec import Struct, structs
from textual.content import Content

from workbench.app.tui.figure_screen import FigureScreen
from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import following
from workbench.app.tui.kit.sources import FixedSource
from workbench.app.tui.kit.title_bar import SYMBOLS
from workbench.app.tui.sharing import share
from workbench.app.tui.table_screen import TableScreen
from workbench.core.label import Task
from workbench.core.text.figures import counted
from workbench.labelling.agreement import text as words
from workbench.labelling.agreement.measuring import GROUPS, agreement
from workbench.labelling.agreement.text import agreement_tables
from workbench.measuring.briefing import agreement_sentence
from workbench.measuring.browsing import LabelledRow, PairItems, pair_items
from workbench.statistics.records.agreement import AgreementReport
from workbench.tables.document import Cell, Table
from workbench.tables.table import Columns, column, identifier, word

_AGREE, _DIFFER = Cell("=", "dim"), Cell("≠", "warning")
_FIRST: Final = (
    "The command Assign has two or more people label the same items; each labels them blind, in Annotate. Their "
    "agreement is then shown here."
)
_OF_TYPES: Final = "People give types only for data sets whose types were not accepted from the imported file."
_BLIND: Final = "Blind labels count: people open the project under their own name, or in a browser."


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


class AgreementScreen(TableScreen, FigureScreen):
    """What the labels support, and one table: pairs, coefficients, people, groups or time; a pair opens its items.

    Attributes:
        tables: The tables, as the command line prints them; empty without labels.
        place: Index of the shown table.
    """

    TITLE_TEXT = "Agreement"
    PREFIX, ABOVE, DETAIL, PANE, PALETTE = "agreement", ("head", "caption"), True, True, True
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("agreement.open", "enter", "open_row", "Differing", "List the items on which the two disagree."),
        Action("agreement.all", "i", "open_pair(True)", "Shared", "List all items both have labelled.", False),
        Action("agreement.task", "t", "next_task", "Task", "Switch between correctness, types, and types by letter."),
        Action("agreement.view", "w", "next_table", "Table", "Show pairs, coefficients, people, groups or time."),
        Action("agreement.by", "b", "next_group", "By", "Group by the next property (type, subtype, domain …)."),
        Action("agreement.round", "L", "other_round", "Round", "Count labels of the first or latest round.", False),
        Action("agreement.export", "e", "export", "Export", "Export or copy the tables."),
    )
    LOOK_S: ClassVar[float | None] = 1.0
    asked = AgreementQuery()
    report: AgreementReport | None = None
    tables: Sequence[Table] = ()
    place = 0

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> AgreementReport:
        asked = self.asked
        return agreement(self.project, asked.task, by=asked.by, coarse=asked.coarse, latest=asked.latest)

    def show(self, report: AgreementReport) -> None:
        self.report, self.tables = report, agreement_tables(report)
        self.place = min(self.place, max(len(self.tables) - 1, 0))
        self.say(f"{printable(self.project.path.name)} · {self.asked.words}")
        self.set_class(not report.labels, "empty")
        head = "\n".join(filter(None, (_conclusion(report), words.head(report))))
        self.put("head", Content("\n".join(map(printable, head.split("\n")))))
        self._show_table(self.table.selected_id or 0)

    @property
    def shown(self) -> Table | None:
        return self.tables[self.place] if self.tables else None

    def _show_table(self, row: int) -> None:
        which = f"table {self.place + 1} of {len(self.tables)} · " if len(self.tables) > 1 else ""
        self.put("caption", Content(which + printable(self.shown.caption) if self.shown else ""), layout=False)
        if self.shown is not None:
            self.table.show_table(self.shown)
            self.table.jump_to_id(row)
            self.highlighted(row)

    def highlighted(self, row: int) -> None:
        table = self.shown
        if table is None or row >= len(table.rows):
            return
        texts, left = [cell.text for cell in table.rows[row].cells], table.left
        pairs = zip(table.titles[left:], texts[left:], strict=True)
        figures = " · ".join(f"{title} {text}" for title, text in pairs if title and text.strip())
        self.put_detail(
            Content.assemble(
                (printable(" · ".join(filter(None, texts[:left]))), "bold"),
                f" · {printable(figures)}",
                *((f"\n{printable(note)}", "$foreground-muted") for note in table.notes),
            )
        )

    # -- actions -----------------------------------------------------------------------------------

    def opened(self, row: int) -> None:
        self.action_open_pair()

    def action_open_pair(self, everything: bool = False) -> None:
        row = self.table.selected_id
        pairs = [] if self.report is None or self.place else self.report.cohen_kappa
        if row is None or row >= len(pairs):
            self.notify("Choose two people with common items, in the table of pairs.")
        else:
            self.app.push_screen(AgreementItemsScreen(self.asked, pairs[row].pair, everything))

    def action_next_table(self) -> None:
        if self.tables:
            self.place = (self.place + 1) % len(self.tables)
            self._show_table(0)

    def action_next_task(self) -> None:
        present = structs.replace(self.asked, by=AgreementQuery().by, latest=False)
        self.count(structs.replace(following(present, ASKED), by=self.asked.by, latest=self.asked.latest))

    def action_other_round(self) -> None:
        self.change(latest=not self.asked.latest)

    def action_next_group(self) -> None:
        places = [place for place, one in enumerate(self.tables) if one.caption == f"By {self.asked.by}"]
        self.place = next(iter(places), self.place)
        self.change(by=following(self.asked.by, GROUPS))

    def action_export(self) -> None:
        from workbench.measuring.report.people import agreement_as

        if (report := self.report) is not None:
            share(self, f"agreement-{report.task}", partial(agreement_as, report), lambda: report)


def _conclusion(report: AgreementReport) -> str:
    """Return a sentence on the level of agreement, or why it is unknown and what to do."""
    why = words.why_nothing(report)
    if said := f"{agreement_sentence(report)} {words.why_low(report)}".strip():
        return said
    if report.unblinded:
        return f"{why} {_BLIND}"
    return why if report.labels else f"{why} {_OF_TYPES if report.task == 'type' else _FIRST}"


# -- The items two people have both labelled: those on which they differ, or all of them.


def _columns(pair: tuple[str, str]) -> Columns[LabelledRow]:
    a, b = map(printable, pair)
    return (
        identifier("id", lambda row: row.item.completion_id, room=(6, 20)),
        column("", lambda row: row.a == row.b, (_DIFFER, _AGREE).__getitem__, words=True, room=1),
        word(a, lambda row: _value_text(row.a), room=(12, 14)),
        word(b, lambda row: _value_text(row.b), room=(12, 14)),
        word("state", lambda row: row.item.state, room=10),
        word("type", lambda row: row.item.subtype, room=(4, 8)),
        word("domain", lambda row: row.item.domain, room=(8, 18), tone="dim"),
        word("question", lambda row: row.item.question, room=(10, 60)),
    )


def _value_text(value: str) -> str:
    return f"{SYMBOLS[value]} {value}" if value in SYMBOLS else value


class AgreementItemsScreen(TableScreen):
    """The items that two people labelled; enter opens one, which is recorded as a reveal.

    Args:
        asked: The request that says which labels are compared.
        pair: The two people's names.
        everything: Initially list all items, not only those on which the two disagree.
    """

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
        self.table.set_source(FixedSource(_columns(self.pair), order, found.rows, lambda row: row.item.id))

    def action_other_items(self) -> None:
        self.everything = not self.everything
        self.fill()

    def opened(self, row: int) -> None:
        from workbench.app.tui.screens.item import ItemScreen

        self.app.push_screen(ItemScreen(row, self.table.order))
