"""Compares several verifiers (a family) with each other, or all of them with one reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from textwrap import fill
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import structs

from workbench.config import protocol_of
from workbench.core.errors import UsageError
from workbench.core.progress import stepping
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.text.emphasis import explain_marks, with_mark
from workbench.core.text.figures import NONE, counted, number, one_decimal, p_value, signed_interval, signed_number
from workbench.core.text.inert import inert
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring import notes
from workbench.measuring.comparing import TOO_FEW, comparable
from workbench.measuring.judged import JudgedSelection, VerifierRun, counting, judged, nothing_measured
from workbench.statistics.records.comparison import (
    LEVEL,
    FamilyMember,
    FamilyPair,
    FamilyReport,
    JointErrorReport,
    JointErrors,
    JudgePair,
    PairedFigures,
)
from workbench.tables.document import Table
from workbench.tables.table import (
    Column,
    Columns,
    column,
    count,
    counts,
    ends,
    metric_column,
    table,
    text,
    with_interval,
    word,
)
from workbench.tables.table_text import plain_table

if TYPE_CHECKING:
    from workbench.statistics.confusion import Graded, IntArray


def family(
    project: Project,
    verifiers: tuple[str, ...] = (),
    *,
    against: str | None = None,
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> FamilyReport:
    """Compare every two verifiers, or every verifier with ``against``; each pair is compared on the items that count
    for both.

    Args:
        verifiers: Names; empty for all comparable verifiers.
        against: The reference; it belongs to the family even if it is not among ``verifiers``.

    Raises:
        UsageError: There are fewer than two verifiers, one has no complete run, or no pair has common items.
    """
    import numpy as np

    from workbench.statistics.joint_errors import letters

    protocol = protocol or protocol_of(project)
    names = tuple(dict.fromkeys((*(verifiers or comparable(project)), *((against,) if against else ()))))
    if len(names) < 2:
        raise UsageError(*TOO_FEW)
    found = judged(project, names, gold=gold, selection=selection)
    judged_by = zip(found.judges, found.outcomes, strict=True)
    members = [_grade_member(judge, outcome, found, protocol) for judge, outcome in judged_by]
    members.sort(key=lambda one: -(one.member.accuracy or 0.0))
    pairs = _compare_pairs(members, found.question, against)
    if not pairs and found.failed:
        raise UsageError(" ".join(nothing_measured(found.failed)))
    if not pairs:
        raise UsageError("No two of these verifiers share an item that counts.", f"Gold {gold}, protocol {protocol}.")
    groups = None if against else _indistinguishable_groups(members, pairs)
    together = {(pair.a, pair.b) for pair in pairs}
    matches = ((a.member.verifier, b.member.verifier) for a, b in _pairs_to_compare(members, against))
    shown = letters(groups, len(members)) if groups is not None else [""] * len(members)
    return FamilyReport(
        family=pairs,
        members=[structs.replace(one.member, letters=own) for one, own in zip(members, shown, strict=True)],
        apart=[match for match in matches if match not in together],
        against=against,
        groups=None if groups is None else [[members[place].member.verifier for place in group] for group in groups],
        level=LEVEL,
        common=int(np.count_nonzero(np.logical_and.reduce([one.graded.counted for one in members]))),
        protocol=protocol,
        gold=found.gold_counts,
        gold_choice=gold,
        selection_judges=notes.among(project, names, selection, found.columns),
        failed=found.failed,
    )


class _GradedMember(NamedTuple):
    member: FamilyMember
    graded: Graded


def _grade_member(judge: VerifierRun, outcome: IntArray, found: JudgedSelection, protocol: Protocol3) -> _GradedMember:
    from workbench.statistics.confusion import grade
    from workbench.statistics.intervals import distinct, share_interval

    graded = grade(outcome, found.gold, protocol)
    right, question = graded.right[graded.counted], found.question[graded.counted]
    member = FamilyMember(
        verifier=judge.name,
        run=judge.run,
        n=len(right),
        questions=distinct(question),
        accuracy=float(right.mean()) if len(right) else None,
        ci=share_interval(right, question) if len(right) else None,
        letters="",
    )
    return _GradedMember(member, graded)


def _compare_pairs(members: list[_GradedMember], question: IntArray, against: str | None) -> list[FamilyPair]:
    from workbench.statistics.compare import compare_graded
    from workbench.statistics.subgroups import benjamini_hochberg, holm

    found: list[tuple[str, str, PairedFigures]] = []
    for a, b in stepping(_pairs_to_compare(members, against), "comparing", "pairs"):
        paired = compare_graded(a.graded, b.graded, question)
        if paired is not None:
            found.append((a.member.verifier, b.member.verifier, paired))
    chances = [paired.permutation_p for *_, paired in found]
    return [
        FamilyPair(**structs.asdict(paired), a=a, b=b, holm_p=holm_p, q=q)
        for (a, b, paired), holm_p, q in zip(found, holm(chances), benjamini_hochberg(chances), strict=True)
    ]


def _pairs_to_compare(members: list[_GradedMember], against: str | None) -> list[tuple[_GradedMember, _GradedMember]]:
    if against is None:
        return list(combinations(members, 2))
    reference = next(one for one in members if one.member.verifier == against)
    return [(one, reference) for one in members if one is not reference]


def _indistinguishable_groups(members: list[_GradedMember], pairs: list[FamilyPair]) -> list[tuple[int, ...]]:
    """Group the verifiers, given as ranks, that are not distinguishable. Verifiers without common items are not
    distinguishable either.

    Holm's p-values are used instead of Benjamini and Hochberg's q-values: a ranking is one statement about all its
    pairs, which a single false pair makes false; and pairs that share a verifier are dependent in ways for which only
    Holm's bound is guaranteed.
    """
    import numpy as np

    from workbench.statistics.joint_errors import indistinguishable_groups

    place = {one.member.verifier: number for number, one in enumerate(members)}
    differ = np.zeros((len(members), len(members)), dtype=bool)
    for pair in pairs:
        if pair.holm_p < LEVEL:
            a, b = place[pair.a], place[pair.b]
            differ[a, b] = differ[b, a] = True
    return indistinguishable_groups(differ)


# -- A family of verifiers, and their agreement and joint errors: tables and sentences.


STANDINGS: Final = ("better", "worse", "not distinguishable")
"""Possible results of a pair's tests for A."""
SELF: Final = "·"
"""Marks the diagonal of the matrix."""
_WIDTH = 79


