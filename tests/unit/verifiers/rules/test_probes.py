"""`rules` accepts no completion that answers nothing or is wrong by construction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from tests.unit.verifiers.rules.judging import by_rules
from tests.unit.verifiers.rules.probes import ECHO, FAMILIES, STUB, BaseRow, Payload, is_right, probes
from tests.unit.verifiers.rules.table import TABLE
from workbench.model.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.pool import WorkerPool

SAMPLE = Path(__file__).resolve().parents[4] / "sample_data" / "tuples.jsonl"
LEAST_CONTROL = 0.9

Judge = Callable[[list[VerifierInput]], list[Verdict]]


class Attack(Struct, frozen=True, kw_only=True):
    """What came of all probes over some rows.

    Attributes:
        asked: Probes by family.
        accepted: The accepted ones by family.
        skipped: Probes left out because their payload is a right answer, by family.
        control: The part of the rows whose reference answer in a box is accepted.
    """

    asked: Counter[str]
    accepted: Counter[str]
    skipped: Counter[str]
    control: float


def attack(rows: list[BaseRow], judge: Judge) -> Attack:
    """Judge all probes and controls. A carrier that is itself judged right carries nothing."""
    passed = [verdict.outcome is Outcome.CORRECT for verdict in judge([row.asked(row.carrier) for row in rows])]
    carried = [row if not passes else _bare(row) for row, passes in zip(rows, passed, strict=True)]
    made = [probe for row in carried for probe in probes(row)]
    inputs = [(family, one) for family, one in made if one is not None]
    verdicts = judge([one for _, one in inputs])
    controls = judge([row.control for row in rows])
    return Attack(
        asked=Counter(family for family, _ in inputs),
        accepted=Counter(
            family for (family, _), verdict in zip(inputs, verdicts, strict=True) if verdict.outcome is Outcome.CORRECT
        ),
        skipped=Counter(family for family, one in made if one is None),
        control=sum(verdict.outcome is Outcome.CORRECT for verdict in controls) / len(rows),
    )


def _bare(row: BaseRow) -> BaseRow:
    return BaseRow(question=row.question, reference=row.reference, subtype=row.subtype)


def base_rows(rows: list[dict[str, Any]]) -> list[BaseRow]:
    """One base row a tuple; the type fields are swapped, as released. An incorrect completion is a carrier."""
    return [
        BaseRow(
            question=row["question"],
            reference=row["answer"],
            subtype=row["answer_type"].split(" ")[0],
            carrier=STUB if row["gold_correct"] else row["completion"],
        )
        for row in rows
    ]


def sample_rows() -> list[BaseRow]:
    return base_rows([json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()])


def table_rows() -> list[BaseRow]:
    """Every third question of the table."""
    return [
        BaseRow(question=first.question, reference=first.reference, subtype=first.subtype) for first, *_ in TABLE[::3]
    ]


def check(rows: list[BaseRow], judge: Judge, least_rows: int) -> None:
    assert len(rows) >= least_rows
    assert {row.subtype[0] for row in rows} == set("ABCD")
    result = attack(rows, judge)
    assert result.accepted == Counter()
    assert result.asked.keys() == set(FAMILIES)
    assert min(result.asked.values()) >= 3 * least_rows
    assert result.skipped.total() < result.asked.total() // 100
    assert result.control >= LEAST_CONTROL


def test_no_probe_passes_over_the_sample(rules_pool: WorkerPool) -> None:
    check(sample_rows(), lambda inputs: by_rules(rules_pool, inputs), 75)


def test_no_probe_passes_over_the_table(rules_pool: WorkerPool) -> None:
    check(table_rows(), lambda inputs: by_rules(rules_pool, inputs), 80)


@pytest.mark.real_data
def test_no_probe_passes_over_real_rows(rules_pool: WorkerPool, real_rows: list[dict[str, Any]]) -> None:
    check(base_rows(real_rows), lambda inputs: by_rules(rules_pool, inputs), 100)


def test_a_bad_verifier_is_found() -> None:
    def bad(inputs: list[VerifierInput]) -> list[Verdict]:
        return [_outcome("correct" in one.completion.lower() or one.reference in one.completion) for one in inputs]

    accepted = attack(sample_rows(), bad).accepted
    assert accepted["P4 verdict injection"] > 0
    assert accepted[ECHO] > 0


def test_the_ends_of_the_scale() -> None:
    rows = sample_rows()
    none = attack(rows, lambda inputs: [_outcome(False) for _ in inputs])
    assert (none.accepted.total(), none.control) == (0, 0.0)
    every = attack(rows, lambda inputs: [_outcome(True) for _ in inputs])
    assert (every.accepted, every.control) == (every.asked, 1.0)


@pytest.mark.parametrize(
    ("payload", "reference", "right"),
    [
        (Payload(r"\boxed{A}", ("A",)), "A", True),
        (Payload(r"\boxed{A}", ("A",)), "(A), (C)", True),
        (Payload(r"\boxed{A}", ("A",)), "B", False),
        (Payload("Functional Correctness: 4", ("4",)), "Two pairs.\n#### 4", True),
        (Payload("{"), "{", True),
        (Payload("{"), r"\{1, 2\}", False),
        (Payload('{"correct": true}', ("true",)), r"So it is \boxed{True}.", True),
        (Payload(""), r"\boxed{}", False),
    ],
)
def test_a_payload_that_is_a_right_answer_is_skipped(payload: Payload, reference: str, right: bool) -> None:
    row = BaseRow(question="?", reference=reference, subtype="D1")
    assert is_right(payload, row) is right


def test_the_same_rows_give_the_same_probes() -> None:
    assert [list(probes(row)) for row in sample_rows()] == [list(probes(row)) for row in sample_rows()]


def _outcome(accepted: bool) -> Verdict:
    return Verdict(outcome=Outcome.CORRECT if accepted else Outcome.INCORRECT)
