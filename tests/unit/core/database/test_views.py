"""The views for users agree with the program."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from tests.helpers import make_project
from tests.unit.measuring.reviewing.desk import voted
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.database.selection import GOLD, GOLD_FROM, VISIBLE, items_sql
from workbench.core.project import Project
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.data.store.columns import query, view
from workbench.labelling import coordinating, people
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.measuring.columns import columns
from workbench.measuring.reviewing.deciding import confirm, mark_error, reviews_of, take_back
from workbench.statistics.confusion import IntArray

ROWS: list[dict[str, Any]] = [
    {"type": "A", "subtype": "A1", "source": "math/one", "domain": "math", "model": "m", "gold": True},
    {"type": None, "subtype": None, "source": None, "domain": None, "model": None, "gold": False, "dataset": "two"},
    {"type": "B", "subtype": "B9", "source": "x", "domain": None, "model": "m", "gold": None},
]


def test_items_are_those_of_the_columns(tmp_path: Path) -> None:
    project = make_project(
        tmp_path, [{**row, "completion_id": f"c{n}", "question_id": f"q{n}"} for n, row in enumerate(ROWS)]
    )
    coordinating.exclude(project, [1], reason="truncated")
    found = view(project.database.reader(), "items")
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    known = columns(project)
    assert [row["item"] for row in rows] == known.item.tolist()
    assert [row["question"] for row in rows] == known.question.tolist()
    assert [row["characters"] for row in rows] == known.characters.tolist()
    assert [-1 if row["gold"] is None else row["gold"] for row in rows] == known.gold("final").tolist()
    for field in ("type", "subtype", "domain", "source", "model", "dataset"):
        groups = known.groups(field)
        assert [row[field] or "" for row in rows] == [groups.names[code] for code in groups.code]
    assert [row["state"] for row in rows] == ["excluded", "unlabelled", "unlabelled"]


def test_gold_in_the_view_equals_gold_in_the_program(tmp_path: Path) -> None:
    """Covers every state with every origin, with and without imported gold, and checks."""
    states = ("unlabelled", "labelled", "conflict", "final", "excluded")
    cases = list(product((True, False, None), states, (None, "agreed", "adjudicated"), (0, 1), (True, False)))
    project = make_project(tmp_path, [{"gold": imported} for imported, *_ in cases])
    with project.database.write() as connection:
        for item, (_, state, source, gold, is_check) in enumerate(cases, 1):
            settled = (gold if source else None, source)
            connection.execute("INSERT INTO item_states VALUES (?, ?, ?, ?, NULL, NULL)", (item, state, *settled))
            if is_check:
                connection.execute("INSERT INTO check_items VALUES (?, 'correct', '')", (item,))
    reader = project.database.reader()
    by_view = reader.execute("SELECT completion_id, gold, gold_from FROM gold ORDER BY completion_id").fetchall()
    asked = f"SELECT c.id, {GOLD}, {GOLD_FROM} FROM {items_sql(GOLD, GOLD_FROM)} WHERE {VISIBLE} ORDER BY c.id"
    assert reader.execute(asked).fetchall() == by_view
    assert len(by_view) == len(cases)


def test_verdicts_are_counted_from_the_newest_complete_run(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"completion_id": f"c{n}", "gold": n % 2 == 0} for n in range(4)])
    add_complete_run(project, "v", [(n + 1, Verdict(outcome=outcome)) for n, outcome in enumerate(Outcome)])
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO runs (verifier_id, version, selection, workers, state, items, created_at) "
            "VALUES (1, '2', '{}', 1, 'paused', 0, '')"
        )
        connection.execute("INSERT INTO verdicts VALUES (2, 1, 0, 0, NULL, NULL, 0)")
    found = view(project.database.reader(), "judged")
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    outcome = columns(project).outcome(1)
    gold = columns(project).gold("final")
    assert [row["verdict"] for row in rows] == [OutcomeCode(int(value)).outcome.word for value in outcome]
    for protocol in ("forced", "strict", "decided"):
        expected = _right(outcome, gold, protocol)
        assert [row[f"right_{protocol}"] for row in rows] == expected


def _right(outcome: IntArray, gold: IntArray, protocol: str) -> list[int | None]:
    by_gold: dict[str, list[int | None]] = {"forced": [1, 0], "strict": [0, 0], "decided": [None, None]}
    undecided = by_gold[protocol]
    return [
        int(said == truth) if said < 2 else undecided[truth]
        for said, truth in zip(outcome.tolist(), gold.tolist(), strict=True)
    ]


def test_labels_are_the_current_ones(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"completion_id": "c0"}])
    _label(project, "ann")
    found = view(project.database.reader(), "current_labels")
    assert [dict(zip(found.columns, row, strict=True))["verdict"] for row in found.rows] == ["correct"]
    coordinating.reopen(project, [1], reason="unclear")
    assert view(project.database.reader(), "current_labels").rows == []


def _label(project: Project, name: str) -> None:
    people.assign(project, (name,), per_item=1)
    session = AnnotationSession(project, name)
    item = session.next()
    assert item is not None
    session.submit(item, Answer(verdict="correct", subtype="A1" if item.wants_type else None))


def test_reviews_are_the_current_decisions(tmp_path: Path) -> None:
    project = voted(tmp_path, "--", gold="+")
    confirm(project, 1, by="ann")
    confirm(project, 1, by="ben", note="so it is")
    mark_error(project, 1, 1, "units", by="ann")
    mark_error(project, 1, 1, "format", by="ben")
    taken = mark_error(project, 1, 2, "units", by="ann")
    take_back(project, taken.uuid, by="ann")
    found = view(project.database.reader(), "current_reviews")
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    standing = [(one.kind, one.verifier, one.category, one.reviewer) for one in reviews_of(project, 1)]
    assert [(row["kind"], row["verifier"], row["category"], row["reviewer"]) for row in rows] == standing
    assert [row["reviewer"] for row in rows] == ["ben", "ben"]


def test_computed_numbers_are_found_by_their_text_as_datasette_asks(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"completion_id": "c0", "gold": True}])
    add_complete_run(project, "v", [(1, Verdict(outcome=Outcome.INCORRECT))])
    for condition in ("gold = '1'", "right_forced = '0'", "right_strict = '0'", "right_decided = '0'"):
        found = query(project.database.reader(), f"SELECT count(*) FROM judged WHERE {condition}")
        assert found.rows == [(1,)], condition