# -- A family.


def family_text(report: FamilyReport) -> str:
    how = counting(report.protocol, report.gold_choice, report.gold)
    return "\n\n".join([how, *plain_tables(family_tables(report)), fill(ranking(report), _WIDTH)]) + "\n"


def family_tables(report: FamilyReport) -> tuple[Table, ...]:
    differences = () if report.against else (differences_table(report),)
    return (members_table(report), *differences, pairs_table(report))


def members_table(report: FamilyReport) -> Table:
    places = {one.verifier: str(place) for place, one in enumerate(report.members, 1)}
    columns: Columns[FamilyMember] = (
        word("", lambda one: places[one.verifier]),
        word("verifier", lambda one: with_mark(one.verifier, report.selection_judges)),
        text("run", lambda one: NONE if one.run is None else str(one.run)),
        *counts("n", "questions"),
        *with_interval("accuracy", "accuracy", "ci"),
        text("letters", lambda one: one.letters, there=not report.against),
    )
    together = "" if report.against else "; those that share a letter are not distinguishable"
    notes = (*nothing_measured(report.failed), *_uneven_note(report), *explain_marks(report.selection_judges))
    return table(f"Verifiers by accuracy{together}", columns, report.members, notes=notes)


def _uneven_note(report: FamilyReport) -> tuple[str, ...]:
    if report.failed or all(one.n == report.common for one in report.members):
        return ()
    return (
        f"Items that count for every verifier: {report.common:,}. Ranks compare accuracies on different items; pairs "
        "never do.",
    )


