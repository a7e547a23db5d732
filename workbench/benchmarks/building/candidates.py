"""Questions with what a judge or people said of their completions, as the rules of sets take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from workbench.benchmarks.questions import Completion, Question
from workbench.benchmarks.store import building
from workbench.core.database import sets
from workbench.core.errors import UsageError
from workbench.core.progress import stepping
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.sets import SetName
from workbench.core.taxonomy import UNTYPED
from workbench.measuring.columns import Columns
from workbench.measuring.judged import judges_of
from workbench.measuring.store import curation

if TYPE_CHECKING:
    from workbench.statistics.arrays import IntArray


_AT_ONCE: Final = 1_000
"""Questions whose completions' names are held together."""


def judging_run(project: Project, judge: str, run: int | None) -> int:
    """The run whose verdicts count: this one, else the judge's newest complete one.

    Raises:
        UsageError: There is no such run.
    """
    found = judges_of(project, (judge,), run)[0].run
    if found is None:
        raise UsageError(f"{judge!r} has no run.", f"Start one: workbench verify DB {judge}")
    return found


class CandidateItems(Struct, frozen=True, eq=False):
    """Items that a set may be built from.

    Attributes:
        rows: Where they stand in the columns.
        out: Reason -> chosen items that never can be part of one.
    """

    rows: IntArray
    out: dict[str, int]


def chosen(project: Project, known: Columns, selection: Selection) -> CandidateItems:
    """The items of a selection but for checks, whose answer is known, and questions that are out of the pool.

    Raises:
        UsageError: The selection names something unknown.
    """
    import numpy as np

    kept = known.chosen(selection)
    rows = np.arange(len(known.item)) if kept is None else np.flatnonzero(kept)
    reader = project.database.reader()
    checks = np.isin(known.item[rows], building.checks(reader))
    out = curation.reasons(reader)
    gone = np.isin(known.question[rows], list(out)) & ~checks
    why = counted([*["check"] * int(checks.sum()), *(out[one] for one in known.question[rows[gone]].tolist())])
    return CandidateItems(rows[~checks & ~gone], why)


class HeardQuestion(NamedTuple):
    """A question with those of its completions of which something is said, before any is made an object of.

    Attributes:
        dataset, key: The question's; see `Question`.
        names: The completions' keys.
        correct: What is said of each.
    """

    dataset: str
    key: str
    names: list[str]
    correct: list[bool]


def questions(
    project: Project,
    known: Columns,
    rows: IntArray,
    said: IntArray,
    kept: Callable[[HeardQuestion], Iterable[int]] = lambda heard: range(len(heard.names)),
) -> list[Question]:
    """The questions of these items, in their order, with those of these completions of which something is said.

    Args:
        rows: Where the items stand in the columns.
        said: What is said of each: 1 correct, 0 incorrect, anything else neither.
        kept: Which completions of a question are held on to, by their places; all by default. So few of a million
            are ever held.
    """
    import numpy as np

    order = np.argsort(known.question[rows], kind="stable")
    of = known.question[rows][order]
    first = np.flatnonzero(np.concatenate([[True], of[1:] != of[:-1]])) if len(of) else np.zeros(0, dtype=np.intp)
    ends = np.append(first[1:], len(of))
    reader = project.database.reader()
    heads = building.keys(reader, known.item[rows[order[first]]].tolist())
    groups = {field: known.groups(field) for field in ("type", "subtype", "source", "model")}
    decided = (said == 0) | (said == 1)
    found: list[tuple[int, Question]] = []
    told = zip(first.tolist(), ends.tolist(), heads, strict=True)
    names_of: dict[int, str] = {}
    for place, (start, end, head) in enumerate(stepping(told, "gathering", "questions", len(first))):
        if place % _AT_ONCE == 0:
            some = order[start : ends[min(place + _AT_ONCE, len(ends)) - 1]]
            wanted = np.sort(known.item[rows[some[decided[some]]]]).tolist()
            names_of = dict(zip(wanted, building.completion_keys(reader, wanted), strict=True))
        places = order[start:end]
        row = rows[places[0]]
        names = {field: groups[field].names[groups[field].code[row]] for field in ("type", "subtype", "source")}
        places = places[decided[places]]
        items = known.item[rows[places]].tolist()
        own = [names_of[item] for item in items]
        heard = HeardQuestion(head.dataset, head.question, own, (said[places] == 1).tolist())
        models = groups["model"].code[rows[places]].tolist()
        completions = tuple(
            Completion(
                item=items[place],
                key=heard.names[place],
                model=groups["model"].names[models[place]],
                correct=heard.correct[place],
            )
            for place in kept(heard)
        )
        one = Question(id=int(of[start]), dataset=head.dataset, key=head.question, completions=completions, **names)
        found.append((int(order[start]), one))
    return [one for _, one in sorted(found, key=lambda placed: placed[0])]


def type_code(subtype: str, type_: str) -> str | None:
    """The subtype's code, the type's letter where there is none, or None."""
    return next((code for code in (subtype, type_) if code not in ("", UNTYPED)), None)


def drawn_types(project: Project, selection: Selection) -> dict[int, str]:
    """Question -> the letter it was drawn as, where a drawn set is asked for."""
    reader = project.database.reader()
    return {
        member.question: member.subtype[0]
        for one in selection.conditions
        if (one.field, one.operator) == ("set", "=")
        for member in sets.questions(reader, sets.require(reader, SetName.parse(one.value)).id)
        if member.subtype
    }


def unanswered(project: Project, selection: Selection) -> int:
    """Questions without completions, of the whole database or of the one set that is asked for.

    Conditions on items say nothing of them: they count as none then.
    """
    reader = project.database.reader()
    if not selection.conditions:
        return building.questions_without_completions(reader, None)
    one = selection.conditions[0]
    if len(selection.conditions) > 1 or (one.field, one.operator) != ("set", "="):
        return 0
    return building.questions_without_completions(reader, sets.require(reader, SetName.parse(one.value)).id)


def counted(reasons: Iterable[str]) -> dict[str, int]:
    """Reason -> how often, the most frequent first."""
    return together(Counter(reasons))


def together(*counts: Mapping[str, int]) -> dict[str, int]:
    """Several counts by reason as one, the most frequent first; without those of 0."""
    total = Counter[str]()
    for some in counts:
        total.update(some)
    return dict(sorted((+total).items(), key=lambda found: (-found[1], found[0])))
