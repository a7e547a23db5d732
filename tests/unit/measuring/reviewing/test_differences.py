"""Differences between two final answers as written: their kinds and positions."""

from __future__ import annotations

import pytest

from workbench.measuring.reviewing.differences import DIFFERENCES, LONGEST, differences

PAIRS = [
    ("(1, 2)", "[1, 2)", "bracket"),
    (r"\{1\}", "(1)", "bracket"),
    ("12", "-12", "sign"),
    (r"x \pm 1", "x + 1", "sign"),
    ("x < 5", r"x \le 5", "relation"),
    ("5 cm", "5", "unit"),
    ("12 meters", "12 feet", "unit"),
    (r"45^\circ", "45", "unit"),
    ("50%", "50", "unit"),
    ("10", "12", "digits"),
    ("1,200", "1,300", "digits"),
    ("3.14", "3.1416", "decimals"),
    ("1/2", "0.5", "fraction against decimal"),
    (r"\dfrac{1}{2}", "0.5", "fraction against decimal"),
    ("twelve", "12", "figure against words"),
    ("B", "the greenhouse", "letter against text"),
    ("(B) the greenhouse", "B", "letter against text"),
    ("1, 2, 3", "3, 2, 1", "order"),
    ("x = 5", "5", "left side"),
    ("2, 3", "2", "missing part"),
    ("2", "2 and 3", "added part"),
    ("x + y", "x + z", "letter"),
    ("the old mill", "the old barn", "words"),
    ("the old mill stands beside the river", "nobody has ever seen a bigger boat", "other sentence"),
    ("Yes", "yes", "capitals"),
    ("yes", "yes.", "punctuation"),
    ("x^2", "x_2", "form"),
    (r"\text{Yes}", "Yes", "notation"),
    (r"\dfrac{1}{3}", r"\frac{1}{3}", "notation"),
    ("a b", "a  b", "spacing"),
    ("", "5", "no answer"),
    ("", "", "no answer"),
]


@pytest.mark.parametrize(("reference", "completion", "kind"), PAIRS, ids=[f"{one} {two}" for one, two, _ in PAIRS])
def test_a_difference_is_classified_by_its_characters(reference: str, completion: str, kind: str) -> None:
    assert differences(reference, completion).kinds == (kind,)


def test_every_kind_occurs_and_has_a_description() -> None:
    assert {kind for *_, kind in PAIRS} == {*DIFFERENCES}
    assert all(DIFFERENCES.values())


def test_positions_are_offsets_in_the_texts() -> None:
    found = differences("(2, 13 cm]", "(2, 14 m)")
    assert found.kinds == ("digits", "bracket", "unit")
    assert [("(2, 13 cm]"[slice(*one.reference)], "(2, 14 m)"[slice(*one.completion)]) for one in found.places] == [
        ("13", "14"),
        ("cm", "m"),
        ("]", ")"),
    ]


def test_a_stretch_of_latex_is_closed() -> None:
    (place,) = differences("0.5", r"\frac{1}{2}").places
    assert place.completion == (0, 11)


def test_a_missing_part_has_a_position() -> None:
    assert [one.completion for one in differences("2, 3", "2").places] == [(1, 1)]


def test_no_answer_is_called_equal() -> None:
    assert differences("7", "7").kinds == ()
    assert differences("7", "7").words == "written the same"
    assert not [
        meaning for meaning in (*DIFFERENCES, *DIFFERENCES.values()) if "equal" in meaning or "right" in meaning
    ]


@pytest.mark.parametrize("text", ["\x1b[31m[bold]", "مرحبا 5", "漢字", "\ud800", "‮abc", "{" * 500, "\\" * 99, "\0"])
def test_differences_lie_within_any_texts(text: str) -> None:
    for one, other in ((text, "7"), ("7", text), (text, text + "x")):
        for place in differences(one, other).places:
            assert 0 <= place.reference[0] <= place.reference[1] <= len(one)
            assert 0 <= place.completion[0] <= place.completion[1] <= len(other)


def test_long_answers_are_compared_up_to_a_limit_and_marked_as_cut() -> None:
    found = differences("1 " * 100_000, "2 " * 100_000)
    assert found.cut
    assert max(place.reference[1] for place in found.places) <= LONGEST
