"""Several verifiers compared: significant differences, indistinguishable pairs, and joint errors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, Final, Literal, get_args

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from workbench.app.tui.figure_screen import FigureQuery, FigureScreen, counting
from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.accuracy_view import PROTOCOLS
from workbench.app.tui.kit.cells import fit, printable
from workbench.app.tui.kit.choices import ManyMenu, choose
from workbench.app.tui.kit.matrix_table import Matrix, MatrixCell, MatrixColumn, MatrixRow
from workbench.app.tui.sharing import share
from workbench.app.tui.switches import following
from workbench.core.selection import Condition
from workbench.core.text.emphasis import with_mark
from workbench.core.text.figures import (
    GLYPHS,
    NONE,
    compact_count,
    counted,
    number,
    one_decimal,
    p_value,
    percent,
    points,
    points_interval,
    scale_words,
    shade,
    tint,
)
from workbench.core.text.figures import interval as fractions
from workbench.measuring.comparing import joint_errors
from workbench.measuring.comparing_tables import comparison_as, comparison_name
from workbench.measuring.family import best_pair, classify_pair, family
from workbench.statistics.records.comparison import FamilyMember, FamilyPair, FamilyReport, JointErrorReport, JudgePair

Measure = Literal["difference", "phi", "both", "kappa"]

MEASURES: Final[dict[Measure, str]] = {
    "difference": "row less column, in points · ▲ better ▼ worse ≈ not distinguishable (Holm's p)",
    "phi": "correlation of errors (phi): the lower, the better to combine",
    "both": "items both judge wrongly (in brackets: expected by chance, given gold)",
    "kappa": "agreement of their verdicts beyond chance (Cohen's kappa)",
}
"""Measure in the matrix cells -> its explanation."""

_MARKS = {"better": "▲", "worse": "▼", "not distinguishable": "≈"}

_NAME_CELLS: Final = 9

_SELF: Final = "·"


class FamilySheet:
    """A comparison of several verifiers and their joint errors, looked up by two names in either order."""

    def __init__(self, family: FamilyReport, errors: JointErrorReport) -> None:
        self.family, self.errors = family, errors
        self.members = family.members
        self._met = [one for one in self.members if family.against in (None, one.verifier)]
        self._pairs: Mapping[frozenset[str], FamilyPair] = {frozenset((pair.a, pair.b)): pair for pair in family.family}
        self._judges: Mapping[frozenset[str], JudgePair] = {frozenset((pair.a, pair.b)): pair for pair in errors.errors}
        self._widest = max((abs(pair.difference) for pair in family.family), default=0.0) or 1.0

    def pair(self, a: str, b: str) -> FamilyPair | None:
        """Return the paired metrics of two verifiers; None without common items."""
        return self._pairs.get(frozenset((a, b)))

    def judges(self, a: str, b: str) -> JudgePair | None:
        return self._judges.get(frozenset((a, b)))

    # -- the matrix --------------------------------------------------------------------------------

    def columns(self) -> list[MatrixColumn]:
        """Return the columns, headed by their verifier's row number and, below it, as much of its name as fits."""
        return [
            MatrixColumn(one.verifier, str(place), fit(one.verifier, _NAME_CELLS).rstrip())
            for place, one in enumerate(self.members, 1)
            if one in self._met
        ]

    def rows(self, measure: Measure) -> list[MatrixRow]:
        """Return the rows: verifiers by rank, each with its accuracy and the letters of its groups."""
        letters = max((len(one.letters) for one in self.members), default=0)
        return [
            MatrixRow(
                key=one.verifier,
                mark=f"{place:>2} ",
                name=with_mark(one.verifier, self.family.selection_judges),
                after=f"{percent(one.accuracy)} {one.letters:<{letters}}",
                cells=tuple(self.cell(one, other, measure) for other in self._met),
            )
            for place, one in enumerate(self.members, 1)
        ]

    def cell(self, row: FamilyMember, column: FamilyMember, measure: Measure) -> MatrixCell:
        a, b = row.verifier, column.verifier
        if a == b:
            return MatrixCell(_SELF)
        if measure == "difference":
            return self._difference_cell(a, b)
        judges = self.judges(a, b)
        return MatrixCell(NONE) if judges is None else _joint_error_cell(judges, measure)

    def _difference_cell(self, a: str, b: str) -> MatrixCell:
        pair = self.pair(a, b)
        if pair is None:
            return MatrixCell(NONE)
        difference, says = turned(pair, a, self.family.level)
        step = shade(difference, -self._widest, self._widest)
        return MatrixCell(f"{points(difference)}{_MARKS[says]}", tint=tint(step, rising=True))


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


