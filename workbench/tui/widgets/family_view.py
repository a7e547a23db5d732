"""Several verifiers side by side: cells of a matrix, and everything about one of them in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from textual.content import Content

from workbench.model.comparison import FamilyMember, FamilyPair, FamilyReport, JointErrorReport, JudgePair
from workbench.render.bars import NONE, compact_count, counted, percent
from workbench.render.columns import interval as fractions
from workbench.render.columns import number, one_decimal, p_value
from workbench.render.heat import GLYPHS, scale_words, shade, tint
from workbench.render.marks import with_mark
from workbench.services.measuring.family_tables import best_pair, standing
from workbench.tui.widgets.accuracy_view import PROTOCOLS
from workbench.tui.widgets.cells import fit, printable
from workbench.tui.widgets.compare_view import interval, points
from workbench.tui.widgets.matrix import MatrixCell, MatrixColumn, MatrixRow

Measure = Literal["difference", "phi", "both", "kappa"]
MEASURES: Final[dict[Measure, str]] = {
    "difference": "row less column, in points · ▲ better ▼ worse ≈ not told apart (Holm's p)",
    "phi": "correlation of errors (phi): the lower, the better to combine",
    "both": "items both judge wrongly (in brackets: by chance, given gold)",
    "kappa": "agreement of their verdicts beyond chance (Cohen's kappa)",
}
"""What a cell of the matrix shows."""

_MARKS = {"better": "▲", "worse": "▼", "not told apart": "≈"}
_NAME: Final = 9
_SELF: Final = "·"


class FamilySheet:
    """A family and its joint errors, looked up by two names in either order."""

    def __init__(self, family: FamilyReport, errors: JointErrorReport) -> None:
        self.family, self.errors = family, errors
        self.members = family.members
        self._met = [one for one in self.members if family.against in (None, one.verifier)]
        self._pairs: Mapping[frozenset[str], FamilyPair] = {frozenset((pair.a, pair.b)): pair for pair in family.family}
        self._judges: Mapping[frozenset[str], JudgePair] = {frozenset((pair.a, pair.b)): pair for pair in errors.errors}
        self._widest = max((abs(pair.difference) for pair in family.family), default=0.0) or 1.0

    def pair(self, a: str, b: str) -> FamilyPair | None:
        """Their paired figures; None for a pair without items in common."""
        return self._pairs.get(frozenset((a, b)))

    def judges(self, a: str, b: str) -> JudgePair | None:
        """Their agreement and joint errors."""
        return self._judges.get(frozenset((a, b)))

    # -- the matrix --------------------------------------------------------------------------------

    def columns(self) -> list[MatrixColumn]:
        """Columns carry the rows' numbers, and below them as much of the name as there is room for."""
        return [
            MatrixColumn(one.verifier, str(place), fit(one.verifier, _NAME).rstrip())
            for place, one in enumerate(self.members, 1)
            if one in self._met
        ]

    def rows(self, measure: Measure) -> list[MatrixRow]:
        """The verifiers by rank, each with its accuracy and letters."""
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
        """What two verifiers are to each other."""
        a, b = row.verifier, column.verifier
        if a == b:
            return MatrixCell(_SELF)
        if measure == "difference":
            return self._difference(a, b)
        judges = self.judges(a, b)
        return MatrixCell(NONE) if judges is None else _judged(judges, measure)

    def _difference(self, a: str, b: str) -> MatrixCell:
        pair = self.pair(a, b)
        if pair is None:
            return MatrixCell(NONE)
        difference, says = turned(pair, a, self.family.level)
        step = shade(difference, -self._widest, self._widest)
        return MatrixCell(f"{points(difference)}{_MARKS[says]}", tint=tint(step, rising=True))


def turned(pair: FamilyPair, a: str, level: float) -> tuple[float, str]:
    """The difference and what the tests say, as seen from one of the two."""
    difference, says = pair.difference, standing(pair, level)
    if pair.a == a:
        return difference, says
    return 0.0 - difference, {"better": "worse", "worse": "better"}.get(says, says)  # equal is never "-0.0"


