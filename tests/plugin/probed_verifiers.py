"""A plug-in package whose verifiers are there to be probed: too kind, or bad at it."""

from __future__ import annotations

import os
from typing import ClassVar

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Isolation


class AlwaysCorrect:
    """Says "correct" to everything."""

    description: ClassVar[str] = "Accepts everything"
    options: ClassVar[dict[str, str]] = {}
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "always-correct"
    version: str = "1"
    isolation: Isolation = "inline"

    def config(self) -> dict[str, object]:
        return {}

    def verify(self, item: VerifierInput) -> Verdict:
        return Verdict(outcome=Outcome.CORRECT)


class Naive(AlwaysCorrect):
    """Accepts any text that holds the reference, or the word "correct"; scores by length."""

    description: ClassVar[str] = "Looks for a word"
    name: str = "naive"

    def verify(self, item: VerifierInput) -> Verdict:
        at = item.completion.find(item.reference)
        found = at >= 0 or "correct" in item.completion.lower()
        return Verdict(
            outcome=Outcome.CORRECT if found else Outcome.INCORRECT,
            score=float(len(item.completion)),
            reason="looked",
            candidate_final=item.reference if at >= 0 else None,
            candidate_span=(at, at + len(item.reference)) if at >= 0 else None,
        )


class Fragile(AlwaysCorrect):
    """Refuses everything, but hangs on one payload and crashes on another."""

    description: ClassVar[str] = "Hangs and crashes"
    name: str = "fragile"
    isolation: Isolation = "process"

    def verify(self, item: VerifierInput) -> Verdict:
        if item.completion == ".":
            while True:
                pass
        if item.completion == ",":
            os._exit(9)
        return Verdict(outcome=Outcome.INCORRECT)