class FamilyScreen(FigureScreen):
    """A matrix of verifiers with a cursor on one pair, and below it all metrics of that pair.

    Args:
        asked: The initial request.
        verifiers: Names of the verifiers that can be compared.
    """

    CSS_PATH = "family.tcss"
    TITLE_TEXT = "Compare all"
    asked: FamilyQuery
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("family.open", "enter", "open_pair", "Open", "Compare the two verifiers of the cell."),
        Action("family.measure", "o", "next_measure(1)", "Measure", "Show differences, joint errors, agreement."),
        Action("family.measure-before", "O", "next_measure(-1)", "Previous measure", "Show the previous one.", False),
        Action("family.who", "v", "choose", "Verifiers", "Choose the verifiers to compare."),
        Action("family.against", "|", "against", "Reference", "Compare all verifiers with this one; again: all pairs."),
        Action("family.protocol", "p", "next_protocol", "Protocol", "Change how abstentions are counted."),
        Action("family.gold", "g", "next_gold", "Gold", "Compare with another gold: final, people, imported."),
        Action("family.export", "e", "export", "Save", "Copy or save what the matrix shows: CSV, Markdown, LaTeX."),
    )

    def __init__(self, asked: FamilyQuery, verifiers: tuple[str, ...]) -> None:
        super().__init__()
        self.asked, self.verifiers = asked, verifiers
        self.measure: Measure = "difference"
        self.sheet: FamilySheet | None = None

    def content(self) -> ComposeResult:
        yield Static("", id="family-caption", markup=False)
        yield Static("", id="family-legend", markup=False)
        yield Matrix(id="family-matrix")
        yield Static("", id="family-together", markup=False)
        yield Static("", id="family-cell", markup=False)

    def on_mount(self) -> None:
        self.query_one(Matrix).focus()
        self.change()

    # -- reading and showing -----------------------------------------------------------------------

    def count(self, asked: FamilyQuery) -> None:
        self.asked = asked
        self.say("reading …")
        self.count_in_thread(partial(self._read_sheet, asked), self._show, group="family")

    def _read_sheet(self, asked: FamilyQuery) -> FamilySheet:
        found = family(self.project, asked.verifiers or self.verifiers, against=asked.against, **counting(asked))
        return FamilySheet(found, joint_errors(self.project, asked.verifiers or self.verifiers, **counting(asked)))

    def show_error(self, error: BaseException | None) -> None:
        super().show_error(error)
        self.sheet = None
        self.say("these can't be compared")
        for part in ("caption", "legend", "together", "cell"):
            self.query_one(f"#family-{part}", Static).update("")
        self.query_one(Matrix).put("", [], [])

    def _show(self, sheet: FamilySheet) -> None:
        begin, self.sheet = self.sheet is None, sheet
        self.say(printable(self.project.path.name))
        self.query_one("#family-caption", Static).update(caption(sheet, self.asked.words))
        self.query_one("#family-legend", Static).update(legend(self.measure))
        self.query_one("#family-together", Static).update(together(sheet))
        matrix, columns = self.query_one(Matrix), sheet.columns()
        matrix.put("verifier, accuracy %", columns, sheet.rows(self.measure))
        if begin and len(columns) > 1:
            matrix.move_to(matrix.row_key, columns[1].key)

    @on(Matrix.Moved)
    def _show_cell(self) -> None:
        matrix = self.query_one(Matrix)
        if self.sheet is not None:
            sentence = cell_sentence(self.sheet, matrix.row_key, matrix.column_key)
            self.query_one("#family-cell", Static).update(sentence)

    # -- actions -----------------------------------------------------------------------------------

    @on(Matrix.Opened)
    def action_open_pair(self) -> None:
        from workbench.app.tui.screens.compare import CompareScreen, Pair

        matrix = self.query_one(Matrix)
        a, b = matrix.row_key, matrix.column_key
        if self.sheet is None or a is None or b is None:
            return
        if a == b:
            self.notify("Choose a cell with two different verifiers.", markup=False)
            return
        asked = self.asked
        pair = Pair(a=a, b=b, protocol=asked.protocol, gold=asked.gold, words=asked.words, conditions=asked.conditions)
        self.app.push_screen(CompareScreen(pair, self.verifiers))

    def action_next_measure(self, step: int) -> None:
        self.measure = following(self.measure, get_args(Measure)[::step])
        if self.sheet is not None:
            self._show(self.sheet)

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
        if self.sheet is not None:
            against = None if self.asked.against else self.query_one(Matrix).row_key
            self.change(against=against)

    def action_export(self) -> None:
        if self.sheet is not None:
            report = self.sheet.family if self.measure == "difference" else self.sheet.errors
            share(self, comparison_name(report), partial(comparison_as, report), lambda: report)


