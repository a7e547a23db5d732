"""A plug-in package whose verifiers try the background runner's patience."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import ClassVar, cast

from msgspec import structs

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Isolation, Pending


def deed(word: str) -> None:
    """Hang, crash or raise, if the word says so."""
    while word == "hang":
        pass
    if word == "crash":
        os._exit(9)
    if word == "raise":
        raise ValueError("no such thing")
    if word == "no memory":
        raise MemoryError


class Slow:
    """Takes its time until the file ``$HURRY`` is there; writes down what it is asked before it answers."""

    description: ClassVar[str] = "Takes its time"
    options: ClassVar[dict[str, str]] = {"ms": "milliseconds an item", "journal": "file of the items seen"}
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "slow"
    version: str = "1"
    isolation: Isolation = "inline"

    def __init__(self, ms: str = "50", journal: str = "") -> None:
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


class Staged(Slow):
    """Leaves to workers every completion that begins with "later"; they do what the rest of it says, slowly."""

    description: ClassVar[str] = "Takes its time for some"
    name: str = "staged"
    isolation: Isolation = "staged"

    def __init__(self, ms: str = "50", journal: str = "") -> None:
        super().__init__(ms, journal)
        self.version = os.environ.get("STAGED_VERSION", "1")

    def quick(self, item: VerifierInput) -> Verdict | Pending:
        if not item.completion.startswith("later"):
            return Verdict(outcome=Outcome.CORRECT, reason="quick")
        known = Verdict(
            outcome=Outcome.ABSTAIN,
            reference_final=item.reference,
            candidate_final=item.completion,
            candidate_span=(0, len(item.completion)),
        )
        return Pending(key=item.completion.encode(), verdict=known)

    def verify(self, item: VerifierInput) -> Verdict:
        super().verify(item)
        deed(item.completion.removeprefix("later "))
        return Verdict(outcome=Outcome.INCORRECT, score=0.25, reason="compared", rule="staged.later", detail="apart")


class Reading(Staged):
    """Says which process read an item; "end" ends every process but the one whose id is ``caller``."""

    options: ClassVar[dict[str, str]] = {"caller": "the id of the process that goes on"}
    name: str = "reading"

    def __init__(self, caller: str = "0") -> None:
        super().__init__("0")
        self._caller = int(caller)

    def quick(self, item: VerifierInput) -> Verdict | Pending:
        if item.completion == "end" and os.getpid() != self._caller:
            os._exit(1)
        answer = super().quick(item)
        return answer if isinstance(answer, Pending) else structs.replace(answer, detail=str(os.getpid()))


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
        deed(item.completion)
        if item.completion == "nonsense":
            return cast("Verdict", "correct")
        return Verdict(outcome=Outcome.CORRECT)


class MoodyInline(Moody):
    """The same, in the runner's own process."""

    name: str = "moody-inline"
    isolation: Isolation = "inline"
