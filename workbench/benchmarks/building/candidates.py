"""Reads the questions from which benchmarks are built, with a judge's verdicts or annotators' labels on their
completions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import Struct

from workbench.benchmarks import store
from workbench.benchmarks.capping import Completion, Question
from workbench.core.database import sets
from workbench.core.errors import Command, UsageError
from workbench.core.label import ExcludedItem
from workbench.core.progress import stepping
from workbench.core.project import Project
from workbench.core.selection import NAMELESS, Condition, Selection
from workbench.core.sets import FinalGold, GoldFrom, ItemMember, SetName
from workbench.core.taxonomy import UNTYPED
from workbench.data.store import columns as stored
from workbench.labelling.excluded import excluded_items
from workbench.labelling.guidelines import versions
from workbench.measuring.columns import Columns
from workbench.measuring.judged import judges_of
from workbench.measuring.store import curation

if TYPE_CHECKING:
    from workbench.statistics.confusion import IntArray


_BATCH_QUESTIONS: Final = 1_000
"""Questions whose completions' names are in memory at once."""


def judging_run(project: Project, judge: str, run: int | None) -> int:
    """Return the given run, or else the judge's newest complete run.

    Raises:
        UsageError: The judge has no such run.
    """
    found = judges_of(project, (judge,), run)[0].run
    if found is None:
        raise UsageError(f"{judge!r} has no run.", "Start one", Command(f"verify DB {judge}"))
    return found


class CandidateItems(Struct, frozen=True, eq=False):
    """The items that a benchmark may be built from.

    Attributes:
        rows: The items' positions in the columns.
        out: Reason -> number of selected items that no benchmark can contain.
    """

    rows: IntArray
    out: dict[str, int]


def chosen(project: Project, known: Columns, selection: Selection) -> CandidateItems:
    """Return the selected items, except check items and items of excluded questions.

    Raises:
        UsageError: The selection names something unknown.
    """
    import numpy as np

    kept = known.chosen(selection)
    rows = np.arange(len(known.item)) if kept is None else np.flatnonzero(kept)
    reader = project.database.reader()
    checks = np.isin(known.item[rows], store.checks(reader))
    out = curation.exclusion_reasons(reader)
    gone = np.isin(known.question[rows], list(out)) & ~checks
    why = counted([*["check"] * int(checks.sum()), *(out[one] for one in known.question[rows[gone]].tolist())])
    return CandidateItems(rows[~checks & ~gone], why)


