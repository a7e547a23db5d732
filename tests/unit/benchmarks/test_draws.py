"""Draws are reproducible and stable when rows are added."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.data.alike import drawn_number, first_drawn, in_drawn_order, random_generator

KEYS = st.lists(st.text(max_size=5), unique=True, max_size=30)


def keyed(values: list[str], seed: int = 0) -> list[str]:
    return in_drawn_order(values, seed, lambda value: (value,))


def test_an_order_is_the_same_on_every_python() -> None:
    assert "".join(keyed(list("abcdefgh"), 7)) == "cbhgfdae"


def test_a_draw_is_the_same_on_every_python() -> None:
    assert [random_generator(1, "q", 2).randrange(100) for _ in range(2)] == [
        random_generator(1, "q", 2).randrange(100)
    ] * 2
    assert random_generator(1, "q", 2).random() != random_generator(1, "q2", "").random()


@given(KEYS, KEYS, st.integers())
def test_more_values_leave_the_others_in_their_order(values: list[str], more: list[str], seed: int) -> None:
    before = keyed(values, seed)
    after = keyed(list(dict.fromkeys([*more, *values])), seed)

    assert [value for value in after if value in set(values)] == before


@given(KEYS)
def test_the_order_of_values_does_not_matter(values: list[str]) -> None:
    assert keyed(values) == keyed(values[::-1])


@given(KEYS, st.integers(0, 9), st.integers())
def test_the_first_ones_are_those_of_the_whole_order(values: list[str], count: int, seed: int) -> None:
    assert first_drawn(values, count, seed, lambda value: (value,)) == keyed(values, seed)[:count]


def test_a_drawn_number_is_the_same_on_every_python() -> None:
    assert [drawn_number(0, "q", place) for place in range(3)] == [5648472, 98233, 9261804]
