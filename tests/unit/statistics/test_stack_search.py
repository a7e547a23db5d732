"""The search of the best stack: what it counts, what it finds, and that it finds nothing in noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench.stacks import noise
from workbench.core.verdict import Outcome
from workbench.statistics.confusion import grade
from workbench.statistics.folds import fold_of
from workbench.statistics.stack_search import (
    BOTH,
    CandidateStage,
    Pool,
    Rule,
    StackSearch,
    cheapest_not_worse,
    cross_fitted,
    front,
    most_accurate,
)
from workbench.statistics.stacks import StageVerdicts, decide_by_stage, simulate_stack

CORRECT = Rule((Outcome.CORRECT,))


def pool(outcomes: Any, gold: Any, cost: Any, **more: Any) -> Pool:
    items = len(gold)
    question = more.pop("question", np.arange(items) // 2)
    given: dict[str, Any] = {
        "scores": (None,) * len(outcomes),
        "type": np.zeros(items, dtype=np.int64),
        "untyped": -1,
        "protocol": "forced",
    }
    return Pool(
        outcomes=np.array(outcomes, dtype=np.int8),
        gold=np.array(gold, dtype=np.int8),
        question=question,
        fold=fold_of(question, 5),
        cost=np.ones((len(outcomes), items)) * np.array(cost)[:, None],
        **{**given, **more},
    )


def everywhere(search: StackSearch) -> Any:
    return np.ones(search.folds, dtype=np.bool_)


@pytest.mark.parametrize("protocol", ["forced", "strict", "decided"])
def test_every_candidate_is_counted_as_it_would_judge(protocol: str) -> None:
    rng = np.random.default_rng(1)
    items = 80
    outcomes, gold = rng.integers(0, 4, (3, items)), rng.integers(0, 2, items)
    scores = (rng.random(items), None, np.where(rng.random(items) < 0.2, np.nan, rng.integers(0, 5, items)))
    given = pool(outcomes, gold, [1, 2, 5], scores=scores, type=rng.integers(0, 3, items), protocol=protocol)
    search = StackSearch(given, 3)
    assert len(search.found.candidates) > 200
    shares, costs = search.shares(everywhere(search))
    for place, candidate in enumerate(search.found.candidates):
        stages = [
            StageVerdicts(
                one.verifier,
                given.outcomes[one.verifier],
                decide_by_stage(
                    given.outcomes[one.verifier], scores[one.verifier], one.rule.outcomes, one.rule.least, one.rule.most
                ),
                np.ones(items, dtype=np.bool_),
            )
            for one in candidate
        ]
        real = simulate_stack(stages, 3)
        graded = grade(real.outcome, given.gold, given.protocol)
        assert shares[place] == pytest.approx(graded.right.sum() / graded.counted.sum())
        assert costs[place] == pytest.approx((given.cost * real.asked).sum() / items)
        said = search.pattern_verdicts(candidate)
        assert (said.outcome[search.pattern] == real.outcome).all()
        assert (said.asked[:, search.pattern] == real.asked).all()


def planted() -> Pool:
    """Rules that accept rightly wherever they accept, and a dear judge that is nearly always right."""
    rng = np.random.default_rng(3)
    gold = rng.integers(0, 2, 600)
    rules = np.where((gold == 1) & (rng.random(600) < 0.6), 1, 0)
    judge = np.where(rng.random(600) < 0.05, 1 - gold, gold)
    return pool([rules, judge], gold, [0.0, 10.0])


def test_rules_before_a_judge_are_found() -> None:
    search = StackSearch(planted(), 3)
    found = cross_fitted(search, most_accurate())
    assert found.chosen == (CandidateStage(0, CORRECT), CandidateStage(1, BOTH))
    assert found.by_fold == [found.chosen] * 5
    share, cost = search.worth(search.pattern_verdicts(found.chosen), everywhere(search))
    judge, dear = search.worth(search.pattern_verdicts((CandidateStage(1),)), everywhere(search))
    assert share > judge
    assert cost < 0.8 * dear


def test_under_a_price_nothing_dearer_is_chosen() -> None:
    search = StackSearch(planted(), 3)
    assert most_accurate(5.0)(search, everywhere(search)) == (CandidateStage(0, BOTH),)
    assert most_accurate(-1.0)(search, everywhere(search)) == (CandidateStage(0, BOTH),)


def test_the_cheapest_that_is_not_worse() -> None:
    search = StackSearch(planted(), 3)
    assert cheapest_not_worse(1, 0.01)(search, everywhere(search)) == (
        CandidateStage(0, CORRECT),
        CandidateStage(1, BOTH),
    )
    assert cheapest_not_worse(1, 0.9)(search, everywhere(search)) == (CandidateStage(0, BOTH),)
    assert cheapest_not_worse(0, 0.0)(search, everywhere(search)) == (CandidateStage(0, BOTH),)


def test_what_is_cheap_by_luck_is_not_called_as_good() -> None:
    """As accurate on the items at hand within the margin, but the interval says that nobody knows."""
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 2, 60)
    cheap, dear = (np.where(rng.random(60) < wrong, 1 - gold, gold) for wrong in (0.2, 0.2))
    search = StackSearch(pool([cheap, dear], gold, [0.0, 10.0]), 1)
    assert cheapest_not_worse(1, 0.02)(search, everywhere(search)) == (CandidateStage(1),)


def test_a_stage_is_kept_from_the_types_it_errs_on() -> None:
    rng = np.random.default_rng(7)
    gold, kind = rng.integers(0, 2, 600), np.repeat(np.arange(2), 300)
    first = np.where(kind == 0, gold, 1)
    second = np.where(rng.random(600) < 0.1, 1 - gold, gold)
    search = StackSearch(pool([first, second], gold, [0.0, 10.0], type=kind), 2)
    found = cross_fitted(search, most_accurate())
    assert found.chosen[0].types in (frozenset({0}), frozenset({1}))
    assert (grade(found.outcome, search.pool.gold, "forced").right[:300]).all()


def test_the_front_rises() -> None:
    search = StackSearch(planted(), 3)
    caps = front(search, 8)
    assert caps == sorted(caps)
    assert np.isinf(caps[-1])
    worth = [
        search.worth(search.pattern_verdicts(most_accurate(cap)(search, everywhere(search))), everywhere(search))
        for cap in caps
    ]
    assert worth == sorted(worth)
    assert all(cost <= cap for (_, cost), cap in zip(worth, caps, strict=True))
    assert len(front(search, 2)) == 2


def test_folds_keep_questions_whole() -> None:
    search = StackSearch(planted(), 2)
    parts = {
        tuple(set(search.pool.fold[search.pool.question == one].tolist())) for one in set(search.pool.question.tolist())
    }
    assert parts == {(0,), (1,), (2,), (3,), (4,)}


def test_a_stack_chosen_on_noise_gains_nothing() -> None:
    gain, apparent = np.array([noise(seed, items=150) for seed in range(40)]).T
    spread = gain.std(ddof=1) / np.sqrt(len(gain))
    assert abs(gain.mean()) < 4 * spread
    # What the choice was made on says otherwise.
    assert apparent.mean() > 3 * spread
    assert apparent.mean() > 0.03