class CandidateRows(NamedTuple):
    """A question with its completions that have a verdict or label, as lists; see `Question` for the objects made from
    it.

    Attributes:
        dataset, key: Data set and id of the question; see `Question`.
        names: The completions' keys.
        correct: The verdict or label of each completion, coded as in `questions`.
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
    kept: Callable[[CandidateRows], Iterable[int]] = lambda heard: range(len(heard.names)),
) -> list[Question]:
    """Return the questions of some items, in order, each with those of its items that have a verdict or label.

    Args:
        rows: Positions of the items in the columns.
        said: The verdict or label of each item: 1 correct, 0 incorrect, any other number neither.
        kept: Returns the positions of a question's completions to keep; by default all. It keeps memory small if a
            database has a million completions.
    """
    import numpy as np

    order = np.argsort(known.question[rows], kind="stable")
    of = known.question[rows][order]
    first = np.flatnonzero(np.concatenate([[True], of[1:] != of[:-1]])) if len(of) else np.zeros(0, dtype=np.intp)
    ends = np.append(first[1:], len(of))
    reader = project.database.reader()
    heads = store.keys(reader, known.item[rows[order[first]]].tolist())
    groups = {field: known.groups(field) for field in ("type", "subtype", "source", "model")}
    decided = (said == 0) | (said == 1)
    found: list[tuple[int, Question]] = []
    spans = zip(first.tolist(), ends.tolist(), heads, strict=True)
    names_of: dict[int, str] = {}
    for place, (start, end, head) in enumerate(stepping(spans, "gathering", "questions", len(first))):
        if place % _BATCH_QUESTIONS == 0:
            some = order[start : ends[min(place + _BATCH_QUESTIONS, len(ends)) - 1]]
            wanted = np.sort(known.item[rows[some[decided[some]]]]).tolist()
            names_of = dict(zip(wanted, store.completion_keys(reader, wanted), strict=True))
        places = order[start:end]
        row = rows[places[0]]
        names = {field: groups[field].names[groups[field].code[row]] for field in ("type", "subtype", "source")}
        places = places[decided[places]]
        items = known.item[rows[places]].tolist()
        own = [names_of[item] for item in items]
        heard = CandidateRows(head.dataset, head.question, own, (said[places] == 1).tolist())
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
    return next((code for code in (subtype, type_) if code not in ("", UNTYPED)), None)


def drawn_types(project: Project, selection: Selection) -> dict[int, str]:
    reader = project.database.reader()
    return {
        member.question: member.subtype[0]
        for one in selection.conditions
        if (one.field, one.operator) == ("set", "=")
        for member in sets.questions(reader, sets.require(reader, SetName.parse(one.value)).id)
        if member.subtype
    }


def count_unanswered(project: Project, selection: Selection) -> int:
    """Count the questions without completions, in the whole database or in the selected benchmark.

    The count is 0 for a selection by conditions on items, which can't select such questions.
    """
    reader = project.database.reader()
    if not selection.conditions:
        return store.questions_without_completions(reader, None)
    one = selection.conditions[0]
    if len(selection.conditions) > 1 or (one.field, one.operator) != ("set", "="):
        return 0
    return store.questions_without_completions(reader, sets.require(reader, SetName.parse(one.value)).id)


def counted(reasons: Iterable[str]) -> dict[str, int]:
    return together(Counter(reasons))


def together(*counts: Mapping[str, int]) -> dict[str, int]:
    total = Counter[str]()
    for some in counts:
        total.update(some)
    return dict(sorted((+total).items(), key=lambda found: (-found[1], found[0])))


# -- Items with gold, and the reasons why others have none.


WAITING = ("unlabelled", "labelled", "conflict")
"""States of an item without a final label: no labels, some labels missing, or a conflict."""


class Labels(Struct, frozen=True, kw_only=True, eq=False):
    """The gold of some items.

    Attributes:
        said: The gold of each item: 1 correct, 0 incorrect, -1 without gold (int8).
        of: Item -> its gold and the origin of the gold; items without gold are absent.
        out: Reason -> number of items without gold.
    """

    said: IntArray
    of: dict[int, tuple[bool, GoldFrom]]
    out: dict[str, int]


def labels(project: Project, known: Columns, rows: IntArray, gold: FinalGold) -> Labels:
    """Return the gold of items. With ``people``, only items resolved by annotators have gold.

    Args:
        rows: Positions of the items in the columns.
    """
    import numpy as np

    reader, items = project.database.reader(), known.item[rows]
    states = stored.states(reader)
    touched = np.isin(items, np.concatenate([np.zeros(0, dtype=np.int64), *states.values()]))
    standing = store.standings(reader, items[touched].tolist())
    golds = known.gold(gold)[rows]
    if gold == "people":
        golds = np.where(np.isin(items, states.get("final", ())), golds, np.int8(-1))
    has_gold = golds >= 0
    both = zip(items[has_gold].tolist(), golds[has_gold].tolist(), strict=True)
    # Ask the database for one of all untouched items.
    untouched = {_reason_without_gold(None, gold): int(np.count_nonzero(~has_gold & ~touched))}
    return Labels(
        said=golds,
        of={item: (bool(word), _gold_origin(standing.get(item), gold)) for item, word in both},
        out=together(
            untouched,
            counted(_reason_without_gold(standing.get(item), gold) for item in items[~has_gold & touched].tolist()),
        ),
    )


def _gold_origin(standing: store.TouchedItem | None, gold: FinalGold) -> GoldFrom:
    return standing.gold_from if gold == "people" and standing and standing.gold_from else "imported"


def _reason_without_gold(standing: store.TouchedItem | None, gold: FinalGold) -> str:
    if standing is not None and standing.state == "excluded":
        return standing.reason or "other"
    if gold == "imported":
        return "no_gold"
    return "unlabelled" if standing is None else standing.state


def left_out(project: Project, selection: Selection) -> tuple[ExcludedItem, ...]:
    out = Selection((*selection.conditions, Condition("state", "=", "excluded")), selection.limit)
    return tuple(excluded_items(project, out))


def guideline(project: Project, gold: FinalGold) -> str | None:
    return versions(project)[-1].version if gold == "people" else None


# -- The composition of a benchmark: types, domains, sources, models, and models without completions in it.


def composition(known: Columns, members: Sequence[ItemMember]) -> dict[str, Any]:
    """Return the fields of a `SetReport` that describe the composition."""
    rows = places(known, [one.item for one in members])
    gold = [one.gold for one in members if one.gold is not None]
    return {
        "questions": len(set(known.question[rows].tolist())),
        "tuples": len(members),
        "types": dict(sorted(Counter(one.subtype[0] if one.subtype else UNTYPED for one in members).items())),
        "domains": _counts(known, "domain", rows),
        "sources": _counts(known, "source", rows),
        "models": _counts(known, "model", rows),
        "missing_models": _missing_models(known, rows),
        "correct": sum(gold) if gold else None,
        "always_incorrect": 1 - sum(gold) / len(gold) if gold else None,
    }


def places(known: Columns, items: Sequence[int]) -> IntArray:
    import numpy as np

    return np.asarray(np.searchsorted(known.item, np.asarray(items, dtype=np.int64)))


def _counts(known: Columns, field: str, rows: IntArray) -> dict[str, int]:
    return dict(sorted((name or NAMELESS, count) for name, count in known.groups(field).count(rows).items()))


def _missing_models(known: Columns, rows: IntArray) -> tuple[str, ...]:
    import numpy as np

    datasets, models = known.groups("dataset"), known.groups("model")
    same = np.isin(datasets.code, np.unique(datasets.code[rows]))
    missing = np.setdiff1d(models.code[same], models.code[rows]).tolist()
    return tuple(sorted(models.names[code] for code in missing if models.names[code]))
