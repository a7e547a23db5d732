"""Chooses the best stack of a project's verifiers: searched on some questions, evaluated on the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from workbench.config import protocol_of
from workbench.core.database.selection import check_names
from workbench.core.errors import Command, UsageError, opt
from workbench.core.project import Project, at_one_moment
from workbench.core.selection import selection_of
from workbench.core.taxonomy import TYPES, UNTYPED
from workbench.core.verdict import Protocol3
from workbench.measuring.judged import BASELINE, judged, nothing_measured
from workbench.measuring.records.stack import Price, StackChoice, StackOptions, StackReport
from workbench.measuring.stacking import PARTS, StackItems, figures_of, stack_items, stage_rows, verifier_alone
from workbench.verifiers.stacks.settling import Stage, format_stages

if TYPE_CHECKING:
    from workbench.statistics.confusion import IntArray
    from workbench.statistics.records.comparison import PairedFigures
    from workbench.statistics.stack_search import Candidate, Choose, CrossFitted, StackSearch

MOST: Final = 8
"""Most verifiers used in stacks, and most points of the front."""
_TYPES: Final = (*TYPES, UNTYPED)
_PRICES: Final[tuple[Price, ...]] = ("dollars", "tokens", "seconds", "calls")


@at_one_moment
def best_stacks(project: Project, options: StackOptions) -> StackReport:
    """Search all stacks of up to ``most_stages`` stages for the most accurate one, the most accurate ones at lower
    costs, and the cheapest one that is not worse than a reference.

    Raises:
        UsageError: There are fewer than two verifiers or too many, a unit of cost has no known price, or there are
            fewer questions than folds.
    """
    verifiers, folds, under, reference = options.verifiers, options.folds, options.under, options.reference
    protocol, gold, margin = options.basis.protocol or protocol_of(project), options.basis.gold, options.margin / 100
    import numpy as np

    from workbench.statistics.folds import SEED
    from workbench.statistics.intervals import compact
    from workbench.statistics.stack_search import best_alone, cheapest_not_worse, cross_fitted, front, most_accurate

    wanted = check_names(project.database.reader(), selection_of(options.basis.where))
    asked = judged(project, verifiers, gold=gold, selection=wanted)
    if verifiers and asked.failed:
        raise UsageError(" ".join(nothing_measured(asked.failed)))
    there = (judge.name for judge in asked.judges if judge.name not in asked.failed)
    names = tuple(name for name in there if verifiers or name != BASELINE)
    _require_verifiers(names, reference)
    whole = stack_items(project, names, gold, wanted)
    kept = np.all([one >= 0 for one in whole.outcomes], axis=0)
    items = whole.of(kept)
    questions = len(compact(items.question)[1])
    if questions < folds:
        raise UsageError(
            f"{folds} folds need at least {folds} questions; {questions:,} have gold and a verdict of every verifier.",
            f"Use fewer {opt.folds}, or name verifiers with {opt.verifier}.",
        )
    price = _unit_of_cost(items, options.against)
    search = _search(items, price, folds, options.most_stages, protocol)
    single = cross_fitted(search, best_alone)
    place = None if reference is None else names.index(reference)
    desk = _StackChooser(items, search, single, place, margin, protocol)
    choices = [desk.choice("best", None, most_accurate())]
    if under is not None:
        choices.append(desk.choice("under", under / 1_000, most_accurate(under / 1_000)))
    if place is not None:
        choices.append(desk.choice("not_worse", None, cheapest_not_worse(place, margin)))
    best = _stages_of(items, cross_fitted(search, most_accurate()).chosen)
    return StackReport(
        items=len(items.item),
        questions=questions,
        unjudged=int((~kept).sum()),
        verifiers=list(names),
        candidates=len(search.found.candidates),
        against=price,
        folds=folds,
        seed=SEED,
        reference=reference,
        margin=margin,
        alone=[verifier_alone(items, number, protocol) for number in range(len(names))],
        choices=choices,
        front=[desk.choice("front", None if np.isinf(cap) else cap, most_accurate(cap)) for cap in front(search, MOST)],
        stages=stage_rows(best, items, items.through(best)),
        protocol=protocol,
        gold=asked.gold_counts,
        gold_choice=gold,
        failed=asked.failed,
    )


def _require_verifiers(names: tuple[str, ...], reference: str | None) -> None:
    if not 2 <= len(names) <= MOST:
        raise UsageError(
            f"Stacks are made of 2 to {MOST} verifiers, not {len(names)}: {', '.join(names) or 'none'}.",
            f"Name them with {opt.verifier}, or start another: {Command('verify DB NAME')}",
        )
    if reference is not None and reference not in names:
        raise UsageError(f"{reference!r} is not among the verifiers: {', '.join(names)}.", f"Add it: {opt.verifier}")


def _unit_of_cost(items: StackItems, against: Price | None) -> Price:
    import numpy as np

    known = [one for one in _PRICES if not any(np.isnan(took[PARTS.index(one)]).any() for took in items.took)]
    if against is not None and against not in known:
        raise UsageError(f"The {against} of some verdicts are not known.", f"Use {' or '.join(known)}: {opt.against}")
    told = [one for one in known if any(took[PARTS.index(one)].any() for took in items.took)]
    return (told or known)[0] if against is None else against


def _search(items: StackItems, price: Price, folds: int, most_stages: int, protocol: Protocol3) -> StackSearch:
    import numpy as np

    from workbench.statistics.folds import fold_of
    from workbench.statistics.stack_search import Pool, StackSearch

    types = [_TYPES.index(name[:1] if name[:1] in TYPES else UNTYPED) for name in items.subtypes]
    return StackSearch(
        Pool(
            outcomes=np.stack(items.outcomes),
            scores=items.scores,
            gold=items.gold,
            question=items.question,
            fold=fold_of(items.question, folds),
            type=np.array(types, dtype=np.int64)[items.subtype],
            untyped=_TYPES.index(UNTYPED),
            cost=np.stack([took[PARTS.index(price)] for took in items.took]),
            protocol=protocol,
        ),
        most_stages,
    )


class _StackChooser:
    def __init__(
        self,
        items: StackItems,
        search: StackSearch,
        single: CrossFitted,
        reference: int | None,
        margin: float,
        protocol: Protocol3,
    ) -> None:
        self._items, self._search, self._single = items, search, single
        self._reference, self._margin, self._protocol = reference, margin, protocol

    def choice(
        self, wanted: Literal["best", "under", "not_worse", "front"], cap: float | None, choose: Choose
    ) -> StackChoice:
        from workbench.statistics.stack_search import CandidateStage, cross_fitted

        items, found = self._items, cross_fitted(self._search, choose)
        stages = _stages_of(items, found.chosen)
        whole = items.through(stages)
        base = None if self._reference is None else items.outcomes[self._reference]
        # A verifier compared with itself has no difference and no meaningful interval.
        itself = base is not None and {found.chosen, *found.by_fold} == {(CandidateStage(self._reference or 0),)}
        against = None if base is None or itself else self._paired(found.outcome, base)
        return StackChoice(
            wanted=wanted,
            cap=cap,
            stages=format_stages(stages),
            same=sum(one == found.chosen for one in found.by_fold),
            apparent=figures_of("stack", items, whole.outcome, self._protocol).accuracy,
            apparent_took=items.average(whole.asked),
            figures=figures_of("stack", items, found.outcome, self._protocol),
            took=items.average(found.asked),
            against_best=self._paired(found.outcome, self._single.outcome),
            against_reference=against,
            not_worse=itself or (None if against is None else against.ci[0] >= -self._margin),
        )

    def _paired(self, a: IntArray, b: IntArray) -> PairedFigures | None:
        from workbench.statistics.compare import compare_graded
        from workbench.statistics.confusion import grade
        from workbench.statistics.folds import widened_for_selection

        one, other = (grade(outcome, self._items.gold, self._protocol) for outcome in (a, b))
        figures = compare_graded(one, other, self._items.question)
        return None if figures is None else widened_for_selection(figures, self._search.folds)


def _stages_of(items: StackItems, candidate: Candidate) -> tuple[Stage, ...]:
    return tuple(
        Stage(
            name=items.names[place.verifier],
            outcomes=frozenset(place.rule.outcomes),
            least=place.rule.least,
            most=place.rule.most,
            types=() if place.types is None else tuple(_TYPES[code] for code in sorted(place.types)),
        )
        for place in candidate
    )
