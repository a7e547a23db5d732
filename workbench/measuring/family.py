"""Several verifiers against each other, or all against one of them."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from workbench.core.errors import UsageError
from workbench.core.progress import stepping
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring import selected_by
from workbench.measuring.columns import columns, gold_counts
from workbench.measuring.comparing import TOO_FEW, comparable
from workbench.measuring.judged import JudgedSelection, VerifierRun, judged, nothing_measured
from workbench.statistics.records.comparison import LEVEL, FamilyMember, FamilyPair, FamilyReport, PairedFigures

if TYPE_CHECKING:
    from workbench.statistics.arrays import IntArray
    from workbench.statistics.confusion import Graded


def family(
    project: Project,
    verifiers: tuple[str, ...] = (),
    *,
    against: str | None = None,
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> FamilyReport:
    """Compare every two verifiers, or every one with ``against``, each pair on the items that count for both.

    Args:
        verifiers: Names; empty for all that can be compared.
        against: The reference; it belongs to the family whether it is named among the verifiers or not.

    Raises:
        UsageError: There are fewer than two verifiers, one has no complete run, or no pair has items in common.
    """
    names = tuple(dict.fromkeys((*(verifiers or comparable(project)), *((against,) if against else ()))))
    if len(names) < 2:
        raise UsageError(*TOO_FEW)
    everything = columns(project)
    found = judged(project, names, gold=gold, selection=selection, known=everything)
    standings = _standings(found, protocol)
    pairs = _pairs(standings, found.question, against)
    if not pairs and found.failed:
        raise UsageError(*nothing_measured(found.failed))
    if not pairs:
        raise UsageError(
            "No two of these verifiers have an item in common that counts.", f"Gold {gold}, protocol {protocol}."
        )
    groups = None if against else _groups(standings, pairs)
    return FamilyReport(
        family=pairs,
        members=_members(standings, groups),
        apart=_apart(standings, pairs, against),
        against=against,
        groups=None if groups is None else [[standings[place].judge.name for place in group] for group in groups],
        level=LEVEL,
        common=_common(standings),
        protocol=protocol,
        gold=gold_counts(project, selection or Selection(), gold),
        gold_choice=gold,
        selection_judges=selected_by.among(project, names, selection, everything),
        failed=found.failed,
    )


class _VerifierFigures(Struct, frozen=True, kw_only=True, eq=False):
    """One verifier's items that count, and its figures on them."""

    judge: VerifierRun
    graded: Graded
    questions: int
    accuracy: float | None
    ci: tuple[float, float] | None

    @classmethod
    def of(
        cls, judge: VerifierRun, outcome: IntArray, gold: IntArray, question: IntArray, protocol: Protocol3
    ) -> _VerifierFigures:

        from workbench.statistics.confusion import grade
        from workbench.statistics.intervals import clustered_wilson, distinct

        graded = grade(outcome, gold, protocol)
        counted, right = graded
        any_item = bool(counted.any())
        return cls(
            judge=judge,
            graded=graded,
            questions=distinct(question[counted]),
            accuracy=float(right[counted].mean()) if any_item else None,
            ci=clustered_wilson(right[counted], question[counted]) if any_item else None,
        )


def _standings(found: JudgedSelection, protocol: Protocol3) -> list[_VerifierFigures]:
    """The most accurate first."""
    standings = [
        _VerifierFigures.of(judge, outcome, found.gold, found.question, protocol)
        for judge, outcome in zip(found.judges, found.outcomes, strict=True)
    ]
    return sorted(standings, key=lambda one: -(one.accuracy or 0.0))


def _pairs(standings: list[_VerifierFigures], question: IntArray, against: str | None) -> list[FamilyPair]:
    """The pairs with items in common, with p-values adjusted over all of them."""
    from workbench.statistics.compare import compare_graded
    from workbench.statistics.multiplicity import benjamini_hochberg, holm

    found: list[tuple[str, str, PairedFigures]] = []
    for a, b in stepping(_matches(standings, against), "comparing", "pairs"):
        paired = compare_graded(a.graded, b.graded, question)
        if paired is not None:
            found.append((a.judge.name, b.judge.name, paired))
    chances = [paired.permutation_p for *_, paired in found]
    return [
        FamilyPair(**structs.asdict(paired), a=a, b=b, holm_p=holm_p, q=q)
        for (a, b, paired), holm_p, q in zip(found, holm(chances), benjamini_hochberg(chances), strict=True)
    ]


def _matches(standings: list[_VerifierFigures], against: str | None) -> list[tuple[_VerifierFigures, _VerifierFigures]]:
    if against is None:
        return list(combinations(standings, 2))
    reference = next(one for one in standings if one.judge.name == against)
    return [(one, reference) for one in standings if one is not reference]


def _groups(standings: list[_VerifierFigures], pairs: list[FamilyPair]) -> list[tuple[int, ...]]:
    """Verifiers, by rank, that can't be told apart; those without items in common can't either.

    Holm and not Benjamini-Hochberg decides: a ranking is one statement made of all its pairs, so that one false pair
    makes it false, and pairs that share a verifier depend on each other in ways under which only Holm's bound is sure
    to hold.
    """
    import numpy as np

    from workbench.statistics.letters import alike_groups

    place = {one.judge.name: number for number, one in enumerate(standings)}
    differ = np.zeros((len(standings), len(standings)), dtype=bool)
    for pair in pairs:
        if pair.holm_p < LEVEL:
            a, b = place[pair.a], place[pair.b]
            differ[a, b] = differ[b, a] = True
    return alike_groups(differ)


def _members(standings: list[_VerifierFigures], groups: list[tuple[int, ...]] | None) -> list[FamilyMember]:
    import numpy as np

    from workbench.statistics.letters import letters

    shown = letters(groups, len(standings)) if groups is not None else [""] * len(standings)
    return [
        FamilyMember(
            verifier=one.judge.name,
            run=one.judge.run,
            n=int(np.count_nonzero(one.graded.counted)),
            questions=one.questions,
            accuracy=one.accuracy,
            ci=one.ci,
            letters=letter,
        )
        for one, letter in zip(standings, shown, strict=True)
    ]


def _apart(standings: list[_VerifierFigures], pairs: list[FamilyPair], against: str | None) -> list[tuple[str, str]]:
    together = {(pair.a, pair.b) for pair in pairs}
    matches = ((a.judge.name, b.judge.name) for a, b in _matches(standings, against))
    return [match for match in matches if match not in together]


def _common(standings: list[_VerifierFigures]) -> int:
    import numpy as np

    return int(np.count_nonzero(np.logical_and.reduce([one.graded.counted for one in standings])))
