"""Which five solutions of a problem a model would be shown, for pass vectors in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from workbench.coding.evolution.representatives import adversarial, discriminative
from workbench.coding.records.evolution import Mode, Objective, Representatives
from workbench.coding.vectors import read
from workbench.core.item import Refusal


def representatives(
    path: Path, mode: Mode, *, objective: Objective = "released", seed: int = 0
) -> Iterator[Representatives | Refusal]:
    """The choice for each case of a file, in order, and why a line can't be taken.

    Args:
        objective: By what an adversarial step chooses three beside the two best.
        seed: Of the draws of each case, so that 0 gives what the released functions return after ``random.seed(0)``.

    Raises:
        FormatError: The file can't be read.
    """
    for line, case in read(path):
        if isinstance(case, Refusal):
            yield case
            continue
        chance = Random(seed)
        chosen = (
            adversarial(case.vectors, chance, objective)
            if mode == "adversarial"
            else discriminative(case.vectors, chance)
        )
        yield Representatives(
            name=case.name or str(line),
            selected=tuple(chosen),
            mode=mode,
            objective=objective if mode == "adversarial" else None,
            seed=seed,
            solutions=len(case.vectors),
        )
