"""A plug-in package whose verifiers try the background runner's patience."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import ClassVar, cast

from workbench.model.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Isolation


class Slow:
    """Takes its time until the file ``$HURRY`` is there; writes down what it is asked before it answers."""

    description: ClassVar[str] = "Takes its time"
    options: ClassVar[dict[str, str]] = {"ms": "milliseconds an item", "journal": "file of the items seen"}
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "slow"
    version: str = "1"
    isolation: Isolation = "inline"

    def __init__(self, ms: str = "10", journal: str = "") -> None:
        self.seconds = float(ms) / 1000
        self.journal = Path(journal) if journal else None

    def config(self) -> dict[str, object]:
        return {"ms": self.seconds * 1000, "journal": str(self.journal)}

    def verify(self, item: VerifierInput) -> Verdict:
        if self.journal is not None:
            with self.journal.open("a") as stream:
                stream.write(f"{item.item}\n")
        if not Path(os.environ["HURRY"]).exists():
            time.sleep(self.seconds)
        return Verdict(outcome=Outcome.CORRECT, reason="slept", candidate_final=str(item.item))


class SlowApart(Slow):
    """The same in worker processes."""

    name: str = "slow-apart"
    isolation: Isolation = "process"


class Moody:
    """Does what the completion says: hangs, crashes, raises, or answers nonsense."""

    description: ClassVar[str] = "Does what the completion says"
    options: ClassVar[dict[str, str]] = {}
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "moody"
    version: str = "1"
    isolation: Isolation = "process"

    def config(self) -> dict[str, object]:
        return {}

    def verify(self, item: VerifierInput) -> Verdict:
        if item.completion == "hang":
            time.sleep(3600)
        if item.completion == "crash":
            os._exit(9)
        if item.completion == "raise":
            raise ValueError("no such thing")
        if item.completion == "no memory":
            raise MemoryError
        if item.completion == "nonsense":
            return cast("Verdict", "correct")
        return Verdict(outcome=Outcome.CORRECT)


class MoodyInline(Moody):
    """The same, in the runner's own process."""

    name: str = "moody-inline"
    isolation: Isolation = "inline"