def _judged(judges: JudgePair, measure: Measure) -> MatrixCell:
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
    """On what, counted how: two lines."""
    family = sheet.family
    uneven = "" if all(one.n == family.common for one in family.members) else " that count for all"
    return Content(
        f"{words} · {counted(family.common, 'item')}{uneven} · {counted(len(family.family), 'pair')}, Holm's p below "
        f"{family.level}\ngold {family.gold_choice} · protocol {family.protocol}: {PROTOCOLS[family.protocol]}"
    )


def legend(measure: Measure) -> Content:
    """What the cells show, and on which scale."""
    scale = f" · {scale_words('0', '1')}" if measure in ("phi", "kappa") else ""
    return Content(MEASURES[measure] + scale)


def together(sheet: FamilySheet) -> Content:
    """Who can't be told apart, by their numbers, and which two err together least."""
    return Content(f"{_apart(sheet.family)}\n{printable(best_pair(sheet.errors))}")


def _apart(family: FamilyReport) -> str:
    if family.against is not None:
        return f"all set against {printable(family.against)}; Holm's p over {counted(len(family.family), 'pair')}"
    place = {one.verifier: str(number) for number, one in enumerate(family.members, 1)}
    groups = [", ".join(place[name] for name in group) for group in family.groups or [] if len(group) > 1]
    return f"not told apart: {' · '.join(groups)}" if groups else "every two differ"


def cell_sentence(sheet: FamilySheet, row: str | None, column: str | None) -> Content:
    """Everything about the pair under the cursor, in four lines; of one verifier in one."""
    if row is None or column is None:
        return Content("")
    if row == column:
        return _own(next(one for one in sheet.members if one.verifier == row))
    names = Content.assemble((printable(row), "bold"), " – ", (printable(column), "bold"))
    judges = sheet.judges(row, column)
    return Content("\n").join([names + _tested(sheet, row, column), *(_errors(judges) if judges else ())])


def _own(one: FamilyMember) -> Content:
    ends = "" if one.ci is None else f" [{percent(one.ci[0])}, {percent(one.ci[1])}]"
    size = f"{counted(one.n, 'item')} in {counted(one.questions, 'question')}"
    return Content.assemble((printable(one.verifier), "bold"), f" · accuracy {percent(one.accuracy)} %{ends} · {size}")


def _tested(sheet: FamilySheet, a: str, b: str) -> Content:
    pair = sheet.pair(a, b)
    if pair is None:
        return Content(" · no item in common that counts")
    difference, says = turned(pair, a, sheet.family.level)
    low, high = pair.ci if pair.a == a else (-pair.ci[1], -pair.ci[0])
    first, second = (pair.only_a, pair.only_b) if pair.a == a else (pair.only_b, pair.only_a)
    return Content.assemble(
        f" · {counted(pair.n, 'item')} · right alone {first:,} and {second:,}\n",
        (f"{points(difference)} points", "bold"),
        f" {interval((low, high))} · p {p_value(pair.permutation_p)}, Holm's {p_value(pair.holm_p)}, q "
        f"{p_value(pair.q)} · {says}",
    )


def _errors(judges: JudgePair) -> tuple[Content, Content]:
    errors = judges.errors
    return (
        Content(
            f"both wrong {errors.both_wrong:,} of {errors.n:,}; by chance {one_decimal(errors.expected)}, given gold "
            f"{one_decimal(judges.expected_given_gold)} · either right {percent(judges.either_right)} %"
        ),
        Content(
            f"errors' phi {number(errors.phi)} {_ends(errors.phi_ci)} · same {percent(judges.agreement)} % · "
            f"kappa {number(judges.kappa)} {_ends(judges.kappa_ci)}"
        ),
    )


def _ends(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else fractions(ends)
