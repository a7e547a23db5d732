"""Diff: the rows hold both texts to the letter, in order, and mark what differs."""

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
            kept = ["".join(_kept(side)) for side in (row.left, row.right)]
            assert kept[0] == kept[1]


def _kept(side: DiffSide) -> list[str]:
    """What is left of a line without its stretches that differ."""
    at, found = 0, []
    for start, end in side.differs:
        assert at <= start < end <= len(side.text)
        found.append(side.text[at:start])
        at = end
    return [*found, side.text[at:]]


@given(TEXTS)
def test_a_text_is_the_same_as_itself(text: str) -> None:
    assert {row.kind for row in diff_rows(text, text)} == {"same"}


def test_a_changed_line_stands_beside_the_one_it_was() -> None:
    rows = diff_rows("def f(a):\n    return a + 1\nend", "def f(a):\n    b = 2\n    c = 3\n    return a + b\nend")
    assert [row.kind for row in rows] == ["same", "added", "added", "changed", "same"]
    changed = rows[3]
    assert changed.left is not None
    assert changed.right is not None
    assert [changed.left.text[slice(*part)] for part in changed.left.differs] == ["1"]
    assert [changed.right.text[slice(*part)] for part in changed.right.differs] == ["b"]


def test_lines_with_nothing_in_common_are_not_one_line_that_was_changed() -> None:
    assert [row.kind for row in diff_rows("alpha beta", "gamma(1)")] == ["removed", "added"]


def test_a_very_long_text_is_refused() -> None:
    with pytest.raises(UsageError, match="not compared"):
        diff_rows("a\n" * MOST_LINES, "")