def differences_table(report: FamilyReport) -> Table:
    pairs = {(pair.a, pair.b): pair for pair in report.family}

    def cell(a: str, b: str) -> str:
        pair = pairs.get((a, b)) or pairs.get((b, a))
        if pair is None:
            return NONE
        difference = pair.difference if pair.a == a else 0.0 - pair.difference  # Never "-0.000".
        return signed_number(difference) + ("*" if pair.holm_p < report.level else " ")

    holm = f"Holm's p below {report.level} over {counted(len(report.family), 'pair')}"
    caption = f"Accuracy of the row less that of the column; * {holm}"
    return _matrix([one.verifier for one in report.members], cell, caption)


def pairs_table(report: FamilyReport) -> Table:
    columns: Columns[FamilyPair] = (
        word("A", lambda pair: pair.a),
        word("B", lambda pair: pair.b),
        count("n", lambda pair: pair.n),
        count("only A", lambda pair: pair.only_a),
        count("only B", lambda pair: pair.only_b),
        column("A - B", lambda pair: pair.difference, signed_number),
        ends(lambda pair: pair.ci, signed_interval),
        column("p", lambda pair: pair.permutation_p, p_value),
        column("Holm's p", lambda pair: pair.holm_p, p_value),
        column("q", lambda pair: pair.q, p_value),
        column("detectable", lambda pair: pair.detectable, number),
        text("in words", lambda pair: classify_pair(pair, report.level)),
    )
    notes = (
        f"p by permutation of questions; Holm's p keeps the chance of any false difference among "
        f"{counted(len(report.family), 'pair')} at its level, however they depend on each other; q (Benjamini and "
        "Hochberg) keeps the share of false ones. Each interval is for its pair alone. detectable: the true difference "
        f"that a test of one pair at 5 % would show in four of five cases, {NONE} where too few questions differ to "
        "say.",
        *(f"{a} and {b} have no common item that counts." for a, b in report.apart if not {a, b} & {*report.failed}),
    )
    return table(f"All with {report.against}" if report.against else "Pairs", columns, report.family, notes=notes)


def classify_pair(pair: FamilyPair, level: float) -> str:
    """Return whether A is better or worse than B, or not distinguishable: one of `STANDINGS`."""
    return STANDINGS[2] if pair.holm_p >= level else STANDINGS[pair.difference < 0]


def ranking(report: FamilyReport) -> str:
    if report.against is not None:
        named = {
            standing: [inert(pair.a) for pair in report.family if classify_pair(pair, report.level) == standing]
            for standing in STANDINGS
        }
        parts = [f"{standing}: {', '.join(names)}" for standing, names in named.items() if names]
        return f"Against {inert(report.against)}, {'; '.join(parts)}."
    groups = [group for group in report.groups or [] if len(group) > 1]
    if not groups:
        return "All pairs of them differ."
    if len(groups[0]) == len(report.members):
        return "No two of them are distinguishable on these items."
    together = "; ".join(", ".join(map(inert, group)) for group in groups)
    return f"Not distinguishable: {together}. Any two not grouped together here differ."


# -- Joint errors.


def errors_text(report: JointErrorReport) -> str:
    how = counting(report.protocol, report.gold_choice, report.gold)
    return "\n\n".join([how, *plain_tables(error_tables(report))]) + "\n"


def error_tables(report: JointErrorReport) -> tuple[Table, ...]:
    return (agreement_table(report), phi_table(report), errors_table(report), classes_table(report))


def agreement_table(report: JointErrorReport) -> Table:
    chose = report.selection_judges
    columns: Columns[JudgePair] = (
        word("A", lambda pair: with_mark(pair.a, chose)),
        word("B", lambda pair: with_mark(pair.b, chose)),
        *counts("n", "questions"),
        metric_column("agreement", lambda pair: pair.agreement),
        *with_interval("kappa", "kappa"),
    )
    notes = (*nothing_measured(report.failed), *_undefined_kappa_note(report.errors), *explain_marks(chose))
    return table("Same verdicts, on items with gold or without", columns, report.errors, notes=notes)


