"""Reads the labels that agreement is measured on, as arrays, with their items and annotators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from workbench.core.database import people
from workbench.core.database.selection import chosen_subjects
from workbench.core.label import FAST_MS, Task
from workbench.core.options import grouped
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.labelling.store import agreement as store
from workbench.labelling.store.agreement import AgreementSubject
from workbench.statistics.records.agreement import FEWEST_MODELLED, AnnotatorQuality, Confounded, PairAgreement, Share

if TYPE_CHECKING:
    from workbench.statistics.agreement.ceiling import GoldMade
    from workbench.statistics.agreement.figures import Rated
    from workbench.statistics.agreement.ratings import Ratings
    from workbench.statistics.confusion import IntArray


class Outcomes(NamedTuple):
    """Labels compared with a reference, as lists of equal length.

    Attributes:
        person: The annotator's position.
        question: Row id of the question.
        same: Whether the label equals the reference.
    """

    person: list[int]
    question: list[int]
    same: list[bool]


class FirstPassLabels(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """First-pass labels: blind, in force, of one round; no adjudications, repeats or checks.

    Attributes:
        ratings: The labels; items, annotators and categories are positions in ``known``, ``people`` and ``categories``.
        known: Details of each item: completions (correctness) or questions (type), in the order of import.
        people: The names of everyone with a label, blind or unblinded, in the order in which they were added.
        categories: The distinct labels, in alphabetical order.
        unblinded: Number of each person's unblinded labels, which are left out.
        surplus: Number of labels beyond the overlap of their item.
        reopened: Number of items in a later round than their first.
        focused_ms: Focused time of each label in milliseconds, -1 if unknown.
        completed: Time of each item's last label.
        upheld: Labels of adjudicated items, compared with the decision.
        imported: Labels of items with imported gold (or a type), compared with it.
        checks: Verdicts on items with a known answer, compared with it.
        repeats: Repeated labels, compared with the first ones.
    """

    ratings: Ratings
    known: Sequence[store.AgreementSubject]
    people: Sequence[str]
    categories: Sequence[str]
    unblinded: Sequence[int]
    surplus: int
    reopened: int
    focused_ms: IntArray
    completed: Sequence[str]
    upheld: Outcomes
    imported: Outcomes
    checks: Outcomes
    repeats: Outcomes


def first_pass_labels(
    project: Project,
    task: Task,
    *,
    by: str | None = None,
    coarse: bool = False,
    selection: Selection | None = None,
    latest: bool = False,
) -> FirstPassLabels:
    """Read the labels that count: those of the first round, which no reopening changes.

    Args:
        by: The grouping of the items in ``known``: one of ``store.GROUPS``.
        coarse: Whether to reduce answer types to their letter.
        selection: Use only labels of these items, or of their questions.
        latest: Whether to read labels of the current round instead.

    Raises:
        UsageError: The selection names something unknown.
    """
    import numpy as np

    from workbench.statistics.agreement.ratings import Ratings

    reader = project.database.reader()
    labels, about = store.labels(reader, task, latest=latest), store.subjects(reader, task, by)
    reopened = store.reopened(reader, task)
    if not latest:
        about |= {subject: about[subject]._replace(ruling=None) for subject in reopened & about.keys()}
    if selection is not None:
        chosen = set(chosen_subjects(reader, task, selection))
        labels, reopened = [label for label in labels if label.subject in chosen], reopened & chosen
    checks, repeats = store.checks(reader) if task == "correctness" else [], store.repeats(reader, task)
    there = {label.annotator for label in labels} | {second.annotator for second in (*checks, *repeats)}
    names = {person.id: person.name for person in people.all_people(project.database) if person.id in there}
    place = {person: number for number, person in enumerate(names)}
    blind = [label for label in labels if not label.unblinded]
    values = [label.value[:1] if coarse else label.value for label in blind]
    person = np.array([place[label.annotator] for label in blind], dtype=np.int64)
    subject, item = np.unique(np.array([label.subject for label in blind], dtype=np.int64), return_inverse=True)
    categories, value = np.unique(np.array(values, dtype=np.str_), return_inverse=True)
    unblinded = Counter(label.annotator for label in labels if label.unblinded)
    held = _LabelComparison(place, coarse)
    return FirstPassLabels(
        ratings=Ratings(
            item=item,
            annotator=person,
            value=value,
            items=len(subject),
            annotators=len(place),
            categories=len(categories),
        ),
        known=[about[number] for number in subject.tolist()],
        people=list(names.values()),
        categories=categories.tolist(),
        unblinded=[unblinded[id] for id in place],
        surplus=_count_surplus(store.overlap(reader, task), subject.tolist(), np.bincount(item).tolist()),
        reopened=len(reopened),
        focused_ms=np.array([label.focused_ms for label in blind], dtype=np.int64),
        completed=_completion_times(item.tolist(), [label.created_at for label in blind]),
        upheld=held.against(
            _label_with_expected(label, about[label.subject], about[label.subject].ruling) for label in blind
        ),
        imported=held.against(
            _label_with_expected(label, about[label.subject], about[label.subject].imported) for label in blind
        ),
        checks=held.against(checks),
        repeats=held.against(repeats),
    )


def gold_made(project: Project, found: FirstPassLabels) -> GoldMade:
    import numpy as np

    from workbench.statistics.agreement.ceiling import GoldMade

    origin = store.gold_origins(project.database.reader())
    labels = np.bincount(found.ratings.item, minlength=len(found.known)).tolist()
    origins = [origin.get(known.completion) for known in found.known]
    agreed = Counter(many for many, one in zip(labels, origins, strict=True) if one == "agreed")
    return GoldMade(agreed, origins.count("adjudicated"), origins.count("conflict"))


def _label_with_expected(label: store.Label, about: AgreementSubject, expected: str | None) -> _Expected:
    return label.annotator, label.value, expected, about.question


_Expected = tuple[int, str, str | None, int]
"""A label to compare: annotator, label, expected label (None if there is none), question."""


class _LabelComparison(NamedTuple):
    """A comparison of labels with other labels or answers.

    Attributes:
        place: Row id of a person -> their position.
        coarse: Whether to compare types by their letter only.
    """

    place: dict[int, int]
    coarse: bool

    def against(self, labels: Iterable[_Expected]) -> Outcomes:
        found = Outcomes([], [], [])
        for person, value, expected, question in labels:
            if expected is not None:
                found.person.append(self.place[person])
                found.question.append(question)
                found.same.append(value[:1] == expected[:1] if self.coarse else value == expected)
        return found


def _count_surplus(overlap: dict[int, int], subjects: Sequence[int], labels: Sequence[int]) -> int:
    wanted = ((overlap.get(subject), number) for subject, number in zip(subjects, labels, strict=True))
    return sum(max(0, number - need) for need, number in wanted if need is not None)


def _completion_times(item: Sequence[int], created_at: Sequence[str]) -> list[str]:
    last: dict[int, str] = {}
    for number, at in zip(item, created_at, strict=True):
        last[number] = max(at, last.get(number, ""))
    return [last[number] for number in range(len(last))]


# -- Rows of an agreement report: pairs of people, and each person.


FEW = 5
"""Minimum number of common items of a pair reported as confounded: fewer may share a domain by chance."""
Groups = dict[tuple[int, int], dict[str, int]]
"""Positions of two people -> the number of their common items, by group."""


def pair_rows(ratings: Ratings, cluster: IntArray, people: Sequence[str], shared: Groups) -> list[PairAgreement]:
    """Return a row for each two annotators with common items, in order of the annotators.

    Args:
        cluster: The cluster of each item: its question, or the item itself.
        shared: Two positions in ``people`` -> the number of common items, by group.
    """
    from workbench.statistics.agreement.cohen import pairs
    from workbench.statistics.confusion import defined

    found = pairs(ratings, cluster)
    columns = (column.tolist() for column in (found.a, found.b, found.items, found.agreement, found.kappa))
    return [
        PairAgreement(
            pair=(people[a], people[b]),
            n=n,
            agreement=agreement,
            kappa=defined(kappa),
            ci=found.interval(place),
            shared=shared.get((a, b), {}),
        )
        for place, (a, b, n, agreement, kappa) in enumerate(zip(*columns, strict=True))
    ]


def shared_groups(found: FirstPassLabels) -> tuple[Literal["domain", "type"] | None, Groups]:
    for by in ("domain", "type"):
        names = [subject.domain if by == "domain" else subject.type for subject in found.known]
        if len(set(names)) > 1:
            return by, _common_items(found.ratings, names)
    return None, {}


def _common_items(ratings: Ratings, names: Sequence[str]) -> Groups:
    labellers = grouped(zip(ratings.item.tolist(), ratings.annotator.tolist(), strict=True))
    teams = Counter((tuple(sorted(team)), names[item]) for item, team in labellers.items())
    common: Groups = {}
    for (team, name), number in teams.items():
        for place, a in enumerate(team):
            for b in team[place + 1 :]:
                groups = common.setdefault((a, b), {})
                groups[name] = groups.get(name, 0) + number
    return common


def confounded(pairs: Sequence[PairAgreement]) -> list[Confounded]:
    return [
        Confounded(pair=pair.pair, group=group, n=pair.n)
        for pair in pairs
        if pair.n >= FEW and len(pair.shared) == 1
        for group in pair.shared
    ]


def annotator_rows(
    rated: Rated, people: Sequence[str], categories: Sequence[str], beside: FirstPassLabels | None
) -> list[AnnotatorQuality]:
    """Return one row for each annotator.

    Args:
        rated: The ratings, with each item's question, or the item itself.
        beside: Further data on the project's labels, such as their times; None for ratings from a file.
    """
    import numpy as np

    from workbench.statistics.agreement.figures import NO_SHARE, median, modelled, shares, with_others
    from workbench.statistics.confusion import defined

    ratings = rated.ratings
    none = [NO_SHARE] * len(people)
    paired = np.count_nonzero(np.bincount(ratings.item) > 1)
    model = modelled(ratings, rated.cluster) if paired >= FEWEST_MODELLED else None
    others = with_others(ratings, rated.cluster)
    labels = np.bincount(ratings.annotator, minlength=len(people)).tolist()
    upheld = imported = checks = repeats = fast = none
    times: list[float] = [float("nan")] * len(people)
    unblinded: Sequence[int] = [0] * len(people)
    if beside is not None:
        upheld, imported, checks, repeats = (
            _shares_by_person(some, len(people))
            for some in (beside.upheld, beside.imported, beside.checks, beside.repeats)
        )
        timed = beside.focused_ms >= 0
        person, ms = ratings.annotator[timed], beside.focused_ms[timed]
        fast = shares(ms < FAST_MS, rated.cluster[ratings.item[timed]], person, len(people))
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


def _shares_by_person(outcomes: Outcomes, people: int) -> list[Share]:
    import numpy as np

    from workbench.statistics.agreement.figures import shares

    person, question = (np.array(numbers, dtype=np.int64) for numbers in (outcomes.person, outcomes.question))
    return shares(np.array(outcomes.same, dtype=np.bool_), question, person, people)


def overall_share(outcomes: Outcomes) -> Share:
    (share,) = _shares_by_person(outcomes._replace(person=[0] * len(outcomes.same)), 1)
    return share
