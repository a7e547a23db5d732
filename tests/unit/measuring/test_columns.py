"""Columns: groups, crossings, selections, and immutable arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import make_project
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.database.selection import chosen_ids
from workbench.core.errors import UsageError
from workbench.core.project import Project, open_project
from workbench.core.selection import FIELDS, GROUPS, LENGTH_BOUNDS, LENGTHS, UNKNOWN, Condition, Operator, Selection
from workbench.core.verdict import OutcomeCode, Verdict
from workbench.measuring.accuracy import accuracy
from workbench.measuring.columns import columns

SUBTYPES = ("A1", "A10", "B5", None)
VALUES = {
    "dataset": ("one", "two", "three"),
    "type": ("A", "Numeric Values", "B", "untyped", "Z"),
    "subtype": ("A1", "A10 - x", "Matrix", "untyped", ""),
    "domain": ("math", "", "law"),
    "source": ("s0", "s1", "é"),
    "model": ("small", "large", ""),
    "language": ("python", ""),
    "difficulty": ("hard", ""),
    "length": (*LENGTHS, UNKNOWN),
    "state": ("unlabelled", "final", "excluded"),
    "gold": ("correct", "incorrect", "none"),
    "question_id": ("q1", "q3"),
    "completion_id": ("c4", "c11"),
    "verdict:v": ("correct", "incorrect", "abstain", "error"),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows: list[dict[str, Any]] = [
        {
            "question_id": f"q{number // 2}",
            "gold": (True, False, None)[number % 3],
            "model": ("small", "large", None)[number % 3],
            "source": ("s0", "é")[number // 6 % 2],
            "domain": ("math", "law")[number // 6 % 2],
            "subtype": SUBTYPES[number // 2 % len(SUBTYPES)],
            "dataset": "one" if number < 20 else "two",
            "completion": "x" * (LENGTH_BOUNDS[number % 6] - number // 6 % 2),
        }
        for number in range(30)
    ]
    project = make_project(tmp_path_factory.mktemp("columns"), rows)
    said = [
        (item, Verdict(outcome=OutcomeCode(item % 4).outcome, reason=("number", "letter", None)[item % 3]))
        for item in range(1, 27)
    ]
    add_complete_run(project, "v", said)
    with project.database.write() as connection:
        connection.execute("UPDATE completions SET characters = NULL WHERE id = 3")
        for item, state, gold in ((2, "final", 1), (5, "excluded", None), (9, "conflict", None), (12, "final", 0)):
            connection.execute(
                "INSERT INTO item_states (completion_id, state, gold, gold_from) VALUES (?, ?, ?, ?)",
                (item, state, gold, "agreed" if state == "final" else None),
            )
    return project.path


@pytest.fixture
def project(stored: Path) -> Project:
    return open_project(stored)


conditions = st.sampled_from(sorted(VALUES)).flatmap(
    lambda field: st.builds(
        Condition, st.just(field), st.sampled_from(["=", "!=", "<", ">"]), st.sampled_from(VALUES[field])
    )
)


def test_every_condition_field_is_covered() -> None:
    asked_of_the_database = {"set", "verdict", "flagged"}
    assert set(VALUES) == {*FIELDS, "verdict:v"} - asked_of_the_database


def test_a_selection_selects_the_same_items_as_the_database(project: Project) -> None:
    found, reader = columns(project), project.database.reader()

    @settings(max_examples=80)
    @given(chosen=st.lists(conditions, max_size=3), limit=st.one_of(st.none(), st.integers(0, 8)))
    def compare(chosen: list[Condition], limit: int | None) -> None:
        selection = Selection(tuple(chosen), limit)
        try:
            kept = found.chosen(selection)
        except UsageError:
            with pytest.raises(UsageError):
                chosen_ids(reader, selection)
            return
        items = found.item if kept is None else found.item[kept]
        assert items.tolist() == chosen_ids(reader, selection)

    compare()


@pytest.mark.parametrize(
    ("field", "operator", "value"),
    [("gold", "=", "right"), ("length", "=", "3k"), ("state", "=", "new"), ("verdict:w", "=", "correct")],
)
def test_a_selection_by_an_unknown_value_is_rejected(
    project: Project, field: str, operator: Operator, value: str
) -> None:
    with pytest.raises(UsageError):
        columns(project).chosen(Selection((Condition(field, operator, value),)))


@pytest.mark.parametrize("by", ["type,domain", "domain,type", "subtype,length,model", "type,reason", "dataset,gold"])
def test_a_crossing_agrees_with_its_parts(project: Project, by: str) -> None:
    found, parts = columns(project), by.split(",")
    if "gold" in parts:
        with pytest.raises(UsageError, match="'gold'"):
            found.groups(by, 1)
        return
    crossed = found.groups(by, 1)
    singles = [found.groups(part, 1) for part in parts]
    for place, code in enumerate(crossed.code.tolist()):
        assert crossed.parts[code] == tuple(single.names[single.code[place]] for single in singles)
        assert crossed.names[code] == " · ".join(crossed.parts[code])
    assert sorted(set(crossed.code.tolist())) == list(range(len(crossed.names)))


def test_lengths_are_grouped_by_their_bounds(project: Project) -> None:
    found = columns(project)
    lengths = found.groups("length")
    for characters, code in zip(found.characters.tolist(), lengths.code.tolist(), strict=True):
        below = sum(bound <= characters for bound in LENGTH_BOUNDS)
        assert lengths.names[code] == (UNKNOWN if characters < 0 else LENGTHS[below])
    assert {0, 1, len(LENGTHS)} <= set(lengths.code.tolist())


@pytest.mark.parametrize("by", ["", "type,", "types", "type,type", "type;domain"])
def test_an_invalid_crossing_is_rejected(project: Project, by: str) -> None:
    with pytest.raises(UsageError):
        accuracy(project, by=by)


def test_a_table_by_a_crossing_has_its_rows_in_order(project: Project) -> None:
    rows = [row for row in accuracy(project, verifiers=("v",), by="subtype,length").rows if row.verifier == "v"][1:]
    assert [row.group for row in rows] == [" · ".join(row.groups) for row in rows]
    order = ("A1", "A10", "B5", "untyped")
    places = [
        (order.index(subtype), (*LENGTHS, UNKNOWN).index(length)) for subtype, length in (row.groups for row in rows)
    ]
    assert places == sorted(places)
    assert sum(row.n for row in rows) == sum(
        row.n for row in accuracy(project, verifiers=("v",)).rows if row.verifier == "v"
    )


@pytest.mark.parametrize("field", GROUPS)
def test_the_clusters_of_a_grouping_are_its_questions(project: Project, field: str) -> None:
    found = columns(project)
    clusters, groups = found.clusters(field, 1), found.groups(field, 1)
    pairs = list(zip(groups.code.tolist(), found.question.tolist(), strict=True))
    assert len(clusters.group) == len(set(pairs))
    assert [clusters.group[place] for place in clusters.of_item] == groups.code.tolist()
    by_cluster = dict(zip(clusters.of_item.tolist(), pairs, strict=True))
    assert [by_cluster[place] for place in clusters.of_item.tolist()] == pairs
    assert clusters.items.tolist() == np.bincount(clusters.of_item).tolist()


def test_gold_is_counted_by_source(project: Project) -> None:
    def counts(items: range) -> dict[str, int]:
        """Every third item has no imported gold; items 2, 5, 9 and 12 have labels."""
        imported = sum(item % 3 > 0 and item not in (2, 5, 9, 12) for item in items)
        agreed = sum(item in (2, 12) for item in items)
        found = {"adjudicated": 0, "agreed": agreed, "imported": imported, "none": len(items) - imported - agreed}
        return found | {"conflict": 1, "none": found["none"] - 1} if 9 in items else found

    found, of_two = columns(project), Selection((Condition("dataset", "=", "two"),))
    assert found.gold_counts("final") == counts(range(1, 31))
    assert found.gold_counts("final", found.chosen(of_two)) == counts(range(21, 31))
    assert found.gold_counts("final", found.chosen(Selection(limit=10))) == counts(range(1, 11))


def test_returned_arrays_are_read_only(project: Project) -> None:
    found = columns(project)
    for values in (found.item, found.question, found.characters, found.gold("final"), found.outcome(1)):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1


def test_a_project_without_items_has_empty_columns(tmp_path: Path) -> None:
    found = columns(make_project(tmp_path))
    assert len(found.item) == len(found.gold("people")) == len(found.outcome(1)) == 0
    assert len(found.groups("type,reason", 1).code) == 0
    assert found.score(1) is None
