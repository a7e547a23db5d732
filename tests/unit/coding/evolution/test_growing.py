"""One step of a round: the accepted tests, and reproducible randomness."""

from __future__ import annotations

from collections import Counter

import pytest

from workbench.coding.evolution.growing import finish_step, plan_step
from workbench.coding.evolution.replies import ReadTests
from workbench.coding.records.evolution import MODES, EvolutionSettings, Evolved, GrowthStep, Mode, PoolStep
from workbench.core.code import CodeTest
from workbench.data.alike import random_generator

SETTINGS = EvolutionSettings(model="m")
TESTS = tuple(CodeTest(form="expression", source=f"assert f({number}) == 1") for number in range(4))
EXECUTED = ["ppff", "pfff", "ptfx"]
"""All pass the first test, one the second, nobody the others."""


def step(mode: Mode, reference: str | None) -> tuple[list[str], dict[str, int], tuple[str, ...]]:
    plan = GrowthStep(round=1, mode=mode, shown=(0, 1), view=(0,))
    found = finish_step(plan, ReadTests(TESTS, 4, Counter()), EXECUTED, reference, SETTINGS, replied=True)
    return [test.source[9:10] for test in found.tests], found.rejected, found.outcomes


def test_only_a_discriminative_step_demands_a_split() -> None:
    assert step("adversarial", None) == (["0", "1", "2", "3"], {}, tuple(EXECUTED))
    assert step("discriminative", None) == (["1"], {"no_split": 3}, ("p", "f", "t"))


def test_a_test_that_the_reference_fails_is_wrong() -> None:
    assert step("adversarial", "pfpp") == (["0", "2", "3"], {"wrong": 1}, ("pff", "pff", "pfx"))
    assert step("discriminative", "ffft") == ([], {"wrong": 4}, ("", "", ""))


@pytest.mark.parametrize("mode", MODES)
def test_a_step_is_planned_the_same_whenever_it_is(mode: Mode) -> None:
    rows = ("ppppp",) * 7 + ("pffff",)
    pool = PoolStep(solutions=tuple(range(8)), tests=TESTS + TESTS[:1], outcomes=rows)
    one = Evolved(question=1, task_id="t", source=None, pool=pool)
    first, *others = [plan_step(one, SETTINGS, 1, mode) for _ in range(20)]
    assert others == [first] * 19
    assert len({plan_step(one, SETTINGS, round, mode).shown for round in range(20)}) > 1


def test_draws_differ_by_every_part_and_by_nothing_else() -> None:
    keys = [(0, "a", 1, "x"), (0, "a", 11, "x"), (0, "a1", 1, "x"), (1, "a", 1, "x"), (0, "a", 1, "xx")]
    numbers = [random_generator(*key).random() for key in keys]
    assert len(set(numbers)) == len(keys)
    assert [random_generator(*key).random() for key in keys] == numbers
    assert random_generator(0, "own/1", 2, "final").randrange(10**6) == 658319
