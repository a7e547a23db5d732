"""Several verifiers side by side: who differs from whom, who can't be told apart, who errs with whom."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, get_args

from msgspec import Struct, structs
from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from workbench.model.comparison import JointErrorReport
from workbench.model.selection import Condition, Selection
from workbench.model.verdict import GoldChoice, Protocol3
from workbench.services.measuring.comparing_tables import comparison_as, save_comparison
from workbench.services.measuring.family import family
from workbench.services.measuring.joint_errors import SAMPLES, joint_errors
from workbench.tui.actions import Action
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.sharing import share
from workbench.tui.switches import following
from workbench.tui.widgets import family_view as view
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.many_choices import ManyMenu
from workbench.tui.widgets.matrix import Matrix
from workbench.tui.widgets.title_bar import TitleBar


class FamilyQuery(Struct, frozen=True, kw_only=True):
    """What is asked for.

    Attributes:
        verifiers: Who is compared; () for all that can be.
        against: Whom all are compared with; None for all pairs.
        words: The items, for people.
        conditions: The same for the database.
    """

    verifiers: tuple[str, ...] = ()
    against: str | None = None
    protocol: Protocol3 = "forced"
    gold: GoldChoice = "final"
    words: str = "all"
    conditions: tuple[Condition, ...] = ()


class FamilyScreen(WorkbenchScreen):
    """A matrix of verifiers with a cursor on one pair, and everything about that pair below it.

    Args:
        asked: What is asked for first.
        verifiers: Who can be compared.
    """

    CSS_PATH = "family.tcss"
    TITLE_TEXT = "Compare all"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("family.open", "o,enter", "open_pair", "Open", "Compare the two under the cursor."),
        Action("family.measure", "m", "next_measure(1)", "Measure", "Show differences, errors in common, agreement."),
        Action("family.measure-before", "M", "next_measure(-1)", "Before", "Show the measure before.", footer=False),
        Action("family.who", "v", "choose", "Verifiers", "Choose who is compared."),
        Action("family.against", "r", "against", "Reference", "Compare all with the row's verifier; again: all pairs."),
        Action("family.protocol", "p", "next_protocol", "Protocol", "Count undecided rows in the next way."),
        Action("family.gold", "g", "next_gold", "Gold", "Compare with another gold: final, people, imported."),
        Action("family.export", "e", "export", "Save", "Copy or save what the matrix shows: CSV, Markdown, LaTeX."),
    )

    def __init__(self, asked: FamilyQuery, verifiers: tuple[str, ...]) -> None:
        super().__init__()
        self.asked, self.verifiers = asked, verifiers
        self.measure: view.Measure = "difference"
        self.sheet: view.FamilySheet | None = None

    def compose(self) -> ComposeResult:
        """Lay out."""
        yield TitleBar("Compare all", "reading …")
        yield Static("", id="family-caption", markup=False)
        yield Static("", id="family-legend", markup=False)
        yield Matrix(id="family-matrix")
        yield Static("", id="family-together", markup=False)
        yield Static("", id="family-cell", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Count."""
        self.query_one(Matrix).focus()
        self._ask(self.asked)

    # -- reading and showing -----------------------------------------------------------------------

    def _ask(self, asked: FamilyQuery) -> None:
        self.asked = asked
        self.say("reading …")
        self.in_background(lambda: (asked, self._read(asked)), self._show, group="family", stops=True)

    def _read(self, asked: FamilyQuery) -> view.FamilySheet:
        found = family(
            self.project,
            asked.verifiers or self.verifiers,
            against=asked.against,
            protocol=asked.protocol,
            gold=asked.gold,
            selection=Selection(asked.conditions),
        )
        return view.FamilySheet(found, self._joint(asked, 0))

    def _joint(self, asked: FamilyQuery, samples: int) -> JointErrorReport:
        return joint_errors(
            self.project,
            asked.verifiers or self.verifiers,
            protocol=asked.protocol,
            gold=asked.gold,
            selection=Selection(asked.conditions),
            samples=samples,
        )

    def _show(self, data: tuple[FamilyQuery, view.FamilySheet]) -> None:
        """Everything with a closed form; the bootstrap begins."""
        asked, sheet = data
        if asked != self.asked:
            return
        self._fill(sheet)
        self.in_background(lambda: (asked, self._joint(asked, SAMPLES)), self._drawn, group="bootstrap", stops=True)

    def _drawn(self, data: tuple[FamilyQuery, JointErrorReport]) -> None:
        asked, errors = data
        if asked == self.asked and self.sheet is not None:
            self._fill(view.FamilySheet(self.sheet.family, errors))

    def trouble(self, error: BaseException | None) -> None:
        """What can't be compared leaves no figures of something else behind."""
        super().trouble(error)
        self.sheet = None
        self.say("these can't be compared")
        for part in ("caption", "legend", "together", "cell"):
            self.query_one(f"#family-{part}", Static).update("")
        self.query_one(Matrix).put("", [], [])

    def _fill(self, sheet: view.FamilySheet) -> None:
        begin, self.sheet = self.sheet is None, sheet
        self.say(printable(self.project.path.name))
        self.query_one("#family-caption", Static).update(view.caption(sheet, self.asked.words))
        self.query_one("#family-legend", Static).update(view.legend(self.measure))
        self.query_one("#family-together", Static).update(view.together(sheet))
        matrix, columns = self.query_one(Matrix), sheet.columns()
        matrix.put("verifier, accuracy %", columns, sheet.rows(self.measure))
        if begin and len(columns) > 1:
            matrix.move_to(matrix.row_key, columns[1].key)

    @on(Matrix.Moved)
    def _moved(self) -> None:
        matrix = self.query_one(Matrix)
        if self.sheet is not None:
            sentence = view.cell_sentence(self.sheet, matrix.row_key, matrix.column_key)
            self.query_one("#family-cell", Static).update(sentence)

    # -- actions -----------------------------------------------------------------------------------

    @on(Matrix.Opened)
    def action_open_pair(self) -> None:
        """Compare the two under the cursor."""
        from workbench.tui.screens.compare import CompareScreen, Pair

        matrix = self.query_one(Matrix)
        a, b = matrix.row_key, matrix.column_key
        if self.sheet is None or a is None or b is None:
            return
        if a == b:
            self.notify("Choose a cell where two meet.", markup=False)
            return
        asked = self.asked
        pair = Pair(a=a, b=b, protocol=asked.protocol, gold=asked.gold, words=asked.words, conditions=asked.conditions)
        self.app.push_screen(CompareScreen(pair, self.verifiers))

    def action_next_measure(self, step: int) -> None:
        """Show something else of each pair."""
        self.measure = following(self.measure, get_args(view.Measure)[::step])
        if self.sheet is not None:
            self._fill(self.sheet)

    def action_choose(self) -> None:
        """Choose who is compared."""
        menu = ManyMenu("Compare", self.verifiers, self.asked.verifiers or self.verifiers)
        self.app.push_screen(menu, self._chosen)

    def _chosen(self, names: tuple[str, ...] | None) -> None:
        if names is None:
            return
        if len(names) < 2:
            self.notify("Choose two or more.", markup=False)
            return
        against = self.asked.against if self.asked.against in names else None
        self._ask(structs.replace(self.asked, verifiers=names, against=against))

    def action_against(self) -> None:
        """Compare all with the verifier of the row under the cursor, or all with all again."""
        if self.sheet is not None:
            against = None if self.asked.against else self.query_one(Matrix).row_key
            self._ask(structs.replace(self.asked, against=against))

    def action_next_protocol(self) -> None:
        """Count undecided rows in the next way."""
        self._ask(structs.replace(self.asked, protocol=following(self.asked.protocol, get_args(Protocol3))))

    def action_next_gold(self) -> None:
        """Compare with the next gold."""
        self._ask(structs.replace(self.asked, gold=following(self.asked.gold, get_args(GoldChoice))))

    def action_export(self) -> None:
        """Copy or save the differences, or the errors in common."""
        if self.sheet is not None:
            report = self.sheet.family if self.measure == "difference" else self.sheet.errors
            share(self, partial(comparison_as, report), partial(save_comparison, report, self.project.path))
