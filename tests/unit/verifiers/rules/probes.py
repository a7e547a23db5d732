"""The suite's payloads on base rows, judged by whatever a test says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, structs

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.statistics.records.probe import BaseRow
from workbench.verifiers.probes.building import companions, families_named, probes, verifier_input

FAMILIES = families_named(("P1", "P2", "P3", "P4", "P5", "P6", "P11"))

Judge = Callable[[list[VerifierInput]], list[Verdict]]


class Attack(Struct, frozen=True, kw_only=True):
    """What came of all probes over some rows; the reference's own echo is left out.

    Attributes:
        asked: Probes by family.
        accepted: The accepted ones by family.
        skipped: Probes left out because their payload is a right answer, by family.
        control: The part of the rows whose right completion, or reference answer in a box, is accepted.
    """

    asked: Counter[str]
    accepted: Counter[str]
    skipped: Counter[str]
    control: float


def attack(rows: list[BaseRow], judge: Judge) -> Attack:
    """Judge all probes and controls; payloads stand behind nothing and behind a wrong completion that is refused."""
    passed = [accepts(verdict) for verdict in judge([_alone(row) for row in rows])]
    carried = [
        structs.replace(row, carrier=row.wrong)
        for row, passes in zip(rows, passed, strict=True)
        if row.wrong is not None and not passes
    ]
    made = [
        probe for probe in probes([*rows, *carried], FAMILIES, seed=11) if not probe.payload.id.startswith("reference")
    ]
    tried = [probe for probe in made if probe.completion is not None]
    verdicts = judge([verifier_input(probe) for probe in tried])
    controls = judge([verifier_input(one) for one in companions(rows, FAMILIES) if one.role == "control"])
    return Attack(
        asked=Counter(probe.family.family for probe in tried),
        accepted=Counter(
            probe.family.family for probe, verdict in zip(tried, verdicts, strict=True) if accepts(verdict)
        ),
        skipped=Counter(probe.family.family for probe in made if probe.completion is None),
        control=sum(map(accepts, controls)) / len(controls),
    )


def accepts(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.CORRECT


def _alone(row: BaseRow) -> VerifierInput:
    return VerifierInput(
        item=row.question_id,
        question=row.question,
        reference=row.reference,
        completion=row.wrong or "",
        subtype=row.subtype,
    )


def base_rows(rows: Iterable[dict[str, Any]]) -> list[BaseRow]:
    """One base row a tuple; the type fields are swapped, as released. Boxes are the controls."""
    return [
        BaseRow(
            question_id=number,
            key=row["completion_id"],
            question=row["question"],
            reference=row["answer"],
            type=row["answer_type"][0],
            subtype=row["answer_type"].split(" ")[0],
            wrong=None if row["gold_correct"] else row["completion"],
        )
        for number, row in enumerate(rows, 1)
    ]
