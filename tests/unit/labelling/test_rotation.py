"""Rotation of annotator combinations: balanced in each stratum and overall, within the caps."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, islice

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.labelling.assigning import SlotSubject, balanced_combinations, choose_annotators

PEOPLE = st.integers(2, 6).map(lambda count: list(range(1, count + 1)))


def spread(counts: Counter[frozenset[int]], people: list[int], size: int) -> int:
    every = [counts[frozenset(combination)] for combination in combinations(people, size)]
    return max(every) - min(every)


@settings(max_examples=60, deadline=None)
@given(people=PEOPLE, strata=st.lists(st.sampled_from("xyz"), max_size=80), data=st.data())
def test_combinations_are_balanced_in_each_stratum_and_overall(
    people: list[int], strata: list[str], data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, len(people)))
    subjects = [SlotSubject(stratum=stratum, missing=size) for stratum in strata]
    drawn = choose_annotators(subjects, people, size, {}, "seed")
    assert all(len(set(chosen)) == size for chosen in drawn)
    for stratum in {*strata}:
        of_it = Counter(
            frozenset(chosen) for chosen, subject in zip(drawn, subjects, strict=True) if subject.stratum == stratum
        )
        assert spread(of_it, people, size) <= 1
    assert spread(Counter(map(frozenset, drawn)), people, size) <= 1


@settings(max_examples=60, deadline=None)
@given(people=PEOPLE, strata=st.lists(st.sampled_from("xyz"), max_size=60), data=st.data())
def test_capacities_are_respected_and_fully_used(people: list[int], strata: list[str], data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(people)))
    room = data.draw(st.dictionaries(st.sampled_from(people), st.integers(0, 20)))
    drawn = choose_annotators(
        [SlotSubject(stratum=stratum, missing=size) for stratum in strata], people, size, room, "seed"
    )
    counts = Counter(person for chosen in drawn for person in chosen)
    assert all(counts[person] <= most for person, most in room.items())
    left = {person for person in people if person not in room or counts[person] < room[person]}
    assert all(len(chosen) == size or left <= set(chosen) for chosen in drawn)


def test_limited_capacity_is_spread_over_the_strata() -> None:
    subjects = [SlotSubject(stratum=number % 2, missing=2) for number in range(40)]
    drawn = choose_annotators(subjects, [1, 2, 3], 2, {1: 6}, "seed")
    of_one = [subject.stratum for subject, chosen in zip(subjects, drawn, strict=True) if 1 in chosen]
    assert min(of_one.count(0), of_one.count(1)) >= 2


def test_annotators_of_an_item_are_not_drawn_for_it_again() -> None:
    subjects = [SlotSubject(stratum="", missing=1, taken=frozenset({1, 2}))] * 6
    drawn = choose_annotators(subjects, [1, 2, 3, 4], 3, {}, "seed")
    assert {person for chosen in drawn for person in chosen} == {3, 4}


def test_the_first_combinations_use_all_annotators_equally() -> None:
    first = list(islice(balanced_combinations(list(range(9)), 2, "seed"), 9))
    assert set(Counter(person for pair in first for person in pair).values()) == {2}


def test_the_same_seed_gives_the_same_and_another_one_does_not() -> None:
    people = list(range(6))
    assert (
        [*balanced_combinations(people, 2, "a")]
        == [*balanced_combinations(people, 2, "a")]
        != [*balanced_combinations(people, 2, "b")]
    )


def test_very_many_combinations_are_drawn_without_listing_them() -> None:
    drawn = choose_annotators([SlotSubject(stratum="", missing=15)] * 30, list(range(30)), 15, {}, "seed")
    assert len(set(drawn)) == 30
    assert set(Counter(person for chosen in drawn for person in chosen).values()) == {15}
