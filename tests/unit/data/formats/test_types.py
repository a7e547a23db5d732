"""Detection of the type column that has the subtype."""

from __future__ import annotations

import pytest

from workbench.data.formats.fields import Pair, TypeMismatch, TypeReader, looks_swapped


@pytest.mark.parametrize(
    ("pairs", "swapped"),
    [
        ([("B5 - Matrix", "B - Expressions")], True),
        ([("B - Expressions", "B5 - Matrix")], False),
        ([("B5 - Matrix", None)], True),
        ([(None, None), ("Algebra", "level 5")], False),
        ([("A1", "A"), ("A", "A1")], False),
        ([("A1", "A"), ("A", "A1"), ("D2 - Semantic", "D")], True),
        ([("Matrix", "Expressions")], True),
        ([], False),
    ],
)
def test_most_rows_decide(pairs: list[Pair], swapped: bool) -> None:
    assert looks_swapped(pairs) is swapped


def test_unknown_codes_stay_as_they_are() -> None:
    assert TypeReader().read("A - Numeric Values", "A9 - Something") == (
        "A",
        "A9",
        "A - Numeric Values",
        "A9 - Something",
    )


def test_unknown_words_are_stored_without_a_code() -> None:
    assert TypeReader().read("geometry", None) == (None, None, "geometry", None)


def test_the_letter_follows_from_the_subtype() -> None:
    assert TypeReader().read(None, "C1")[:2] == ("C", "C1")


@pytest.mark.parametrize(("kind", "subtype"), [("A", "B5 - Matrix"), ("B5", "B"), ("A1", "A1"), ("A", "A")])
def test_contradictions_are_rejected(kind: str, subtype: str) -> None:
    with pytest.raises(TypeMismatch):
        TypeReader().read(kind, subtype)


def test_one_column_may_hold_either() -> None:
    reader = TypeReader(one_column=True)
    assert reader.read("B5 - Matrix", None) == ("B", "B5", None, "B5 - Matrix")
    assert reader.read("B - Expressions", None) == ("B", None, "B - Expressions", None)
