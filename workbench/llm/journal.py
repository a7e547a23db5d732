"""What the client needs kept: every attempt before it is sent, and every reply for ever."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from workbench.llm.records import FailureCode, Usage


class JournaledCall(Struct, frozen=True, kw_only=True):
    """One request, as it is about to be sent.

    Attributes:
        key: sha256 of the canonical request, the server's place and the sample's index.
        server: That place: the server's name, or its address.
        request: sha256 of the canonical request.
        body: The very bytes to send.
        url: Where, without the key.
    """

    key: bytes
    server: str
    request: bytes
    body: bytes
    profile: str
    model: str
    sample: int
    url: str


class Response(Struct, frozen=True, kw_only=True):
    """A successful response as it came.

    Attributes:
        body: The raw bytes of the server's answer.
        task: How the bytes are to be read: ``"chat"`` or one of `records.Task`.
        usage: As read from the body, with the cost.
        ms: From sending to the last byte, in milliseconds.
        origin: Where recorded replies come from, when a replay server says that these are such; else None.
    """

    profile: str
    task: str
    body: bytes
    usage: Usage
    ms: float
    origin: str | None = None


class RunUsed(Struct, frozen=True, kw_only=True):
    """What a run has used up to now, over all its starts.

    Attributes:
        calls: Attempts that were sent, failed ones included.
        possibly_paid: Attempts whose outcome nobody knows.
        tokens: Prompt and completion tokens.
        cost: US dollars, as far as known.
    """

    calls: int = 0
    possibly_paid: int = 0
    tokens: int = 0
    cost: float = 0.0


class Journal(Protocol):
    """Keeps calls; every coroutine returns when what it says is committed."""

    def recall(self, key: bytes) -> Response | None:
        """The response that was stored for a key, in whichever run, unless it is not to be used any more."""
        ...

    def spent(self) -> RunUsed:
        """What the run has used before this start."""
        ...

    async def begin(self, item: int, call: JournaledCall) -> int:
        """Store an attempt that is about to be sent, with its time; returns its number."""
        ...

    def fail(self, attempt: int, code: FailureCode, status: int | None, detail: str, *, sent: bool = True) -> None:
        """Note how an attempt failed; committed with the next transaction.

        Args:
            sent: False when nothing has reached the server: nobody was there.
        """
        ...

    def done(self, attempt: int, call: JournaledCall, response: Response) -> None:
        """Note a successful response; it is committed before anything that comes after it in this journal."""
        ...
