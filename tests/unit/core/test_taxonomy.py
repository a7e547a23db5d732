"""The answer-type taxonomy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.taxonomy import SUBTYPES, TYPES, parse_type, type_display


def test_four_types_and_eighteen_subtypes() -> None:
    assert "".join(TYPES) == "ABCD"
    assert len(SUBTYPES) == 18
    assert {code[0] for code in SUBTYPES} == set(TYPES)


@pytest.mark.parametrize("code", [*TYPES, *SUBTYPES])
def test_displayed_types_can_be_parsed(code: str) -> None:
    parsed = parse_type(type_display(code))
    assert parsed is not None
    assert parsed.code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Float Number", "A3"),
        ("complex  numbers", "A5"),
        ("Single-choice", "C1"),
        ("Multi-answer choice", "C2"),
        ("semantic string", "D2"),
        ("Numerical values", "A"),
        ("b5", "B5"),
        ("A9 - Something", "A9"),
        ("E2", "E2"),
    ],
)
def test_aliases_and_unknown_codes(text: str, code: str) -> None:
    parsed = parse_type(text)
    assert parsed is not None
    assert parsed.code == code


def test_an_unknown_code_keeps_its_own_name() -> None:
    parsed = parse_type("A9 - Something")
    assert parsed is not None
    assert (parsed.name, parsed.is_subtype) == ("Something", True)


@given(st.text())
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    parsed = parse_type(text)
    assert parsed is None or parsed.code[0].isalpha()
