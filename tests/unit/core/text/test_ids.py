"""Abbreviated ids: short and unique."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.core.text.excerpt import abbreviate_ids


def test_five_characters_are_enough_unless_two_look_the_same() -> None:
    assert abbreviate_ids(["qwen/0001a2b3c", "qwen/0009f8e7d"]) == {
        "qwen/0001a2b3c": "…a2b3c",
        "qwen/0009f8e7d": "…f8e7d",
    }
    assert abbreviate_ids(["aa-1-000001", "aa-2-000001"]) == {"aa-1-000001": "…1-000001", "aa-2-000001": "…2-000001"}


def test_a_short_id_is_shown_in_full() -> None:
    assert abbreviate_ids(["c1", "c12345", ""]) == {"c1": "c1", "c12345": "c12345", "": ""}


@given(st.lists(st.text(max_size=12), max_size=8))
def test_no_two_look_the_same(ids: list[str]) -> None:
    shown = abbreviate_ids(ids)
    assert set(shown) == set(ids)
    assert all(one.endswith(short.removeprefix("…")) for one, short in shown.items())
    assert len({short for short in shown.values() if "…" not in "".join(ids)}) in (0, len(shown))
