"""Near-duplicates: exactly those above the threshold to a kept question without a contradiction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.benchmarks.curating.duplicates import Wording, may_say_the_same, near_duplicates, wording


def shingles(words: list[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(words[start : start + size]) for start in range(max(len(words) - size, 0) + 1)}


def expected(texts: list[Wording], threshold: float, size: int) -> list[tuple[int, int, float]]:
    """By comparing all with all that stay."""
    stay: list[int] = []
    gone = []
    for place, text in enumerate(texts):
        alike = []
        for other in stay:
            one, two = shingles(text.tokens, size), shingles(texts[other].tokens, size)
            similarity = len(one & two) / len(one | two)
            if similarity >= threshold - 1e-9 and may_say_the_same(text, texts[other]):
                alike.append((-similarity, other))
        if alike:
            similarity, other = min(alike)
            gone.append((place, other, -similarity))
        else:
            stay.append(place)
    return gone


words = st.lists(st.sampled_from(["red", "green", "blue", "of", "the"]), max_size=9)
questions = st.builds(lambda text, answer: wording(" ".join(text), answer), words, st.sampled_from(["", "97", "Rome"]))


@given(st.lists(questions, min_size=1, max_size=12), st.sampled_from([0.3, 0.5, 0.7, 0.8, 1.0]), st.integers(1, 3))
def test_prefixes_miss_nothing(texts: list[Wording], threshold: float, size: int) -> None:
    found = near_duplicates(texts, threshold, size)
    wanted = expected(texts, threshold, size)
    assert [(one.place, one.of) for one in found] == [(place, of) for place, of, _ in wanted]
    assert [one.similarity for one in found] == pytest.approx([similarity for *_, similarity in wanted])


def test_one_of_many_copies_is_kept() -> None:
    texts = [wording(f"How many of the tulips are left{' ' * number}?", "97") for number in range(500)]
    found = near_duplicates(texts, 0.7, 2)
    assert [(one.place, one.of, one.similarity) for one in found] == [(number, 0, 1.0) for number in range(1, 500)]


CAPITAL = "What is the name of the capital city of the beautiful country of {} in the south of Europe?"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        pytest.param((CAPITAL.format("France"), "Paris"), (CAPITAL.format("Spain"), "Madrid"), False, id="template"),
        pytest.param((CAPITAL.format("France"), "A"), (CAPITAL.format("Spain"), "A"), False, id="option letters"),
        pytest.param((CAPITAL.format("France"), "yes"), (CAPITAL.format("Spain"), "yes"), False, id="yes and yes"),
        pytest.param(
            (CAPITAL.format("Holland"), "Amsterdam"), (CAPITAL.format("Netherlands"), "amsterdam."), True, id="synonyms"
        ),
        pytest.param((CAPITAL.format("Spain"), "Madrid"), (CAPITAL.format("Spain"), "Lisbon"), True, id="other label"),
        pytest.param(
            (CAPITAL.format("Spain"), "Madrid"),
            (f"Question: {CAPITAL.format('Spain')} Answer briefly.", "Madrid"),
            True,
            id="words on one side",
        ),
        pytest.param(
            ("A red ball, a red cube and a blue cone: which one rolls down?", "cone"),
            ("A red ball, a blue cube and a blue cone: which one rolls down?", "ball"),
            False,
            id="words that come again",
        ),
    ],
)
def test_templates_stay_and_wordings_go(one: tuple[str, str], other: tuple[str, str], *, alike: bool) -> None:
    assert bool(near_duplicates([wording(*one), wording(*other)], 0.6, 2)) is alike
