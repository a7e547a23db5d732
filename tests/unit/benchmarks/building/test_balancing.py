"""The choice of questions of a balanced benchmark: exact without caps, as full as possible with them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.benchmarks.building.rule_questions import question
from workbench.benchmarks.capping import Caps, Chosen, Question, shortage
from workbench.benchmarks.quotas import Quotas, balance, choose, undivided
from workbench.core.sets import Fill

NO_CAPS = Caps()


def keys(chosen: Chosen) -> list[str]:
    return [one.key for one, _ in chosen]


def by_subtype(one: Question) -> str:
    return one.subtype


def test_each_stratum_gives_its_quota_and_each_question_one_of_each() -> None:
    questions = [question(number, "++--", f"A{number % 3}") for number in range(30)]
    chosen = choose(questions, by_subtype, {"A0": 4, "A1": 2, "A2": 0}, NO_CAPS, 1)

    assert Counter(one.subtype for one, _ in chosen) == {"A0": 4, "A1": 2}
    assert all([one.correct for one in both] == [True, False] for _, both in chosen)


def test_added_questions_change_as_little_as_possible() -> None:
    few = [question(number, "+-") for number in range(40)]
    more = [*few, *[question(number, "+-") for number in range(40, 60)]]
    before, after = (set(keys(choose(some, by_subtype, {"A1": 20}, NO_CAPS, 5))) for some in (few, more))

    assert before - after != set()
    assert len(before - after) == len({key for key in after if int(key[1:]) >= 40})


def test_caps_that_do_not_bind_change_nothing() -> None:
    questions = [question(number, "+-", source=f"s{number % 2}") for number in range(20)]
    free = choose(questions, by_subtype, {"A1": 5}, NO_CAPS, 2)
    assert choose(questions, by_subtype, {"A1": 5}, Caps(source=5, model=99), 2) == free


def test_a_cap_holds_and_the_choice_is_deterministic() -> None:
    questions = [question(number, "+-", source=f"s{number // 10}") for number in range(20)]
    chosen = choose(questions, by_subtype, {"A1": 12}, Caps(source=3), 2)

    assert Counter(one.source for one, _ in chosen) == {"s0": 3, "s1": 3}
    assert keys(chosen) == ["q1", "q7", "q8", "q12", "q13", "q16"]


def test_no_unlucky_first_choice_costs_a_question() -> None:
    # Choosing the first question with models a and b excludes both others.
    questions = [question(1, "+-", models="ab"), question(2, "+-", models="ac"), question(3, "+-", models="bd")]
    for seed in range(6):
        assert sorted(keys(choose(questions, by_subtype, {"A1": 3}, Caps(model=1), seed))) == ["q2", "q3"]


SMALL = st.lists(
    st.tuples(
        st.text("+-", min_size=2, max_size=3).filter(lambda said: "+" in said and "-" in said),
        st.sampled_from(["A1", "A2"]),
        st.sampled_from(["s", "t"]),
        st.text("abc", min_size=3, max_size=3),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=25)
@given(SMALL, st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(0, 3))
def test_no_choice_within_caps_has_more(
    rows: list[tuple[str, str, str, str]], first: int, second: int, per_source: int, seed: int
) -> None:
    questions = [
        question(number, said, subtype, source=source, models=models)
        for number, (said, subtype, source, models) in enumerate(rows)
    ]
    quotas, caps = {"A1": first, "A2": second}, Caps(source=per_source, model=2)
    chosen = choose(questions, by_subtype, quotas, caps, seed)

    assert caps.are_met(chosen)
    assert all(count <= quotas[name] for name, count in Counter(one.subtype for one, _ in chosen).items())
    assert len(set(keys(chosen))) == len(chosen)
    assert len(chosen) == most_by_hand(questions, quotas, caps)


def most_by_hand(questions: list[Question], quotas: dict[str, int], caps: Caps) -> int:
    """The largest choice that holds, by trying all."""
    for size in range(len(questions), 0, -1):
        for some in combinations(questions, size):
            if any(count > quotas[name] for name, count in Counter(one.subtype for one in some).items()):
                continue
            ways = [
                [(yes, no) for yes in one.completions if yes.correct for no in one.completions if not no.correct]
                for one in some
            ]
            if any(caps.are_met(list(zip(some, way, strict=True))) for way in product(*ways)):
                return size
    return 0


def test_a_short_subtype_is_filled_only_on_request() -> None:
    questions = [question(number, "+-", "A1" if number < 3 else "A2") for number in range(30)]
    quotas = Quotas({"A": {"A1": 5, "A2": 5}, "B": {"B": 4}})
    taken = {fill: dict(balance(questions, quotas, NO_CAPS, fill, 0).taken) for fill in get_args(Fill)}
    assert taken == {"none": {"A1": 3, "A2": 5}, "subtypes": {"A1": 3, "A2": 7}, "types": {"A1": 3, "A2": 11}}


def test_items_excluded_by_caps_are_replaced_from_other_subtypes() -> None:
    questions = [
        *[question(number, "+-", "A1", source="one") for number in range(10)],
        *[question(number, "+-", "A2", source=f"s{number}") for number in range(10, 20)],
    ]
    found = balance(questions, Quotas({"A": {"A1": 4, "A2": 4}}), Caps(source=1), "subtypes", 0)
    assert found.taken == {"A1": 1, "A2": 7}


def test_every_requested_type_is_reported() -> None:
    found = balance([question(1, "+-")], undivided(2, set()), NO_CAPS, "none", 0)
    assert found.available == {"A": {"A": 1}, "B": {}, "C": {}, "D": {}}
    assert shortage(found.chosen[0][0], 1) is None
