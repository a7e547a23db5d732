"""`rules` accepts no completion that answers nothing or is wrong by construction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.verifiers.rules.judging import by_rules
from tests.unit.verifiers.rules.probes import FAMILIES, Judge, attack, base_rows
from tests.unit.verifiers.rules.table import TABLE
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.statistics.records.probe import BaseRow
from workbench.verifiers.probes.building import families_named, probes, verifier_input

SAMPLE = Path(__file__).resolve().parents[4] / "sample_data" / "tuples.jsonl"
LEAST_CONTROL = 0.9
NOT_THE_ANSWER = families_named(("P19", "P20", "P21", "P22"))
LEAST_ALTERED = 250


def sample_rows() -> list[BaseRow]:
    return base_rows(json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines())


def table_rows() -> list[BaseRow]:
    """Every third question of the table."""
    return [
        BaseRow(
            question_id=number,
            key=f"t{number}",
            question=first.question,
            reference=first.reference,
            type=(first.subtype or "D")[0],
            subtype=first.subtype,
        )
        for number, (first, *_) in enumerate(TABLE[::3], 1)
    ]


def check(rows: list[BaseRow], judge: Judge, least_rows: int) -> None:
    assert len(rows) >= least_rows
    assert {row.type for row in rows} == set("ABCD")
    result = attack(rows, judge)
    assert result.accepted == Counter()
    assert result.asked.keys() == {family.family for family in FAMILIES}
    assert min(result.asked.values()) >= 3 * least_rows
    assert result.skipped.total() < result.asked.total() // 100
    assert result.control >= LEAST_CONTROL


def test_no_probe_passes_over_the_sample() -> None:
    check(sample_rows()[::4], by_rules, 18)


@pytest.mark.soak
def test_no_probe_passes_over_the_table() -> None:
    check(table_rows()[::4], by_rules, 20)


@pytest.mark.few(2)
@pytest.mark.parametrize("rows", [sample_rows, table_rows], ids=["sample", "table"])
def test_no_answer_that_is_altered_denied_or_unsolved_passes(rows: Callable[[], list[BaseRow]]) -> None:
    made = [probe for probe in probes(rows()[::5], NOT_THE_ANSWER, seed=11) if probe.completion is not None]
    verdicts = by_rules([verifier_input(probe) for probe in made])
    accepted = [probe.completion for probe, one in zip(made, verdicts, strict=True) if one.outcome is Outcome.CORRECT]
    assert accepted == []
    assert {probe.family.family for probe in made} >= {"P19", "P20", "P21"}
    assert len(made) > LEAST_ALTERED


@pytest.mark.soak
@pytest.mark.real_data
def test_no_real_answer_that_is_altered_denied_or_unsolved_passes(real_rows: list[dict[str, Any]]) -> None:
    rows = base_rows(real_rows)[::8]
    made = [probe for probe in probes(rows, NOT_THE_ANSWER, seed=11) if probe.completion is not None]
    verdicts = by_rules([verifier_input(probe) for probe in made])
    assert [probe.payload.id for probe, one in zip(made, verdicts, strict=True) if one.outcome is Outcome.CORRECT] == []


@pytest.mark.soak
@pytest.mark.parametrize(("rows", "least"), [(sample_rows, 75), (table_rows, 80)], ids=["sample", "table"])
def test_no_probe_passes_over_all_of_it(rows: Callable[[], list[BaseRow]], least: int) -> None:
    check(rows(), by_rules, least)


@pytest.mark.soak
@pytest.mark.real_data
def test_no_probe_passes_over_real_rows(real_rows: list[dict[str, Any]]) -> None:
    check(base_rows(real_rows)[::6], by_rules, 17)


@pytest.mark.soak
@pytest.mark.real_data
def test_no_probe_passes_over_all_real_rows(real_rows: list[dict[str, Any]]) -> None:
    check(base_rows(real_rows), by_rules, 100)


def test_a_bad_verifier_is_found() -> None:
    def bad(inputs: list[VerifierInput]) -> list[Verdict]:
        return [_outcome("correct" in one.completion.lower() or one.reference in one.completion) for one in inputs]

    accepted = attack(sample_rows(), bad).accepted
    assert accepted["P4"] > 0
    assert accepted["P11"] > 0


def test_the_ends_of_the_scale() -> None:
    rows = sample_rows()
    none = attack(rows, lambda inputs: [_outcome(False) for _ in inputs])
    assert (none.accepted.total(), none.control) == (0, 0.0)
    every = attack(rows, lambda inputs: [_outcome(True) for _ in inputs])
    assert (every.accepted, every.control) == (every.asked, 1.0)


def _outcome(accepted: bool) -> Verdict:
    return Verdict(outcome=Outcome.CORRECT if accepted else Outcome.INCORRECT)
