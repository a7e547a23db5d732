"""Whether a server answers anything at all: what was given up since its last reply."""

from __future__ import annotations

import asyncio
from typing import Final

from workbench.llm.failures import AttemptFailed
from workbench.llm.records import CallFailed, FailureCode, Halt

ENOUGH: Final = 25
"""Weight of calls given up one after the other at which a server is on trial."""

_WEIGHT: Final = 5
_WEIGHTS: Final[dict[FailureCode, int]] = {"context_length": 1, "content_filter": 1}
"""What may well be one text's own fault weighs less: five calls of any other kind are enough."""


class Trial:
    """One server's standing.

    Where several calls in a row were given up and none was answered, no more begin until those that are still at work
    have ended. One reply among them clears the server; without one every call would fail, and the run is to pause.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._weight = 0
        self._failed = 0
        self._open = 0
        self._last: CallFailed | None = None
        self._halt: Halt | None = None
        self._settled = asyncio.Event()
        self.answered = False

    @property
    def in_doubt(self) -> bool:
        """Whether calls were given up since the last reply."""
        return self._failed > 0

    @property
    def last(self) -> CallFailed | None:
        """How the last call that was given up failed; None where a reply came since."""
        return self._last

    async def begin(self) -> None:
        """Count a call that is about to be made; every one needs an `end`.

        Raises:
            Halt: The server answers nothing.
        """
        while self._weight >= ENOUGH and self._halt is None:
            if not self._open:
                self._condemn()
                break
            self._settled.clear()
            await self._settled.wait()
        if self._halt is not None:
            raise self._halt
        self._open += 1

    def end(self) -> None:
        """A call has ended, however."""
        self._open -= 1
        if self._weight >= ENOUGH and not self._open:
            self._condemn()
        self._settled.set()

    def succeeded(self) -> None:
        """A reply came."""
        self.answered = True
        self._weight = self._failed = 0
        self._last = None
        self._settled.set()

    def gave_up(self, failure: CallFailed) -> None:
        """A call was given up."""
        self._weight += _WEIGHTS.get(failure.code, _WEIGHT)
        self._failed += 1
        self._last = failure

    def halt(self) -> Halt:
        """Why the run is to pause, in words; for a server in doubt."""
        assert self._last is not None
        failure = self._last
        refused = isinstance(failure, AttemptFailed) and failure.status is not None and 400 <= failure.status < 500
        does = "refuses" if refused else "fails at"
        advice = "Check the key" if failure.code == "auth" else "Check model, options and base_url"
        many = f"all {self._failed} calls" if self._failed > 1 else "the one call made"
        return Halt(failure.code, f"{self._title} {does} {many} ({failure.detail}). {advice}, then resume the run.")

    def _condemn(self) -> None:
        self._halt = self._halt or self.halt()
