"""Stratified samples."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from workbench.benchmarks.quotas import sample, strata
from workbench.core.sets import Stratum

SIZES = st.dictionaries(st.sampled_from("abcde"), st.integers(0, 60), min_size=1)


def drawn(sizes: dict[str, int], count: int, seed: int = 0) -> dict[str, list[tuple[str, int]]]:
    def members(name: str) -> Iterator[tuple[str, int]]:
        return ((name, number) for number in range(sizes[name]))

    return sample(sizes, count, members, seed, lambda one: one)


@given(SIZES, st.integers(0, 150))
def test_the_sample_follows_its_strata(sizes: dict[str, int], count: int) -> None:
    told = strata(sizes, count)

    assert {one.name: one.taken for one in told} == {name: len(some) for name, some in drawn(sizes, count).items()}
    assert sum(one.taken for one in told) == min(count, sum(sizes.values()))
    assert {one.name: one.population for one in told} == sizes


def test_a_stratum_smaller_than_its_quota_is_reported() -> None:
    assert strata({"a": 2, "b": 2}, 10) == (
        Stratum(name="a", population=2, quota=5, taken=2),
        Stratum(name="b", population=2, quota=5, taken=2),
    )


def test_added_members_of_a_stratum_do_not_affect_the_others() -> None:
    before, after = drawn({"a": 50, "b": 50}, 20), drawn({"a": 50, "b": 60}, 22)

    assert before["a"] == after["a"]
    assert [one for one in after["b"] if one in before["b"]] == [one for one in before["b"] if one in after["b"]]
    assert len(set(before["b"]) - set(after["b"])) <= len([one for one in after["b"] if one[1] >= 50])


def test_it_is_the_same_everywhere() -> None:
    assert drawn({"a": 9, "b": 5}, 4, seed=3) == {"a": [("a", 2), ("a", 5), ("a", 1)], "b": [("b", 4)]}


def test_sampling_a_large_pool_uses_little_memory() -> None:
    tracemalloc.start()
    taken = drawn({"a": 10_000}, 10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(taken["a"]) == 10
    assert peak < 100_000
