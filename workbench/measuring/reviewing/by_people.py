"""The queue of items on which people disagree, settled or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from workbench.core.database import people
from workbench.core.label import Task
from workbench.labelling.store import agreement
from workbench.measuring.reviewing.asked import QueueContents, QueueItem, QueueQuery
from workbench.measuring.reviewing.wording import gold_says, listed

_TASKS: Final[tuple[Task, ...]] = "correctness", "type"


class _DisputedSubject(Struct, frozen=True, kw_only=True):
    """A subject on which people's labels differ.

    Attributes:
        score: The share of pairs of people who differ; 1 more where nobody has settled it.
        said: Who says what, in plain words.
    """

    score: float
    said: str


def annotators(asked: QueueQuery) -> QueueContents:
    """Two people's labels of the round under way differ: in conflict, or settled by a third person already."""
    import numpy as np

    from workbench.statistics.votes import falling

    differing: dict[int, list[_DisputedSubject]] = {}
    for task in _TASKS:
        for completion, one in _differing(asked, task):
            differing.setdefault(completion, []).append(one)
    items = np.array(sorted(differing), dtype=np.int64)
    place = np.searchsorted(asked.columns.item, items)
    there = asked.columns.item[np.minimum(place, len(asked.columns.item) - 1)] == items
    place = place[there] if asked.kept is None else place[there][asked.kept[place[there]]]
    score = [max(one.score for one in differing[item]) for item in asked.columns.item[place].tolist()]

    def why(cases: Sequence[QueueItem]) -> list[str]:
        return [f"{'; '.join(one.said for one in differing[case.id])}; {gold_says(case)}." for case in cases]

    return QueueContents(
        ranking=falling(place, np.array(score, dtype=np.float64)),
        text="Labels of the round under way that differ, on the verdict or on the answer type. Score: the share of "
        "pairs of people who differ, and 1 more where nobody has settled it.",
        why=why,
    )


def _differing(asked: QueueQuery, task: Task) -> list[tuple[int, _DisputedSubject]]:
    reader = asked.project.database.reader()
    about = agreement.subjects(reader, task, None)
    names = {person.id: person.name for person in people.everyone(asked.project.database)}
    found = []
    for subject, labels in groupby(agreement.labels(reader, task), key=lambda label: label.subject):
        by_value: dict[str, list[str]] = {}
        for label in labels:
            by_value.setdefault(label.value, []).append(names[label.annotator])
        if len(by_value) < 2:
            continue
        ruling = about[subject].ruling
        sizes = Counter({value: len(makers) for value, makers in by_value.items()})
        total = sizes.total()
        same = sum(size * (size - 1) for size in sizes.values())
        said = ", ".join(f"{listed(makers)} {_say(makers)} {value}" for value, makers in by_value.items())
        settled = f", settled as {ruling}" if ruling else ", not settled"
        score = 1 - same / (total * (total - 1)) + (ruling is None)
        found.append((about[subject].completion, _DisputedSubject(score=score, said=said + settled)))
    return found


def _say(makers: Sequence[str]) -> str:
    return "says" if len(makers) == 1 else "say"
