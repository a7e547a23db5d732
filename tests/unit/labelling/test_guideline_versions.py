"""Guideline versions have unique names in every database; decided cases are collected in one section."""

from __future__ import annotations

from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from workbench.labelling.guidelines import CASES, VERSION, next_version, number_of, with_case


def test_versions_continue_from_the_highest_and_identify_their_text() -> None:
    assert next_version([VERSION], "a text") == "2-" + blake2b(b"a text").hexdigest()[:6]
    assert next_version(["1", "2-aaaaaa", "10-bbbbbb", "nonsense"], "t").startswith("11-")
    assert next_version(["1"], "one text") != next_version(["1"], "another text")
    assert number_of("no number") == 0


def test_the_first_case_begins_a_section() -> None:
    assert with_case("# Correctness\n\nJudge.\n", "one") == f"# Correctness\n\nJudge.\n\n{CASES}\n\n- one\n"


def test_more_cases_are_added_to_the_section_wherever_it_is() -> None:
    text = f"# A\n\n{CASES}\n\n- one\n\n# Z\n\nThe end.\n"
    assert with_case(text, "two") == f"# A\n\n{CASES}\n\n- one\n- two\n\n# Z\n\nThe end.\n"
    assert with_case(f"{CASES}\n# Z\n", "one") == f"{CASES}\n\n- one\n# Z\n"


words = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="#"), min_size=1, max_size=8)


@given(text=st.lists(words).map("\n".join), cases=st.lists(words, min_size=1, max_size=4))
def test_adding_cases_keeps_the_text_and_their_order(text: str, cases: list[str]) -> None:
    result = text
    for case in cases:
        result = with_case(result, case)
    assert result.startswith(text.rstrip())
    assert result.splitlines()[-len(cases) :] == [f"- {case}" for case in cases]
    assert result.splitlines().count(CASES) == 1
