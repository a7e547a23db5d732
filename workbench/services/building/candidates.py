"""Questions with what a judge or people said of their completions, as the rules of sets take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.benchmarks.verifybench.questions import Completion, Question
from workbench.errors import UsageError
from workbench.model.progress import stepping
from workbench.model.selection import Selection
from workbench.model.sets import SetName
from workbench.model.taxonomy import UNTYPED
from workbench.services.measuring.columns import Columns
from workbench.services.measuring.judged import judges_of
from workbench.services.project import Project
from workbench.store import building, curation, sets

if TYPE_CHECKING:
    from workbench.analysis.arrays import IntArray


def judging_run(project: Project, judge: str, run: int | None) -> int:
    """The run whose verdicts count: this one, else the judge's newest complete one.

    Raises:
        UsageError: There is no such run.
    """
    found = judges_of(project, (judge,), run)[0].run
    if found is None:
        raise UsageError(f"{judge!r} has no run.", f"Start one: workbench verify DB {judge}")
    return found


class Chosen(Struct, frozen=True, eq=False):
    """Items that a set may be built from.

    Attributes:
        rows: Where they stand in the columns.
        out: Reason -> chosen items that never can be part of one.
    """

    rows: IntArray
    out: dict[str, int]


def chosen(project: Project, known: Columns, selection: Selection) -> Chosen:
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
    return Chosen(rows[~checks & ~gone], why)


def questions(project: Project, known: Columns, rows: IntArray, said: IntArray) -> list[Question]:
    """The questions of these items, with these completions.

    Args:
        rows: Where the items stand in the columns.
        said: What is said of each: 1 correct, 0 incorrect, anything else neither.
    """
    models = _names(known, "model", rows)
    gathered: dict[int, list[Completion]] = {}
    first: dict[int, tuple[int, building.Key]] = {}
    keys = building.keys(project.database.reader(), known.item[rows].tolist())
    columns = (known.question[rows].tolist(), said.tolist(), models, keys)
    told = stepping(zip(*columns, strict=True), "gathering", "completions", len(rows))
    for place, (question, word, model, key) in enumerate(told):
        correct = bool(word) if word in (0, 1) else None
        one = Completion(item=key.item, key=key.completion, model=model, correct=correct)
        gathered.setdefault(question, []).append(one)
        first.setdefault(question, (place, key))
    types, subtypes, sources = (_names(known, field, rows) for field in ("type", "subtype", "source"))
    return [
        Question(
            id=question,
            dataset=key.dataset,
            key=key.question,
            type=types[place],
            subtype=subtypes[place],
            source=sources[place],
            completions=tuple(gathered[question]),
        )
        for question, (place, key) in first.items()
    ]


def _names(known: Columns, field: str, rows: IntArray) -> list[str]:
    """Each item's name of a kind; equal ones are one and the same text."""
    groups = known.groups(field)
    return [groups.names[code] for code in groups.code[rows].tolist()]


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
