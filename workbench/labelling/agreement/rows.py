"""Rows of an agreement report: pairs of people, and each person."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from workbench.core.label import FAST_MS
from workbench.labelling.agreement.labels import FirstPassLabels, Outcomes
from workbench.labelling.store.agreement import AgreementSubject
from workbench.statistics.records.agreement import AnnotatorQuality, Confounded, PairAgreement, Share

if TYPE_CHECKING:
    from workbench.statistics.agreement.ratings import Ratings

FEW = 5
"""Pairs with fewer common items are not called confounded: so few may well be of one domain by chance."""

Groups = dict[tuple[int, int], dict[str, int]]
"""Two people -> their common items by group."""


def pair_rows(ratings: Ratings, people: Sequence[str], shared: Groups) -> list[PairAgreement]:
    """Every two people with an item in common, in their order.

    Args:
        shared: Two people's places in ``people`` -> their common items by group.
    """
    from workbench.statistics.agreement.kappa import interval, pairs
    from workbench.statistics.arrays import defined

    found = pairs(ratings)
    rows = []
    for a, b, n, agreement, kappa, error in zip(*(column.tolist() for column in found), strict=True):
        rows.append(
            PairAgreement(
                pair=(people[a], people[b]),
                n=n,
                agreement=agreement,
                kappa=defined(kappa),
                ci=interval(kappa, error),
                shared=shared.get((a, b), {}),
            )
        )
    return rows


def shared_groups(found: FirstPassLabels) -> tuple[Literal["domain", "type"] | None, Groups]:
    """Every two people's common items by domain, or by answer type where all are of one domain."""
    for by in ("domain", "type"):
        names = [_group(subject, by) for subject in found.known]
        if len(set(names)) > 1:
            return by, _common(found.ratings, names)
    return None, {}


def _group(subject: AgreementSubject, by: Literal["domain", "type"]) -> str:
    return subject.domain if by == "domain" else subject.type


def _common(ratings: Ratings, names: Sequence[str]) -> Groups:
    """Counted by the set of people who labelled an item: there are far fewer of those than items."""
    labellers: defaultdict[int, list[int]] = defaultdict(list)
    for item, person in zip(ratings.item.tolist(), ratings.annotator.tolist(), strict=True):
        labellers[item].append(person)
    teams = Counter((tuple(sorted(team)), names[item]) for item, team in labellers.items())
    common: Groups = {}
    for (team, name), number in teams.items():
        for place, a in enumerate(team):
            for b in team[place + 1 :]:
                groups = common.setdefault((a, b), {})
                groups[name] = groups.get(name, 0) + number
    return common


def confounded(pairs: Sequence[PairAgreement]) -> list[Confounded]:
    """Pairs whose common items are all of one group."""
    return [
        Confounded(pair=pair.pair, group=group, n=pair.n)
        for pair in pairs
        if pair.n >= FEW and len(pair.shared) == 1
        for group in pair.shared
    ]


def annotator_rows(
    ratings: Ratings, people: Sequence[str], categories: Sequence[str], beside: FirstPassLabels | None
) -> list[AnnotatorQuality]:
    """Each person's row.

    Args:
        beside: What a project knows beyond the ratings; None for ratings from a file.
    """
    import numpy as np

    from workbench.statistics.agreement.annotators import median, modelled, with_others
    from workbench.statistics.agreement.figures import share_of
    from workbench.statistics.arrays import defined

    none = [share_of(0, 0)] * len(people)
    model = modelled(ratings)
    others = with_others(ratings)
    labels = np.bincount(ratings.annotator, minlength=len(people)).tolist()
    upheld = imported = checks = repeats = fast = none
    times: list[float] = [float("nan")] * len(people)
    unblinded: Sequence[int] = [0] * len(people)
    if beside is not None:
        upheld, imported, checks, repeats = (
            _tallies(some, len(people)) for some in (beside.upheld, beside.imported, beside.checks, beside.repeats)
        )
        timed = beside.focused_ms >= 0
        person, ms = ratings.annotator[timed], beside.focused_ms[timed]
        fast = _tallies(Outcomes(person.tolist(), (ms < FAST_MS).tolist()), len(people))
        times, unblinded = median(person, ms, len(people)).tolist(), beside.unblinded

    def hit(person: int, category: str) -> float | None:
        if model is None or beside is None or category not in categories:
            return None
        return defined(float(model.hit[person, categories.index(category)]))

    return [
        AnnotatorQuality(
            name=name,
            labels=labels[place],
            unblinded=unblinded[place],
            with_others=others[place],
            upheld=upheld[place],
            imported=imported[place],
            checks=checks[place],
            repeats=repeats[place],
            consensus=none[place] if model is None else model.agreement[place],
            sensitivity=hit(place, "correct"),
            specificity=hit(place, "incorrect"),
            median_ms=defined(times[place]),
            fast=fast[place],
        )
        for place, name in enumerate(people)
    ]


def _tallies(outcomes: Outcomes, people: int) -> list[Share]:
    """Each person's share of the same."""
    from workbench.statistics.agreement.figures import share_of

    n, right = [0] * people, [0] * people
    for place, is_same in zip(outcomes.person, outcomes.same, strict=True):
        n[place] += 1
        right[place] += is_same
    return [share_of(k, of) for k, of in zip(right, n, strict=True)]


def of_all(outcomes: Outcomes) -> Share:
    """The share of the same among all."""
    from workbench.statistics.agreement.figures import share_of

    return share_of(sum(outcomes.same), len(outcomes.same))
