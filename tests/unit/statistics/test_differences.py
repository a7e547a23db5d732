"""Differences of accuracy, balanced accuracy and MCC: the one-verifier figures, a plain bootstrap, mirrors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.statistics import accuracy
from workbench.statistics.compare import PairedItems, metric_differences
from workbench.statistics.confusion import Confusion
from workbench.statistics.records.comparison import Bootstrap, MetricDifference


class Item(NamedTuple):
    gold: int
    a: bool
    b: bool
    question: int


ITEMS = st.lists(
    st.builds(Item, st.integers(0, 1), st.booleans(), st.booleans(), st.integers(0, 9)), min_size=1, max_size=60
)
DRAWS = Bootstrap(samples=200, seed=3)


def columns(items: list[Item]) -> PairedItems:
    gold, a, b, question = zip(*items, strict=True)
    return PairedItems(np.array(gold, dtype=np.int8), np.array(a), np.array(b), np.array(question))


def confusion(gold: list[int], right: list[bool]) -> Confusion:
    cells = {
        (truth, good): sum(pair == (truth, good) for pair in zip(gold, right, strict=True))
        for truth in (0, 1)
        for good in (True, False)
    }
    return Confusion(tp=cells[1, True], fn=cells[1, False], tn=cells[0, True], fp=cells[0, False])


def some(count: int = 300, seed: int = 1) -> list[Item]:
    draw = np.random.default_rng(seed)
    found = []
    for question in range(count // 3):
        ability = draw.beta(4, 2)
        for _ in range(3):
            found.append(
                Item(int(draw.random() < 0.3), bool(draw.random() < ability), bool(draw.random() < 0.6), question)
            )
    return found


@settings(deadline=None)
@given(ITEMS)
def test_both_figures_are_those_of_one_verifier_alone(items: list[Item]) -> None:
    gold = [item.gold for item in items]
    for found in metric_differences(columns(items)):
        figure = getattr(accuracy, found.metric)
        a, b = figure(confusion(gold, [item.a for item in items])), figure(confusion(gold, [item.b for item in items]))
        assert found.a == pytest.approx(a)
        assert found.b == pytest.approx(b)
        assert found.difference == (None if a is None else pytest.approx(a - b))
        assert (found.ci, found.undefined) == (None, 0)


@settings(deadline=None, max_examples=25)
@given(ITEMS)
def test_swapping_turns_every_figure_round(items: list[Item]) -> None:
    swapped = [Item(item.gold, item.b, item.a, item.question) for item in items]
    for one, other in zip(metric_differences(columns(items)), metric_differences(columns(swapped)), strict=True):
        assert (one.a, one.b) == (other.b, other.a)
        assert one.difference is None or one.difference == pytest.approx(-(other.difference or 0.0))


def plain_bootstrap(items: list[Item], samples: int, seed: int) -> dict[str, tuple[float, float]]:
    """The same by the book: draw questions, put their items together, compute, take percentiles."""
    draw = np.random.default_rng(seed)
    questions = sorted({item.question for item in items})
    of = {question: [item for item in items if item.question == question] for question in questions}
    found: dict[str, list[float]] = {}
    for _ in range(samples):
        sample = [item for place in draw.integers(len(questions), size=len(questions)) for item in of[questions[place]]]
        for difference in metric_differences(columns(sample)):
            if difference.difference is not None:
                found.setdefault(difference.metric, []).append(difference.difference)
    return {metric: tuple(np.quantile(values, (0.025, 0.975))) for metric, values in found.items()}


def test_intervals_are_those_of_a_plain_bootstrap_of_questions() -> None:
    items = some(150)
    expected = plain_bootstrap(items, 1_500, 11)
    for found in metric_differences(columns(items), Bootstrap(samples=20_000, seed=5)):
        assert found.ci == pytest.approx(expected[found.metric], abs=0.03)


def test_questions_and_not_items_are_drawn() -> None:
    alone = [item._replace(question=place) for place, item in enumerate(some(300))]
    # Three copies of every item inside its question say no more than one.
    tripled = [item for item in alone for _ in range(3)]
    as_items = [item._replace(question=place) for place, item in enumerate(tripled)]
    draws = Bootstrap(samples=4_000, seed=2)

    def widths(items: list[Item]) -> list[float]:
        return [found.ci[1] - found.ci[0] for found in metric_differences(columns(items), draws) if found.ci]

    assert widths(tripled) == pytest.approx(widths(alone), rel=0.05)
    assert all(wide > 1.5 * narrow for wide, narrow in zip(widths(tripled), widths(as_items), strict=True))


def by_metric(items: list[Item]) -> dict[str, MetricDifference]:
    return {found.metric: found for found in metric_differences(columns(items), DRAWS)}


def test_the_same_seed_gives_the_same_interval_in_any_order() -> None:
    items = some(90)
    assert by_metric(items) == by_metric(items[::-1])
    other = metric_differences(columns(items), Bootstrap(samples=200, seed=4))
    assert [found.ci for found in other] != [found.ci for found in by_metric(items).values()]


def test_one_gold_class_leaves_balanced_accuracy_and_mcc_undefined() -> None:
    found = by_metric([item._replace(gold=0) for item in some(60)])
    for metric in ("balanced_accuracy", "mcc"):
        assert found[metric] == MetricDifference(metric=metric, a=None, b=None, difference=None)
    assert found["accuracy"].ci is not None


def test_a_class_that_often_drops_out_leaves_no_interval() -> None:
    found = by_metric([Item(0, place % 2 == 0, True, place) for place in range(20)] + [Item(1, True, False, 20)])
    assert found["balanced_accuracy"].difference is not None
    assert found["balanced_accuracy"].ci is None
    assert found["balanced_accuracy"].undefined > 0.05 * DRAWS.samples


def test_two_that_never_differ_have_no_false_certainty() -> None:
    found = by_metric([Item(item.gold, item.a, item.a, item.question) for item in some(60)])
    assert [(one.difference, one.ci) for one in found.values()] == [(0.0, None)] * 3


def test_one_question_leaves_no_interval() -> None:
    assert all(found.ci is None for found in by_metric([item._replace(question=7) for item in some(60)]).values())