def _undefined_kappa_note(pairs: Sequence[JudgePair]) -> tuple[str, ...]:
    undefined = any(pair.n and pair.kappa is None for pair in pairs)
    return ("kappa – where it is undefined, because both give the same verdict on all items.",) if undefined else ()


def phi_table(report: JointErrorReport) -> Table:
    found = {frozenset((pair.a, pair.b)): pair.errors.phi for pair in report.errors}
    return _matrix(
        list(report.verifiers),
        lambda a, b: number(found[frozenset((a, b))]),
        "Correlation of errors (phi), from -1 to 1; the lower, the more a combination of the two gains",
    )


def errors_table(report: JointErrorReport) -> Table:
    columns: Columns[JudgePair] = (
        word("A", lambda pair: pair.a),
        word("B", lambda pair: pair.b),
        count("n", lambda pair: pair.errors.n),
        count("A wrong", lambda pair: pair.errors.wrong_a),
        count("B wrong", lambda pair: pair.errors.wrong_b),
        count("both", lambda pair: pair.errors.both_wrong),
        column("by chance", lambda pair: pair.errors.expected, one_decimal),
        column("given gold", lambda pair: pair.expected_given_gold, one_decimal),
        *with_interval("phi", "errors.phi"),
        metric_column("Q", lambda pair: pair.errors.yules_q),
        metric_column("either right", lambda pair: pair.either_right),
    )
    notes = (
        "by chance: items both would get wrong if their errors were independent; given gold: if they were independent "
        "within each gold class. phi and Q: – where a verifier is always or never wrong; intervals by question, – with "
        "too few questions.",
        best_pair(report),
    )
    return table("Joint errors, on items with gold", columns, report.errors, notes=notes)


class _ErrorsInClass(NamedTuple):
    pair: JudgePair
    gold: str
    errors: JointErrors


def classes_table(report: JointErrorReport) -> Table:
    columns: Columns[_ErrorsInClass] = (
        word("A", lambda one: one.pair.a),
        word("B", lambda one: one.pair.b),
        word("gold", lambda one: one.gold),
        count("n", lambda one: one.errors.n),
        count("A wrong", lambda one: one.errors.wrong_a),
        count("B wrong", lambda one: one.errors.wrong_b),
        count("both", lambda one: one.errors.both_wrong),
        column("by chance", lambda one: one.errors.expected, one_decimal),
        *with_interval("phi", "errors.phi"),
    )
    found = [
        _ErrorsInClass(pair, gold, errors)
        for pair in report.errors
        for gold, errors in (("correct", pair.on_correct), ("incorrect", pair.on_incorrect))
    ]
    return table("Joint errors within a gold class", columns, found)


def best_pair(report: JointErrorReport) -> str:
    known = [pair for pair in report.errors if pair.either_right is not None]
    if not known:
        return "No two of them have a common item with gold."
    best = max(known, key=lambda pair: pair.either_right or 0.0)
    return (
        f"{best.a} and {best.b} are both wrong on the smallest share: {best.errors.both_wrong:,} of "
        f"{counted(best.errors.n, 'item')}."
    )


# -- Shared parts of comparisons.


def plain_tables(tables: Sequence[Table]) -> list[str]:
    return [plain_table(one).rstrip("\n") for one in tables]


def _matrix(names: Sequence[str], cell: Callable[[str, str], str], caption: str) -> Table:
    places = {name: str(place) for place, name in enumerate(names, 1)}

    def other(name: str) -> Column[str]:
        return text(places[name], lambda row: SELF if row == name else cell(row, name))

    columns: Columns[str] = (word("", places.__getitem__), word("", str), *map(other, names))
    return table(caption, columns, names)
