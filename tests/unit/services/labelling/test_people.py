"""Annotators and assignment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.errors import UsageError
from workbench.model.selection import Selection, parse_condition
from workbench.services.labelling import people


def test_slots_are_opened_once_and_missing_ones_added(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    first = people.assign(project, ["a", "b", "c"], per_item=2)
    assert (first.assigned, first.type_slots) == (8, 4)
    assert people.assign(project, ["a", "b", "c"], per_item=2).assigned == 0
    assert people.assign(project, ["a", "b", "c"], per_item=3).assigned == 4


def test_only_the_selected_items_get_slots(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    chosen = Selection((parse_condition("completion_id=c1"),))
    assert people.assign(project, ["a", "b"], per_item=2, selection=chosen).assigned == 2


@pytest.mark.parametrize(
    ("names", "per_item", "adjudicator"),
    [(["a"], 2, None), (["a", "a"], 2, None), (["a", "b"], 0, None), (["a", "b"], 2, "b"), (["a", ""], 2, None)],
)
def test_impossible_assignments_are_refused(
    tmp_path: Path, names: list[str], per_item: int, adjudicator: str | None
) -> None:
    project = make_project(tmp_path, numbered(2))
    with pytest.raises(UsageError):
        people.assign(project, names, per_item=per_item, adjudicator=adjudicator)
    assert project.database.reader().execute("SELECT count(*) FROM assignments").fetchone() == (0,)


def test_an_unknown_annotator_is_named_with_those_who_are_there(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    people.add_annotators(project, ["ann"])
    with pytest.raises(UsageError, match="ann"):
        people.require_annotator(project, "bob")


def test_spellings_of_a_name_that_look_the_same_are_one_person(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    people.add_annotators(project, ["zo\u00eb", " zoe\u0308 "])
    assert [person.name for person in people.annotators(project)] == ["zo\u00eb"]
    people.require_annotator(project, "zoe\u0308")
    with pytest.raises(UsageError, match="label and adjudicate"):
        people.assign(project, ["zo\u00eb", "ann"], adjudicator="zoe\u0308 ")
