"""Verifiers that vote together, against the best of them alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, structs

from workbench.config import protocol_of
from workbench.core.database.selection import check_names
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, group_name
from workbench.core.text.emphasis import what_marks_mean, with_mark
from workbench.core.text.figures import NONE, counted, p_value, percent, signed, signed_interval
from workbench.core.text.inert import inert
from workbench.core.verdict import GoldChoice, OutcomeCode, Protocol3
from workbench.measuring import notes
from workbench.measuring.columns import Columns, Groups, columns, gold_counts
from workbench.measuring.comparing_tables import told
from workbench.measuring.judged import BASELINE, JudgedSelection, VerifierRun, counting, judged, nothing_measured
from workbench.statistics.records.combined import ENSEMBLES, EnsembleReport, EnsembleRow, FoldRow, MemberRow, RuleKind
from workbench.statistics.records.comparison import PairedFigures
from workbench.tables.document import Table
from workbench.tables.table import Column, column, count, ends, figure, table, text, word
from workbench.tables.table import Columns as TableColumns
from workbench.tables.table_text import plain_table

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, IntArray
    from workbench.statistics.ensembles import Ballots


# -- Items that several verifiers have judged, as ballots.


class VotedItems(Struct, frozen=True, kw_only=True, eq=False):
    """Items with gold that all members have judged; arrays with one value an item.

    Attributes:
        groups: What they are broken down by.
        members: The verifiers that vote.
        protocol: How undecided rows count.
        unjudged: Items with gold that lack a member's verdict.
        failed: Verifiers that don't vote, because they failed on all they were asked about, and on how many items.
    """

    gold: IntArray
    question: IntArray
    groups: Groups | None
    members: tuple[VerifierRun, ...]
    ballots: Ballots
    protocol: Protocol3
    unjudged: int
    failed: dict[str, int]

    def one_is_best(self, candidates: IntArray) -> bool:
        """Whether no luck chooses among candidates, which are outcomes by candidate and pattern."""
        from workbench.statistics.compare import one_is_best
        from workbench.statistics.confusion import grade

        graded = [grade(self.ballots.outcome(one), self.gold, self.protocol) for one in candidates]
        return one_is_best(graded, self.question)


def voted_items(
    project: Project,
    verifiers: tuple[str, ...],
    selection: Selection,
    *,
    folds: int,
    by: str | None,
    protocol: Protocol3,
    gold: GoldChoice,
) -> VotedItems:
    """The verdicts of the members' newest complete runs, questions dealt out to folds.

    Args:
        verifiers: The members; empty for all with a complete run, but the baseline.

    Raises:
        UsageError: Fewer than two members, too many of them, or fewer questions than folds.
    """
    import numpy as np

    from workbench.statistics.ensembles import ballots, fold_of
    from workbench.statistics.intervals import distinct

    everything = columns(project)
    found = judged(project, verifiers, gold=gold, selection=selection, known=everything)
    members = _voters(found, verifiers)
    known = found.gold >= 0
    kept = known & np.all([outcome >= 0 for _, outcome in members], axis=0)
    question = found.question[kept]
    _check_folds(distinct(question), folds)
    outcomes = [outcome[kept] for _, outcome in members]
    return VotedItems(
        gold=found.gold[kept],
        question=question,
        groups=None if by is None else _groups(everything, selection, by, kept),
        members=tuple(judge for judge, _ in members),
        ballots=ballots(outcomes, found.gold[kept], fold_of(question, folds)),
        protocol=protocol,
        unjudged=int(np.count_nonzero(known & ~kept)),
        failed=found.failed,
    )


def _voters(found: JudgedSelection, named: tuple[str, ...]) -> list[tuple[VerifierRun, IntArray]]:
    """The members with their outcomes: those named, else all that look at the completion.

    Raises:
        UsageError: There are too few or too many.
    """
    from workbench.statistics.ensembles import MOST_MEMBERS

    pairs = zip(found.judges, found.outcomes, strict=True)
    if named and found.failed:
        raise UsageError(*nothing_measured(found.failed))
    there = [(judge, outcome) for judge, outcome in pairs if named or judge.name != BASELINE]
    members = [(judge, outcome) for judge, outcome in there if judge.name not in found.failed]
    if 2 <= len(members) <= MOST_MEMBERS:
        return members
    names = ", ".join(judge.name for judge, _ in members) or "none"
    raise UsageError(
        f"An ensemble has 2 to {MOST_MEMBERS} verifiers, not {len(members)}: {names}.",
        "Name them with --verifier, or start another: workbench verify DB NAME",
    )


def _check_folds(questions: int, folds: int) -> None:
    if questions < folds:
        raise UsageError(
            f"{folds} folds need as many questions; {questions:,} have gold and a verdict of every member.",
            "Use fewer --folds or other verifiers.",
        )


def _groups(everything: Columns, wanted: Selection, by: str, kept: BoolArray) -> Groups:
    groups, chosen = everything.groups(by), everything.chosen(wanted)
    code = groups.code if chosen is None else groups.code[chosen]
    return structs.replace(groups, code=code[kept])


FOLDS = 5
"""Parts the questions are dealt out to."""
BEST_SINGLE = "best single"
"""The name of the rule every ensemble is compared with."""
_AS_A_VERIFIER = ("group", "n", "questions", "accuracy", "ci", "balanced_accuracy", "mcc", "fpr", "fnr", "coverage")
"""Figures of a rule that are those of a verifier with its verdicts."""


class _Rule(Struct, frozen=True, kw_only=True, eq=False):
    """A rule's verdicts on all items."""

    name: str
    kind: RuleKind
    outcome: IntArray
    k: int | None = None


