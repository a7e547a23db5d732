"""Verifiers that vote together, against the best of them alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from workbench.core.database.selection import check_names
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice, Outcome, Protocol3
from workbench.measuring import selected_by
from workbench.measuring.columns import columns, gold_counts
from workbench.measuring.judged import BASELINE
from workbench.measuring.voting import VotedItems, voted_items
from workbench.statistics.records.ensemble import ENSEMBLES, EnsembleReport, EnsembleRow, FoldRow, MemberRow, RuleKind

if TYPE_CHECKING:
    from workbench.statistics.arrays import BoolArray, IntArray
    from workbench.statistics.ensembles import Ballots
    from workbench.statistics.records.comparison import PairedFigures

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
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> EnsembleReport:
    """Every k of n, the k that looks best, and weighted votes, each against the verifier that looks best alone.

    What looks best is chosen, and weights are fitted, on the questions outside a fold and judged on those inside, for
    the single verifier as for the ensembles; the intervals take these choices as given.

    Args:
        verifiers: The members; empty for all with a complete run, but the baseline.
        k: Only this number of acceptances, instead of each.
        weighted: Weighted votes, too.
        folds: Into how many parts the questions are dealt.
        by: What to group rows by, as for accuracy.

    Raises:
        UsageError: Fewer than two members, too many of them, no such k, or fewer questions than folds.
    """
    from workbench.statistics.cross_fitting import SEED
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
        selection_judges=selected_by.among(project, [judge.name for judge in items.members], wanted, columns(project)),
        failed=items.failed,
    )


def _rules(items: VotedItems, k: int | None, weighted: bool) -> list[_Rule]:
    """The members, the floor, the best single verifier, and the ensembles."""
    import numpy as np

    from workbench.statistics.ensembles import at_least, singles, weighted_outside

    ballots, size = items.ballots, len(items.members)
    alone = singles(ballots.votes)
    rules = [
        _Rule(name=judge.name, kind="member", outcome=ballots.outcome(own))
        for judge, own in zip(items.members, alone, strict=True)
    ]
    nothing = np.full(len(items.gold), Outcome.INCORRECT, dtype=np.int8)
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
    from workbench.statistics.multiplicity import benjamini_hochberg

    best = next(rule for rule in rules if rule.kind == "best_single").outcome
    rows = [row for rule in rules for row in _rows_of(items, rule, best)]
    adjusted = iter(benjamini_hochberg([row.against.permutation_p for row in rows if row.against]))
    return [structs.replace(row, q=next(adjusted)) if row.against else row for row in rows]


def _rows_of(items: VotedItems, rule: _Rule, best: IntArray) -> list[EnsembleRow]:
    """A rule's row of all items, then one row a group."""
    import numpy as np

    from workbench.statistics.accuracy import AccuracyColumns, accuracy_rows

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
    found = []
    for row in accuracy_rows(rule.name, seen, items.protocol):
        inside = np.full(len(items.gold), True)
        if groups is not None and row.group is not None:
            inside = groups.code == groups.names.index(row.group)
        figures = {name: getattr(row, name) for name in _AS_A_VERIFIER}
        against = _paired(items, rule.outcome, best, inside) if is_ensemble else None
        found.append(EnsembleRow(rule=rule.name, kind=rule.kind, k=rule.k, against=against, **figures))
    return found


def _paired(items: VotedItems, a: IntArray, b: IntArray, inside: BoolArray) -> PairedFigures | None:
    """Outcomes of a rule against those of another on some items; None where none counts for both."""
    from workbench.statistics.compare import compare_graded
    from workbench.statistics.confusion import grade

    one, other = (grade(outcome, items.gold, items.protocol) for outcome in (a, b))
    return compare_graded(one._replace(counted=one.counted & inside), other, items.question)


def _members(items: VotedItems, whole: _Rule) -> tuple[float | None, list[MemberRow]]:
    """The constant of the weights if there are any, and each member with what the ensemble loses without it."""
    import numpy as np

    from workbench.statistics.confusion import grade
    from workbench.statistics.ensembles import fit_weights

    ballots, size = items.ballots, len(items.members)
    weights = None
    if whole.kind == "weighted":
        weights = fit_weights(ballots.votes, ballots.counts.sum(axis=0)).tolist()
    everywhere = np.full(len(items.gold), True)
    rows = []
    for place, judge in enumerate(items.members):
        others = _refitted(whole)(ballots.without(place), items.protocol)
        counted, right = grade(others, items.gold, items.protocol)
        rows.append(
            MemberRow(
                verifier=judge.name,
                run=judge.run,
                voted=float((ballots.votes[:, place] != 0)[ballots.pattern].mean()),
                without=float(right.sum() / counted.sum()) if counted.any() else None,
                help=_paired(items, whole.outcome, others, everywhere),
                accepts=weights[1 + place] if weights else None,
                refuses=weights[1 + size + place] if weights else None,
            )
        )
    return weights[0] if weights else None, rows


def _refitted(rule: _Rule) -> Callable[[Ballots, Protocol3], IntArray]:
    """What gives the outcomes of the same kind of rule among fewer members."""
    from workbench.statistics.ensembles import at_least, weighted_outside

    if rule.kind == "weighted":
        return lambda others, protocol: others.outcome(weighted_outside(others))
    if rule.k is None:
        return _chosen_k
    k = rule.k
    return lambda others, protocol: others.outcome(at_least(others.votes, min(k, others.votes.shape[1])))
