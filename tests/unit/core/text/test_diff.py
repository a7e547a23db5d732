"""Diff rows contain both texts exactly, in order, and mark the differences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.errors import UsageError
from workbench.core.text.code import MOST_LINES, DiffLine, DiffSide, diff_rows

WORDS = st.sampled_from(["a", "b", "if x:", "    return a", "    return a + b", "", "  ", "é", "\t", "x = 1"])
TEXTS = st.lists(WORDS, max_size=12).map("\n".join) | st.text(alphabet="ab \n=", max_size=30)


def sides(rows: list[DiffLine], name: str) -> list[DiffSide]:
    found: list[DiffSide] = [side for row in rows if (side := getattr(row, name)) is not None]
    return found


@given(TEXTS, TEXTS)
def test_both_texts_can_be_rebuilt(left: str, right: str) -> None:
    rows = diff_rows(left, right)
    for name, text in (("left", left), ("right", right)):
        found = sides(rows, name)
        assert "\n".join(side.text for side in found) == text
        assert [side.number for side in found] == list(range(1, len(found) + 1))


@given(TEXTS, TEXTS)
def test_rows_are_of_their_kind(left: str, right: str) -> None:
    for row in diff_rows(left, right):
        there = (row.left is not None, row.right is not None)
        assert there == {"same": (True, True), "changed": (True, True), "removed": (True, False)}.get(
            row.kind, (False, True)
        )
        if row.left is not None and row.right is not None:
            assert (row.kind == "same") == (row.left.text == row.right.text)
            kept = ["".join(_unmarked_parts(side)) for side in (row.left, row.right)]
            assert kept[0] == kept[1]


def _unmarked_parts(side: DiffSide) -> list[str]:
    """Return the parts of a line outside its marked differences."""
    at, found = 0, []
    for start, end in side.differs:
        assert at <= start < end <= len(side.text)
        found.append(side.text[at:start])
        at = end
    return [*found, side.text[at:]]


@given(TEXTS)
def test_a_text_equals_itself(text: str) -> None:
    assert {row.kind for row in diff_rows(text, text)} == {"same"}


def test_a_changed_line_is_paired_with_its_original() -> None:
    rows = diff_rows("def f(a):\n    return a + 1\nend", "def f(a):\n    b = 2\n    c = 3\n    return a + b\nend")
    assert [row.kind for row in rows] == ["same", "added", "added", "changed", "same"]
    changed = rows[3]
    assert changed.left is not None
    assert changed.right is not None
    assert [changed.left.text[slice(*part)] for part in changed.left.differs] == ["1"]
    assert [changed.right.text[slice(*part)] for part in changed.right.differs] == ["b"]


def test_unrelated_lines_are_not_a_changed_line() -> None:
    assert [row.kind for row in diff_rows("alpha beta", "gamma(1)")] == ["removed", "added"]


def test_a_very_long_text_is_rejected() -> None:
    with pytest.raises(UsageError, match="not compared"):
        diff_rows("a\n" * MOST_LINES, "")
