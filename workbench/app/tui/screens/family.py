"""Several verifiers compared: the tables of their differences and joint errors, as the command line prints them."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from workbench.app.tui.figure_screen import FigureQuery, FigureScreen, counting
from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.accuracy_view import PROTOCOLS
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import ManyMenu, choose
from workbench.app.tui.sharing import share
from workbench.app.tui.table_screen import TablesScreen
from workbench.core.selection import Condition
from workbench.core.text.emphasis import with_mark
from workbench.core.text.figures import counted
from workbench.measuring.comparing import joint_errors
from workbench.measuring.comparing_tables import comparison_as, comparison_name
from workbench.measuring.family import error_tables, family, family_tables, ranking
from workbench.statistics.records.comparison import FamilyReport, JointErrorReport


class FamilyQuery(FigureQuery, frozen=True, kw_only=True):
    """A request to compare several verifiers.

    Attributes:
        verifiers: Names of the verifiers to compare; empty for all that can be compared.
        against: The verifier that all are compared with; None for all pairs.
        words: Description of the items, for the caption.
        conditions: The conditions that select the items.
    """

    verifiers: tuple[str, ...] = ()
    against: str | None = None
    words: str = "all"
    conditions: tuple[Condition, ...] = ()


class FamilyScreen(TablesScreen, FigureScreen):
    """The matrix of differences first, and the tables of ranks, pairs and joint errors; a row or cell opens its pair.

    Args:
        asked: The initial request.
        verifiers: Names of the verifiers that can be compared.
    """

    CSS_PATH = "family.tcss"
    TITLE_TEXT = "Compare all"
    PREFIX, place = "family", 1
    asked: FamilyQuery
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("family.open", "enter", "open_row", "Open", "Compare the two verifiers of the cell or row."),
        Action("family.measure", "o", "next_table", "Table", "Show differences, pairs, joint errors, agreement."),
        Action("family.measure-before", "O", "next_table(-1)", "Previous table", "Show the previous table.", False),
        Action("family.who", "v", "choose", "Verifiers", "Choose the verifiers to compare."),
        Action("family.against", "|", "against", "Reference", "Compare all verifiers with this one; again: all pairs."),
        Action("family.protocol", "p", "next_protocol", "Protocol", "Change how abstentions are counted."),
        Action("family.gold", "g", "next_gold", "Gold", "Compare with another gold: final, people, imported."),
        Action("family.export", "e", "export", "Save", "Copy or save what is shown: CSV, Markdown, LaTeX."),
    )

    def __init__(self, asked: FamilyQuery, verifiers: tuple[str, ...]) -> None:
        super().__init__()
        self.asked, self.verifiers = asked, verifiers
        self.found: tuple[FamilyReport, JointErrorReport] | None = None

    def on_mount(self) -> None:
        self.change()

    # -- reading and showing -----------------------------------------------------------------------

    def read(self) -> tuple[FamilyReport, JointErrorReport]:
        asked = self.asked
        names = asked.verifiers or self.verifiers
        found = family(self.project, names, against=asked.against, **counting(asked))
        return found, joint_errors(self.project, names, **counting(asked))

    def show_failure(self, error: Exception) -> None:
        self.found = None
        self.say("these can't be compared")
        self.show_tables("", ())

    def show(self, found: tuple[FamilyReport, JointErrorReport]) -> None:
        self.found, (report, errors) = found, found
        self.say(printable(self.project.path.name))
        head = (
            f"{self.asked.words} · {counted(report.common, 'item')} that count for all · gold {report.gold_choice} · "
            f"protocol {report.protocol}: {PROTOCOLS[report.protocol]}\n{ranking(report)}"
        )
        self.show_tables(head, (*family_tables(report), *error_tables(errors)))

    def _names_at(self, row: int) -> list[str]:
        """Return the verifiers of a row and, in a matrix, of the column under the cursor."""
        if self.found is None or self.shown is None:
            return []
        rows, title = self.shown.rows, self.shown.titles[self.table.column_index]
        places = [rows[row], *([rows[int(title) - 1]] if title.isdecimal() else [])]
        marked = {with_mark(name, self.found[0].selection_judges): name for name in self.found[1].verifiers}
        marked |= {name: name for name in marked.values()}
        named = slice(0, 2) if self.shown.titles[0] == "A" else slice(1, 2)
        return [marked[cell.text] for place in places for cell in place.cells[named]]

    # -- actions -----------------------------------------------------------------------------------

    def opened(self, row: int) -> None:
        from workbench.app.tui.screens.compare import CompareScreen, Pair

        names = [*dict.fromkeys(self._names_at(row))]
        if len(names) < 2:
            self.notify("Choose a cell or a row with two different verifiers.", markup=False)
            return
        asked, (a, b) = self.asked, names
        pair = Pair(a=a, b=b, protocol=asked.protocol, gold=asked.gold, words=asked.words, conditions=asked.conditions)
        self.app.push_screen(CompareScreen(pair, self.verifiers))

    def action_choose(self) -> None:
        menu = ManyMenu("Compare", self.verifiers, self.asked.verifiers or self.verifiers)
        choose(self, menu, self._verifiers_chosen)

    def _verifiers_chosen(self, names: tuple[str, ...]) -> None:
        if len(names) < 2:
            self.notify("Choose two or more verifiers.", markup=False)
            return
        against = self.asked.against if self.asked.against in names else None
        self.change(verifiers=names, against=against)

    def action_against(self) -> None:
        names = self._names_at(self.table.selected_id or 0)
        if names:
            self.change(against=None if self.asked.against else names[0])

    def action_export(self) -> None:
        if self.found is not None:
            report = self.found[self.place >= len(family_tables(self.found[0]))]
            share(self, comparison_name(report), partial(comparison_as, report), lambda: report)
