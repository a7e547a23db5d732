"""Selection against worked cases, the released results, and an independent implementation of both rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.coding.ranking.selecting import one_of_each_score, select
from workbench.core.errors import FormatError
from workbench.statistics.records.ranking import Candidate, Picked, Rules


def candidate(id: int, score: float, seconds: float = 1.0, *, truth: bool = False, errors: bool = False) -> Candidate:
    return Candidate(id=id, score=score, seconds=seconds, ground_truth=truth, only_errors=errors)


def of_scores(*scores: float) -> list[Candidate]:
    """The first is the ground truth."""
    return [candidate(place, score, truth=place == 0) for place, score in enumerate(scores)]


def picked(candidates: Sequence[Candidate], k: int = 5, rules: Rules = "released", *, exact: bool = False) -> Picked:
    return select(candidates, k, rules=rules, exact=exact, place="task")


def scores(found: Picked) -> list[float]:
    return [one.score for one in found.ranked]


def from_rows(rows: Sequence[dict[str, Any]]) -> list[Candidate]:
    return [
        candidate(row["id"], row["average_test_score"], row["average_time_taken"], truth=row["rank"] == 1)
        for row in rows
    ]


def test_the_worked_cases_equal_the_release(shared_data: Path) -> None:
    cases = json.loads((shared_data / "code" / "kselect_cases.json").read_text(encoding="utf-8"))
    for name, case in cases.items():
        found = [[one.id, one.score, one.rank] for one in picked(from_rows(case["input"])).ranked]
        assert found == case["released"], name


def test_real_problems_equal_the_release(shared_data: Path) -> None:
    text = (shared_data / "code" / "real_kselect.jsonl").read_text(encoding="utf-8")
    for row in map(json.loads, text.splitlines()):
        found = [[one.id, one.score, one.rank] for one in picked(from_rows(row["candidates"])).ranked]
        assert found == row["selected"], row["task_id"]


@pytest.mark.parametrize(
    ("given_scores", "released", "paper"),
    [
        ((1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0), [1, 0.8, 0.5, 0.3, 0], [0.8, 0.6, 0.4, 0.2, 0]),
        ((1, 0.9, 0.6, 0.5, 0.3, 0.08, 0.05, 0), [1, 0.9, 0.5, 0.3, 0.05], [0.9, 0.6, 0.5, 0.3, 0.05]),
        ((1, 0.5, 0.05, 0), [1, 0.5, 0.05, 0], [1, 0.5, 0.05]),
        ((0.9, 1, 0.5, 0.2), [1, 0.9, 0.5, 0.2], [0.9, 0.5, 0.2]),
        ((1,), [1], [1]),
    ],
    ids=["ties", "low", "few", "not-perfect", "one"],
)
def test_the_two_rules_part_where_the_paper_is_read_literally(
    given_scores: tuple[float, ...], released: list[float], paper: list[float]
) -> None:
    assert scores(picked(of_scores(*given_scores))) == released
    assert scores(picked(of_scores(*given_scores), rules="formula")) == paper


def test_exact_fractions_avoid_rounding_errors() -> None:
    tied = of_scores(1, 0.85, 0.65, 0.6, 0.4, 0.1, 0)
    assert scores(picked(tied)) == [1, 0.85, 0.6, 0.1, 0]
    assert scores(picked(tied, exact=True)) == [1, 0.85, 0.6, 0.4, 0]


def test_ties_keep_the_ground_truth_or_fastest_or_first() -> None:
    same = [
        candidate(0, 1.0, 1.0),
        candidate(1, 1.0, 3.0, truth=True),
        candidate(2, 0.5, 2.0),
        candidate(3, 0.5, 1.5),
        candidate(4, 0.5, 1.5),
    ]
    found = picked(same)
    assert [(one.id, one.rank, one.ground_truth) for one in found.ranked] == [(1, 1, True), (3, 2, False)]
    assert found.dropped == {"same_score": [0, 2, 4]}
    assert found.shortfall == "few_scores"


def test_a_beaten_ground_truth_keeps_its_flag_and_loses_its_rank() -> None:
    found = picked(of_scores(0.9, 1, 0.5))
    assert [(one.rank, one.ground_truth) for one in found.ranked] == [(1, False), (2, True), (3, False)]


def test_solutions_with_only_errors_are_dropped_except_the_truth() -> None:
    found = picked([candidate(0, 0, truth=True, errors=True), candidate(1, 0.0, errors=True), candidate(2, 0.5)])
    assert [one.id for one in found.ranked] == [2, 0]
    assert found.dropped == {"only_errors": [1]}


def test_two_ground_truths_are_an_error_with_the_problems_name() -> None:
    with pytest.raises(FormatError, match="task: two solutions"):
        picked([candidate(0, 1, truth=True), candidate(1, 0.5, truth=True)])


def test_an_empty_selection_has_a_reason() -> None:
    assert picked([]).shortfall == "no_solutions"
    assert picked([], rules="formula").ranked == ()


def test_the_rule_of_the_paper_may_select_the_lowest_twice() -> None:
    assert picked(of_scores(1, 0.5, 0.05, 0), rules="formula").shortfall == "one_twice"


SCORES = st.integers(0, 100).map(lambda percent: percent / 100)
SOME = st.lists(st.tuples(SCORES, st.integers(0, 3)), min_size=1, max_size=25)


def drawn(pairs: Sequence[tuple[float, int]]) -> list[Candidate]:
    return [candidate(place, score, seconds, truth=place == 0) for place, (score, seconds) in enumerate(pairs)]


def plain(candidates: Sequence[Candidate], k: int, rules: Rules, *, exact: bool) -> list[float]:
    """Both rules once more, on sorted scores, written down as the specification words them."""
    number = (lambda score: Fraction(str(score))) if exact else float
    truth = next(one.score for one in candidates if one.ground_truth)
    left = sorted({one.score for one in candidates}, reverse=True)
    kept: set[float] = set()
    if rules == "released":
        kept = {truth}
        left.remove(truth)
        if len(left) <= k - 1:
            return sorted([truth, *left], reverse=True)
    size = k - 1 if rules == "released" else min(k, len(left))
    low = min([score for score in left if 0 < score < 0.1] or [left[-1]])
    if rules == "released":
        kept.add(low)
        left.remove(low)
    for step in range(1, size):
        share = Fraction(step, size) if exact else step / size
        target = 1 - share * (1 - number(low))
        best = min(abs(number(score) - target) for score in left)
        taken = max(score for score in left if abs(number(score) - target) == best)
        kept.add(taken)
        left.remove(taken)
    return sorted(kept | {low}, reverse=True)


@given(SOME, st.integers(2, 7), st.sampled_from(["released", "formula"]), st.booleans())
def test_a_plainer_implementation_selects_the_same(
    pairs: list[tuple[float, int]], k: int, rules: Rules, exact: bool
) -> None:
    candidates = drawn(pairs)
    assert scores(picked(candidates, k, rules, exact=exact)) == plain(candidates, k, rules, exact=exact)


@given(SOME, st.integers(2, 7), st.sampled_from(["released", "formula"]), st.randoms())
def test_invariants_of_every_selection(pairs: list[tuple[float, int]], k: int, rules: Rules, chance: Any) -> None:
    candidates = drawn(pairs)
    found = picked(candidates, k, rules)
    ids = [one.id for one in found.ranked]
    assert len(ids) <= k
    assert scores(found) == sorted(set(scores(found)), reverse=True)
    assert [one.rank for one in found.ranked] == list(range(1, len(ids) + 1))
    assert sorted([*ids, *(id for out in found.dropped.values() for id in out)]) == list(range(len(pairs)))
    assert (found.shortfall is None) == (len(ids) == k)
    if rules == "released":
        assert 0 in ids
        assert len(ids) == min(k, len({score for score, _ in pairs}))
    shuffled = list(candidates)
    chance.shuffle(shuffled)
    other = picked(shuffled, k, rules)
    assert scores(other) == scores(found)
    assert [one.seconds for one in other.ranked] == [one.seconds for one in found.ranked]


@given(SOME)
def test_selecting_from_a_selection_changes_nothing(pairs: list[tuple[float, int]]) -> None:
    found = picked(drawn(pairs))
    again = [candidate(one.rank, one.score, one.seconds, truth=one.ground_truth) for one in found.ranked]
    assert [one.id for one in picked(again).ranked] == [one.rank for one in found.ranked]


@given(SOME)
def test_one_of_each_score_is_one_of_each_score(pairs: list[tuple[float, int]]) -> None:
    distinct = one_of_each_score(drawn(pairs))
    assert [one.score for one in distinct] == sorted({score for score, _ in pairs}, reverse=True)
