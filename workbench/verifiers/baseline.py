"""Baselines any verifier has to beat."""

from __future__ import annotations

from typing import ClassVar

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Isolation


class AlwaysIncorrect:
    """Says "incorrect" to everything: the accuracy that knowing nothing buys."""

    description: ClassVar[str] = 'Baseline: says "incorrect" to everything'
    options: ClassVar[dict[str, str]] = {}
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "always-incorrect"
    version: str = "1"
    isolation: Isolation = "inline"

    def config(self) -> dict[str, object]:
        """It has no options."""
        return {}

    def verify(self, item: VerifierInput) -> Verdict:
        """Incorrect, whatever it is."""
        return Verdict(outcome=Outcome.INCORRECT)
