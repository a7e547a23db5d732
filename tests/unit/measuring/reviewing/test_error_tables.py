"""Marked errors as lines and as a table, and the items behind each count."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from tests.unit.measuring.reviewing.desk import label, voted
from workbench.core.project import Project
from workbench.measuring.reviewing import deciding
from workbench.measuring.reviewing.deciding import categories_of, error_lines, error_table
from workbench.measuring.reviewing.queues import marked_items, reviewed_items


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """``a`` errs on all four items, ``b`` on the first; the first two questions have types."""
    made = voted(tmp_path, "--", "+-", "-+", "+-", gold="+-+-")
    with made.database.write() as connection:
        connection.execute("UPDATE questions SET type = 'A', subtype = 'A1' WHERE id = 1")
    for item, category in ((1, "units"), (2, "format"), (3, "units")):
        deciding.mark_error(made, item, 1, category, by="dora")  # type: ignore[arg-type]
    deciding.mark_error(made, 1, 2, "units", by="dora")
    return made


def test_every_verifier_has_a_line_for_all_items_and_one_a_group(project: Project) -> None:
    lines = error_lines(project, "subtype")
    assert [(line.verifier, line.group, line.marked, line.counts) for line in lines] == [
        ("a", None, 3, {"format": 1, "units": 2}),
        ("a", "A1", 2, {"format": 1, "units": 1}),
        ("a", "untyped", 1, {"units": 1}),
        ("b", None, 1, {"units": 1}),
        ("b", "A1", 1, {"units": 1}),
    ]
    assert categories_of(lines) == ["format", "units"], "in the order of the taxonomy"
    assert [line.group for line in error_lines(project)] == [None, None]


def test_each_count_equals_the_number_of_its_items(project: Project) -> None:
    for line in error_lines(project, "type"):
        by = None if line.group is None else "type"
        assert len(marked_items(project, line.verifier, None, by, line.group)) == line.marked  # type: ignore[arg-type]
        for category, count in line.counts.items():
            assert len(marked_items(project, line.verifier, category, by, line.group)) == count  # type: ignore[arg-type]
    assert marked_items(project, "a", "units") == array("q", [1, 3])
    assert marked_items(project, "a", "units", "subtype", "untyped") == array("q", [3])
    assert marked_items(project, "nobody") == array("q")


def test_outdated_marks_are_excluded_with_a_note(project: Project) -> None:
    label(project, 1, {"amira": "incorrect", "ben": "incorrect"})
    lines = error_lines(project)
    assert [(line.verifier, line.marked, line.outdated) for line in lines if line.verifier == "a"] == [("a", 2, 1)]
    assert marked_items(project, "a", "units") == array("q", [3])
    assert "Not counted" in error_table(lines).notes[0]


def test_the_table_has_a_column_for_each_kind_that_occurs(project: Project) -> None:
    table = error_table(error_lines(project, "subtype"))
    assert table.columns == ("verifier", "group", "marked", "format", "units")
    assert [[cell.text for cell in row.cells] for row in table.rows][:2] == [
        ["a", "all", "3", "1", "2"],
        ["a", "A1 - Integer", "2", "1", "1"],
    ]
    assert not table.notes


def test_items_with_a_current_decision_are_reviewed(project: Project) -> None:
    assert reviewed_items(project) == {1, 2, 3}
    made = deciding.confirm(project, 4, by="dora")
    assert reviewed_items(project) == {1, 2, 3, 4}
    deciding.take_back(project, made.uuid, by="dora")
    assert reviewed_items(project) == {1, 2, 3}
