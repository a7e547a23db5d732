"""Quotas: those of the paper, even, proportional, and from a file."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.unit.benchmarks.building.rule_questions import question
from workbench.benchmarks.quotas import PAPER, Quotas, apportioned, preset, read_quotas, undivided
from workbench.core.errors import UsageError
from workbench.core.sets import Fill, Preset
from workbench.core.taxonomy import UNTYPED

# The fractions of table 5: tuples of each subtype, 500 a type.
TABLE_5 = {
    "A1": 64, "A2": 64, "A3": 62, "A4": 62, "A5": 62, "A6": 62, "A7": 62, "A8": 62,
    "B1": 130, "B2": 64, "B3": 128, "B4": 50, "B5": 128,
    "C1": 164, "C2": 168, "C4": 168,
    "D1": 344, "D2": 156,
}  # fmt: skip


def test_the_papers_quotas_are_those_of_table_5_halved() -> None:
    quotas = preset("verifybench", 250, {})

    assert {code: tuples // 2 for code, tuples in TABLE_5.items()} == {
        code: count for strata in quotas.wanted.values() for code, count in strata.items()
    }
    assert PAPER == TABLE_5
    assert {type_: sum(strata.values()) for type_, strata in quotas.wanted.items()} == dict.fromkeys("ABCD", 250)


def test_multiple_choice_has_the_code_that_occurs() -> None:
    quotas = preset("verifybench", 250, {"C": {"C1": 9, "C3": 4}})
    assert quotas.wanted["C"] == {"C1": 82, "C3": 84, "C4": 84}
    assert quotas.stratum(question(1, "+-", "C3")) == "C3"


@pytest.mark.parametrize("there", [{}, {"C2": 5, "C3": 4}])
def test_both_codes_of_multiple_choice_are_the_same(there: dict[str, int]) -> None:
    quotas = preset("verifybench", 250, {"C": there})
    assert quotas.wanted["C"] == {"C1": 82, "C2": 84, "C4": 84}
    assert [quotas.stratum(question(1, "+-", code)) for code in ("C2", "C3", "C1", "A9")] == ["C2", "C2", "C1", "A9"]


@given(st.sampled_from(["verifybench", "equal", "proportional"]), st.integers(1, 400), st.data())
def test_the_subtypes_of_a_type_add_up_to_it(name: Preset, per_type: int, data: st.DataObject) -> None:
    there = data.draw(
        st.dictionaries(
            st.sampled_from("ABE"), st.dictionaries(st.sampled_from(["A1", "A2", "B4", "E7"]), st.integers(1, 90))
        )
    )
    wanted = preset(name, per_type, there).wanted

    assert set(wanted) >= set("ABCD")
    assert {sum(strata.values()) for strata in wanted.values()} == {per_type}


def test_even_and_proportional_ones() -> None:
    there = {"A": {"A1": 30, "A9": 10, "A2": 20}, "B": {"B4": 5}}

    assert preset("equal", 10, there).wanted["A"] == {"A1": 4, "A2": 3, "A9": 3}
    assert preset("proportional", 10, there).wanted["A"] == {"A1": 5, "A9": 2, "A2": 3}
    assert preset("proportional", 10, there).wanted["D"] == {"D": 10}


def test_a_type_that_is_not_divided_is_one_stratum() -> None:
    quotas = undivided(250, {"A", "E"})
    assert list(quotas.wanted) == ["A", "B", "C", "D", "E"]
    assert quotas.stratum(question(1, "+-", "A9")) == "A"


def test_questions_without_subtype_are_a_separate_stratum() -> None:
    asked = question(1, "+-", "A")
    assert preset("verifybench", 250, {}).stratum(asked) == "A"
    assert Quotas({"A": {"A1": 1}}).stratum(structs.replace(asked, subtype=UNTYPED)) == "A/untyped"


ROOM = {"A": {"A1": 10, "A2": 100, "A9": 5}, "B": {"B4": 3}}
WANTED = Quotas({"A": {"A1": 20, "A2": 30}, "B": {"B4": 10}, "D": {"D": 4}})


@pytest.mark.parametrize(
    ("fill", "expected"),
    [
        ("none", {"A1": 20, "A2": 30, "A9": 0, "B4": 10, "D": 4}),
        ("subtypes", {"A1": 10, "A2": 40, "A9": 0, "B4": 3, "D": 0}),
        ("types", {"A1": 10, "A2": 51, "A9": 0, "B4": 3, "D": 0}),
    ],
)
def test_quotas_are_filled_only_on_request(fill: Fill, expected: dict[str, int]) -> None:
    assert apportioned(WANTED, {**ROOM, "D": {}}, fill) == expected


def test_a_file_names_subtypes_and_types() -> None:
    text = '[questions]\nA1 = 3\n"B4 - Set" = 5\nMatrix = 2\nC = 7\n'
    assert read_quotas(tomllib.loads(text), "f").wanted == {"A": {"A1": 3}, "B": {"B4": 5, "B5": 2}, "C": {"C": 7}}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "one table"),
        ("[questions]\n", "one table"),
        ("[questions]\nA1 = 1\n[other]\n", "one table"),
        ("questions = 3", "one table"),
        ("[questions]\n'?!' = 1", r"questions\.\?!: it is not a valid answer type or subtype"),
        ("[questions]\nA1 = -1", r"questions\.A1: it is not a number of questions"),
        ("[questions]\nA1 = 1.5", r"questions\.A1: it is not a number of questions"),
        ("[questions]\nA1 = true", r"questions\.A1: it is not a number of questions"),
        ("[questions]\nA1 = 1\nInteger = 2", "twice"),
        ("[questions]\nA = 1\nA1 = 2", "as a whole"),
    ],
)
def test_invalid_quota_files_are_rejected(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_quotas(tomllib.loads(text), "quotas.toml")
