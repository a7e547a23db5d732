"""A plugin verifier that loads something and has a longer time limit."""

from __future__ import annotations

import os
import time
from typing import ClassVar

from workbench.core.errors import VerifierError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Isolation
from workbench.verifiers.judging import Allowance


class Heavy:
    description: ClassVar[str] = "Loads first"
    options: ClassVar[dict[str, str]] = {"load": "yes or no", "deadline": "seconds an item may take"}
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "heavy"
    version: str = "1"
    isolation: Isolation = "process"

    def __init__(self, load: str = "yes", deadline: str = "60") -> None:
        self.allowance = Allowance(deadline_s=float(deadline))
        self._load = load
        self._loaded_in = 0

    def config(self) -> dict[str, object]:
        return {}

    def prepare(self) -> None:
        if self._load == "no":
            raise VerifierError("The weights aren't there.")
        self._loaded_in = os.getpid()

    def verify(self, item: VerifierInput) -> Verdict:
        while item.completion == "hang":
            time.sleep(1)
        # Longer than what verifiers get that don't ask for more.
        time.sleep(1.2)
        return Verdict(outcome=Outcome.CORRECT, detail=f"{self._loaded_in == os.getpid()}")
