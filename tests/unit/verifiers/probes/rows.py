"""Invented base rows for tests of probes."""

from __future__ import annotations

from msgspec import structs

from workbench.statistics.records.probe import BaseRow
from workbench.verifiers.probes.building import Probe, families_named, probes

SUM = BaseRow(
    question_id=1,
    key="q1",
    question="What is 3 + 4?",
    reference=r"3 + 4 = \boxed{7}",
    type="A",
    subtype="A1",
    right="We add the two numbers. First 3, and then 4 more. That makes 7 in all.\n\n$\\boxed{7}$",
    wrong="Three times four.\n\n$\\boxed{12}$",
)
PROGRAM = BaseRow(
    question_id=2,
    key="q2",
    question="Write double(n).\n>>> double(2)\n4\n\ndouble(5) == 10",
    reference='def double(n: int) -> int:\n    """Twice."""\n    return 2 * n',
    right="```python\ndef double(n):\n    return n + n\n```",
    wrong="def double(n):\n    return n ** 2",
)


def made(row: BaseRow, family: str, seed: int = 0, *, carried: bool = False) -> dict[str, Probe]:
    """A family's probes on a row, by payload."""
    row = structs.replace(row, carrier=row.wrong) if carried else row
    return {probe.payload.id: probe for probe in probes([row], families_named((family,)), seed)}


def texts(row: BaseRow, family: str, *, carried: bool = False) -> dict[str, str | None]:
    """A family's completions on a row; None for those left out."""
    return {name: probe.completion for name, probe in made(row, family, carried=carried).items()}
