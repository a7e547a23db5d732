"""Columns are recognised by name; ``--map`` wins."""

from __future__ import annotations

import pytest

from workbench.core.errors import FormatError, UsageError
from workbench.data.formats.fields import parse_map, resolve_columns


def test_common_names_are_recognised() -> None:
    found = resolve_columns(["Prompt", "gold answer", "response", "label", "x"], {}, released=False, place="f")
    assert found == {
        "question": "Prompt",
        "reference": "gold answer",
        "completion": "response",
        "gold": "label",
    }


def test_map_wins_over_a_recognised_name() -> None:
    found = resolve_columns(
        ["prompt", "question", "answer", "output"], {"question": "prompt"}, released=False, place="f"
    )
    assert found["question"] == "prompt"


def test_released_names_may_be_used_for_our_fields() -> None:
    assert parse_map(["answer=a", "gold_correct=g"]) == {"reference": "a", "gold": "g"}


def test_an_unknown_field_is_rejected_with_ours() -> None:
    with pytest.raises(UsageError, match="completion_id") as caught:
        parse_map(["nonsense=a"])
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("text", ["question", ""])
def test_a_map_needs_two_sides(text: str) -> None:
    with pytest.raises(UsageError):
        parse_map([text])


def test_a_field_without_a_column_is_left_out() -> None:
    found = ["question", "answer", "completion", "answer_type", "answer_subtype"]
    columns = resolve_columns(found, parse_map(["type=", "subtype="]), released=True, place="f")
    assert not {"type", "subtype"} & columns.keys()
    assert columns["reference"] == "answer"


def test_a_required_field_is_not_left_out() -> None:
    with pytest.raises(FormatError, match="no column holds the question"):
        resolve_columns(["question", "answer", "completion"], parse_map(["question="]), released=False, place="f")


def test_one_column_is_not_used_twice() -> None:
    with pytest.raises(UsageError, match="twice"):
        parse_map(["question=a", "completion=a"])


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="Columns there: a, b"):
        resolve_columns(["a", "b"], {"question": "c"}, released=False, place="f")


def test_a_required_field_without_a_column_stops_the_file() -> None:
    with pytest.raises(FormatError, match="--map completion=COLUMN"):
        resolve_columns(["question", "answer"], {}, released=False, place="f.csv")