def ensemble(
    project: Project,
    verifiers: tuple[str, ...] = (),
    *,
    k: int | None = None,
    weighted: bool = False,
    folds: int = FOLDS,
    by: str | None = None,
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> EnsembleReport:
    """Every k of n, the k that looks best, and weighted votes, each against the verifier that looks best alone.

    What looks best is chosen, and weights are fitted, on the questions outside a fold and judged on those inside, for
    the single verifier as for the ensembles; where luck may have chosen, differences are less sure: `chosen_apart`.

    Args:
        verifiers: The members; empty for all with a complete run, but the baseline.
        k: Only this number of acceptances, instead of each.
        weighted: Weighted votes, too.
        folds: Into how many parts the questions are dealt.
        by: What to group rows by, as for accuracy.

    Raises:
        UsageError: Fewer than two members, too many of them, no such k, or fewer questions than folds.
    """
    protocol = protocol or protocol_of(project)
    from workbench.statistics.ensembles import SEED
    from workbench.statistics.intervals import distinct

    reader = project.database.reader()
    wanted = check_names(reader, selection or Selection())
    items = voted_items(project, verifiers, wanted, folds=folds, by=by, protocol=protocol, gold=gold)
    if k is not None and not 1 <= k <= len(items.members):
        raise UsageError(f"{k} of {len(items.members)} can't accept.", f"k is from 1 to {len(items.members)}.")
    rules = _rules(items, k, weighted)
    headline = "weighted" if weighted else "chosen_k" if k is None else "k_of_n"
    whole = next(rule for rule in rules if rule.kind == headline)
    intercept, members = _members(items, whole)
    return EnsembleReport(
        items=len(items.gold),
        questions=distinct(items.question),
        unjudged=items.unjudged,
        seed=SEED,
        folds=_folds(items),
        headline=whole.name,
        members=members,
        intercept=intercept,
        rows=_rows(items, rules),
        protocol=protocol,
        gold=gold_counts(project, wanted, gold),
        gold_choice=gold,
        by=by,
        selection_judges=notes.among(project, [judge.name for judge in items.members], wanted, columns(project)),
        failed=items.failed,
    )


def _rules(items: VotedItems, k: int | None, weighted: bool) -> list[_Rule]:
    import numpy as np

    from workbench.statistics.ensembles import at_least, singles, weighted_outside

    ballots, size = items.ballots, len(items.members)
    alone = singles(ballots.votes)
    rules = [
        _Rule(name=judge.name, kind="member", outcome=ballots.outcome(own))
        for judge, own in zip(items.members, alone, strict=True)
    ]
    nothing = np.full(len(items.gold), OutcomeCode.INCORRECT, dtype=np.int8)
    if BASELINE not in {judge.name for judge in items.members}:
        rules.append(_Rule(name=BASELINE, kind="baseline", outcome=nothing))
    best = ballots.outcome(alone[_best_single(items)])
    rules.append(_Rule(name=BEST_SINGLE, kind="best_single", outcome=best))
    for number in range(1, size + 1) if k is None else (k,):
        outcome = ballots.outcome(at_least(ballots.votes, number))
        rules.append(_Rule(name=f"{number} of {size}", kind="k_of_n", outcome=outcome, k=number))
    if k is None:
        rules.append(_Rule(name=f"best k of {size}", kind="chosen_k", outcome=_chosen_k(ballots, items.protocol)))
    if weighted:
        rules.append(_Rule(name="weighted", kind="weighted", outcome=ballots.outcome(weighted_outside(ballots))))
    return rules


def _best_single(items: VotedItems) -> IntArray:
    from workbench.statistics.ensembles import chosen, singles

    return chosen(items.ballots, singles(items.ballots.votes), items.protocol)


def _chosen_k(ballots: Ballots, protocol: Protocol3) -> IntArray:
    from workbench.statistics.ensembles import chosen, every_k

    rules = every_k(ballots.votes)
    return ballots.outcome(rules[chosen(ballots, rules, protocol)])


def _folds(items: VotedItems) -> list[FoldRow]:
    import numpy as np

    from workbench.statistics.ensembles import chosen, every_k
    from workbench.statistics.intervals import distinct

    fold, size = items.ballots.fold, len(items.members)
    strictness = chosen(items.ballots, every_k(items.ballots.votes), items.protocol)
    return [
        FoldRow(
            fold=number + 1,
            questions=distinct(items.question[fold == number]),
            items=int(np.count_nonzero(fold == number)),
            best_single=items.members[best].name,
            k=size - strict,
        )
        for number, (best, strict) in enumerate(zip(_best_single(items).tolist(), strictness.tolist(), strict=True))
    ]


def _rows(items: VotedItems, rules: list[_Rule]) -> list[EnsembleRow]:
    from workbench.statistics.subgroups import benjamini_hochberg

    best = next(rule for rule in rules if rule.kind == "best_single").outcome
    by_luck = _kinds_by_luck(items)
    rows = [row for rule in rules for row in _rows_of(items, rule, best, rule.kind in by_luck)]
    adjusted = iter(benjamini_hochberg([row.against.permutation_p for row in rows if row.against]))
    return [structs.replace(row, q=next(adjusted)) if row.against else row for row in rows]


def _kinds_by_luck(items: VotedItems) -> frozenset[RuleKind]:
    from workbench.statistics.ensembles import every_k, singles

    votes = items.ballots.votes
    if not items.one_is_best(singles(votes)):
        return frozenset(ENSEMBLES)
    return frozenset({"weighted"} if items.one_is_best(every_k(votes)) else {"chosen_k", "weighted"})


def _rows_of(items: VotedItems, rule: _Rule, best: IntArray, by_luck: bool) -> list[EnsembleRow]:
    """A rule's row of all items, then one row a group; ``by_luck`` as `_kinds_by_luck` has it."""
    import numpy as np

    from workbench.statistics.accuracy import AccuracyColumns, accuracy_rows
    from workbench.statistics.ensembles import chosen_apart, singles

    groups = items.groups
    seen = AccuracyColumns(
        outcome=rule.outcome,
        gold=items.gold,
        question=items.question,
        group=None if groups is None else groups.code,
        names=() if groups is None else groups.names,
        parts=() if groups is None else groups.parts,
    )
    is_ensemble = rule.kind in ENSEMBLES
    members = [items.ballots.outcome(own) for own in singles(items.ballots.votes)] if is_ensemble else []
    found = []
    for row in accuracy_rows(rule.name, seen, items.protocol):
        inside = np.full(len(items.gold), True)
        if groups is not None and row.group is not None:
            inside = groups.code == groups.names.index(row.group)
        figures = {name: getattr(row, name) for name in _AS_A_VERIFIER}
        against = _paired(items, rule.outcome, best, inside) if is_ensemble else None
        if against is not None:
            p = _against_each(items, rule, members, inside)
            sure = chosen_apart(against, len(items.ballots.counts)) if by_luck else against
            against = structs.replace(sure, permutation_p=p, mcnemar_p=None)
        found.append(EnsembleRow(rule=rule.name, kind=rule.kind, k=rule.k, against=against, **figures))
    return found


def _against_each(items: VotedItems, rule: _Rule, members: list[IntArray], inside: BoolArray) -> float:
    from workbench.statistics.compare import against_each
    from workbench.statistics.confusion import grade

    one, *others = (grade(outcome, items.gold, items.protocol) for outcome in (rule.outcome, *members))
    whole = one._replace(counted=one.counted & inside)
    return against_each(whole, others, items.question, fitted=rule.k is None)


def _paired(items: VotedItems, a: IntArray, b: IntArray, inside: BoolArray) -> PairedFigures | None:
    """Outcomes of a rule against those of another on some items; None where none counts for both."""
    from workbench.statistics.compare import compare_graded
    from workbench.statistics.confusion import grade

    one, other = (grade(outcome, items.gold, items.protocol) for outcome in (a, b))
    return compare_graded(one._replace(counted=one.counted & inside), other, items.question)


def _members(items: VotedItems, whole: _Rule) -> tuple[float | None, list[MemberRow]]:
    import numpy as np

    from workbench.statistics.confusion import grade
    from workbench.statistics.ensembles import chosen_apart, fit_weights

    ballots, size = items.ballots, len(items.members)
    weights = None
    if whole.kind == "weighted":
        weights = fit_weights(ballots.votes, ballots.counts.sum(axis=0)).tolist()
    everywhere = np.full(len(items.gold), True)
    rows = []
    for place, judge in enumerate(items.members):
        others = _refitted(whole)(ballots.without(place), items.protocol)
        counted, right = grade(others, items.gold, items.protocol)
        added = _paired(items, whole.outcome, others, everywhere)
        if added is not None and whole.k is None and not _is_plain(whole, items, place):
            added = chosen_apart(added, len(ballots.counts))
        rows.append(
            MemberRow(
                verifier=judge.name,
                run=judge.run,
                voted=float((ballots.votes[:, place] != 0)[ballots.pattern].mean()),
                without=float(right.sum() / counted.sum()) if counted.any() else None,
                help=added,
                accepts=weights[1 + place] if weights else None,
                refuses=weights[1 + size + place] if weights else None,
            )
        )
    return weights[0] if weights else None, rows


def _is_plain(rule: _Rule, items: VotedItems, member: int) -> bool:
    from workbench.statistics.ensembles import every_k

    without = items.ballots.without(member).votes
    ways = (every_k(items.ballots.votes), every_k(without))
    return rule.kind == "chosen_k" and all(items.one_is_best(one) for one in ways)


def _refitted(rule: _Rule) -> Callable[[Ballots, Protocol3], IntArray]:
    from workbench.statistics.ensembles import at_least, weighted_outside

    if rule.kind == "weighted":
        return lambda others, protocol: others.outcome(weighted_outside(others))
    if rule.k is None:
        return _chosen_k
    k = rule.k
    return lambda others, protocol: others.outcome(at_least(others.votes, min(k, others.votes.shape[1])))


# -- Ensembles as tables and as text.


BEST: Final = "the best single verifier"
"""What ensembles are compared with, in words."""
_WIDTH = 79


def ensemble_text(report: EnsembleReport) -> str:
    """The whole report for a terminal."""
    headline = report.rows[headline_row(report)]
    blocks = [ensemble_head(report), *(plain_table(table).rstrip("\n") for table in ensemble_tables(report))]
    if headline.against is not None:
        blocks.append(fill(told(headline.against, headline.rule, BEST), _WIDTH))
    return "\n\n".join(blocks) + "\n"


def ensemble_tables(report: EnsembleReport) -> tuple[Table, Table]:
    """Every rule with its figures, and what the members are worth to one of them."""
    return rules_table(report), members_table(report)


_FITTED = {"best_single": "best single", "chosen_k": "best k", "weighted": "weights"}
"""Rules that are fitted, as a note names those that are in the table."""
_BEHIND = {False: "one of them", True: "one of them (of what is fitted: each)"}


def rules_table(report: EnsembleReport) -> Table:
    """Members, floor, best single verifier and ensembles; each ensemble against the best single one."""
    chose = report.selection_judges
    columns: TableColumns[EnsembleRow] = (
        word("rule", lambda one: with_mark(one.rule, chose) if one.kind == "member" else one.rule),
        word("group", lambda one: group_name(one.group, report.by), there=report.by is not None),
        count("n", lambda one: one.n),
        figure("accuracy", lambda one: one.accuracy),
        ends(lambda one: one.ci),
        figure("bal.acc", lambda one: one.balanced_accuracy),
        figure("MCC", lambda one: one.mcc),
        figure("FPR", lambda one: one.fpr),
        figure("FNR", lambda one: one.fnr),
        _added("it adds", _difference, lambda against: against.difference),
        _added("95 % interval", _ends, lambda against: against.ci),
        _added("p", _p, lambda against: against.permutation_p),
        text("q", lambda one: _of_ensemble(one, p_value(one.q)), by=lambda one: one.q),
    )
    notes = (*_fitted(report), *nothing_measured(report.failed), *what_marks_mean(chose))
    return table("Ensembles, and what each adds to the best single verifier", columns, report.rows, notes=notes)


def _added(
    heading: str, shown: Callable[[PairedFigures | None], str], by: Callable[[PairedFigures], Any]
) -> Column[EnsembleRow]:
    return text(
        heading,
        lambda one: _of_ensemble(one, shown(one.against)),
        by=lambda one: None if one.against is None else by(one.against),
    )


def _of_ensemble(one: EnsembleRow, shown: str) -> str:
    """What is said of ensembles only."""
    return shown if one.kind in ENSEMBLES else ""


def _difference(against: PairedFigures | None) -> str:
    return NONE if against is None else signed(against.difference)


def _ends(against: PairedFigures | None) -> str:
    return NONE if against is None else signed_interval(against.ci)


def _p(against: PairedFigures | None) -> str:
    return NONE if against is None else p_value(against.permutation_p)


def _fitted(report: EnsembleReport) -> Iterator[str]:
    best = Counter(fold.best_single for fold in report.folds)
    yield f"Best single in {len(report.folds)} folds: {_often(best)}."
    kinds = {one.kind for one in report.rows}
    if "chosen_k" in kinds:
        yield f"Best k in {len(report.folds)} folds: {_often(f'k = {fold.k}:' for fold in report.folds)}."
    fitted = [name for kind, name in _FITTED.items() if kind in kinds]
    several = len(fitted) > 1
    words = f"{', '.join(fitted[:-1])} and {fitted[-1]} are" if several else f"{fitted[0]} is"
    yield (
        f"{words.capitalize()} fitted outside each fold of questions (seed {report.seed}) and judged inside; where "
        "luck may have chosen, intervals of differences are wider. p by permutation of questions: of being right more "
        f"often than each member, or less often than {_BEHIND[several]}; q after Benjamini and Hochberg over the table."
    )


def members_table(report: EnsembleReport) -> Table:
    """What the headline ensemble loses without each of its members, and their weights."""
    weighted = report.intercept is not None
    columns: TableColumns[MemberRow] = (
        word("member", lambda one: one.verifier),
        column("votes on", lambda one: one.voted, lambda share: f"{percent(share)} %"),
        figure("without it", lambda one: one.without),
        column("it adds", lambda one: one.help, _difference, by=lambda one: one.help and one.help.difference),
        column("95 % interval", lambda one: one.help, _ends, by=lambda one: one.help and one.help.ci),
        column("p", lambda one: one.help, _p, by=lambda one: one.help and one.help.permutation_p),
        column("accepts", lambda one: one.accepts, _weight, there=weighted),
        column("refuses", lambda one: one.refuses, _weight, there=weighted),
    )
    note = f"accepts, refuses: log-odds, fitted on all items; {report.intercept or 0.0:+.2f} where nobody votes."
    caption = f"{report.headline}, and the same of the others without one member"
    return table(caption, columns, report.members, notes=(note,) if weighted else ())


def _weight(weight: float | None) -> str:
    return NONE if weight is None else f"{weight:+.2f}"


def _often(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {often}×" for name, often in Counter(names).most_common())


def headline_row(report: EnsembleReport) -> int:
    """Where the headline's figures of all items stand among the rows."""
    return next(place for place, one in enumerate(report.rows) if one.rule == report.headline and one.kind in ENSEMBLES)


def ensemble_head(report: EnsembleReport) -> str:
    """Who votes, counted how, on what: three lines."""
    left_out = f"; {report.unjudged:,} without a verdict of each member are left out" if report.unjudged else ""
    return (
        f"{inert(', '.join(member.verifier for member in report.members))}\n"
        f"{counting(report.protocol, report.gold_choice, report.gold)}\n"
        f"{counted(report.items, 'item')} in {counted(report.questions, 'question')}{left_out}"
    )