def turned(pair: FamilyPair, a: str, level: float) -> tuple[float, str]:
    """Return ``a``'s accuracy minus the other's, and whether ``a`` is better, worse or not distinguishable."""
    difference, says = pair.difference, classify_pair(pair, level)
    if pair.a == a:
        return difference, says
    return 0.0 - difference, {"better": "worse", "worse": "better"}.get(says, says)  # equal is never "-0.0"


def _joint_error_cell(judges: JudgePair, measure: Measure) -> MatrixCell:
    if measure == "both":
        errors = judges.errors
        return MatrixCell(f"{compact_count(errors.both_wrong)} ({one_decimal(judges.expected_given_gold)})")
    value = judges.errors.phi if measure == "phi" else judges.kappa
    if value is None:
        return MatrixCell(NONE)
    step = shade(value, 0.0, 1.0)
    # Shared errors are bad; agreement is neither good nor bad.
    return MatrixCell(number(value), GLYPHS[step], tint(step, rising=False) if measure == "phi" else None)


# -- in words --------------------------------------------------------------------------------------


def caption(sheet: FamilySheet, words: str) -> Content:
    family = sheet.family
    uneven = "" if all(one.n == family.common for one in family.members) else " that count for all"
    return Content(
        f"{words} · {counted(family.common, 'item')}{uneven} · {counted(len(family.family), 'pair')}, Holm's p below "
        f"{family.level}\ngold {family.gold_choice} · protocol {family.protocol}: {PROTOCOLS[family.protocol]}"
    )


def legend(measure: Measure) -> Content:
    scale = f" · {scale_words('0', '1')}" if measure in ("phi", "kappa") else ""
    return Content(MEASURES[measure] + scale)


def together(sheet: FamilySheet) -> Content:
    """Return the text on groups of indistinguishable verifiers and on the pair with the fewest joint errors."""
    return Content(f"{_groups_text(sheet.family)}\n{printable(best_pair(sheet.errors))}")


def _groups_text(family: FamilyReport) -> str:
    if family.against is not None:
        return f"all compared with {printable(family.against)}; Holm's p over {counted(len(family.family), 'pair')}"
    place = {one.verifier: str(number) for number, one in enumerate(family.members, 1)}
    groups = [", ".join(place[name] for name in group) for group in family.groups or [] if len(group) > 1]
    return f"not distinguishable: {' · '.join(groups)}" if groups else "every two differ"


def cell_sentence(sheet: FamilySheet, row: str | None, column: str | None) -> Content:
    if row is None or column is None:
        return Content("")
    if row == column:
        return _member_sentence(next(one for one in sheet.members if one.verifier == row))
    names = Content.assemble((printable(row), "bold"), " – ", (printable(column), "bold"))
    judges = sheet.judges(row, column)
    return Content("\n").join([names + _test_text(sheet, row, column), *(_error_lines(judges) if judges else ())])


def _member_sentence(one: FamilyMember) -> Content:
    ends = "" if one.ci is None else f" [{percent(one.ci[0])}, {percent(one.ci[1])}]"
    size = f"{counted(one.n, 'item')} in {counted(one.questions, 'question')}"
    return Content.assemble((printable(one.verifier), "bold"), f" · accuracy {percent(one.accuracy)} %{ends} · {size}")


def _test_text(sheet: FamilySheet, a: str, b: str) -> Content:
    pair = sheet.pair(a, b)
    if pair is None:
        return Content(" · no common item that counts")
    difference, says = turned(pair, a, sheet.family.level)
    low, high = pair.ci if pair.a == a else (-pair.ci[1], -pair.ci[0])
    first, second = (pair.only_a, pair.only_b) if pair.a == a else (pair.only_b, pair.only_a)
    return Content.assemble(
        f" · {counted(pair.n, 'item')} · right alone {first:,} and {second:,}\n",
        (f"{points(difference)} points", "bold"),
        f" {points_interval((low, high))} · p {p_value(pair.permutation_p)}, Holm's {p_value(pair.holm_p)}, q "
        f"{p_value(pair.q)} · {says}",
    )


def _error_lines(judges: JudgePair) -> tuple[Content, Content]:
    errors = judges.errors
    return (
        Content(
            f"both wrong {errors.both_wrong:,} of {errors.n:,}; by chance {one_decimal(errors.expected)}, given gold "
            f"{one_decimal(judges.expected_given_gold)} · either right {percent(judges.either_right)} %"
        ),
        Content(
            f"errors' phi {number(errors.phi)} {_interval_text(errors.phi_ci)} · same {percent(judges.agreement)} % · "
            f"kappa {number(judges.kappa)} {_interval_text(judges.kappa_ci)}"
        ),
    )


def _interval_text(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else fractions(ends)
