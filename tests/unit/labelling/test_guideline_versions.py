"""Versions have names of their own in every database; decided cases gather in one section."""

from __future__ import annotations

from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from workbench.labelling.guidelines import CASES, VERSION, next_version, number_of, with_case


def test_versions_count_on_from_the_highest_and_name_their_text() -> None:
    assert next_version([VERSION], "a text") == "2-" + blake2b(b"a text").hexdigest()[:6]
    assert next_version(["1", "2-aaaaaa", "10-bbbbbb", "nonsense"], "t").startswith("11-")
    assert next_version(["1"], "one text") != next_version(["1"], "another text")
    assert number_of("no number") == 0


def test_the_first_case_begins_a_section() -> None:
    assert with_case("# Correctness\n\nJudge.\n", "one") == f"# Correctness\n\nJudge.\n\n{CASES}\n\n- one\n"


def test_more_cases_join_it_wherever_it_stands() -> None:
    text = f"# A\n\n{CASES}\n\n- one\n\n# Z\n\nThe end.\n"
    assert with_case(text, "two") == f"# A\n\n{CASES}\n\n- one\n- two\n\n# Z\n\nThe end.\n"
    assert with_case(f"{CASES}\n# Z\n", "one") == f"{CASES}\n\n- one\n# Z\n"


words = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="#"), min_size=1, max_size=8)


@given(text=st.lists(words).map("\n".join), cases=st.lists(words, min_size=1, max_size=4))
def test_nothing_is_lost_and_cases_stand_in_their_order(text: str, cases: list[str]) -> None:
    said = text
    for case in cases:
        said = with_case(said, case)
    assert said.startswith(text.rstrip())
    assert said.splitlines()[-len(cases) :] == [f"- {case}" for case in cases]
    assert said.splitlines().count(CASES) == 1
