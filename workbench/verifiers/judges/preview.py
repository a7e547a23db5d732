"""What a judge would ask about an item, without asking anybody."""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct

from workbench.core.verdict import VerifierInput
from workbench.llm.records import CallFailed, Chat, Reply, Request
from workbench.verifiers.base import ServedVerifier

_ENOUGH = 2000


class PlannedRequest(Struct, frozen=True):
    """One request.

    Attributes:
        step: What the call is for.
        role: Which of the verifier's servers is asked.
        exact: Whether it goes out just so; otherwise a stand-in holds the place of what a model has yet to say.
    """

    step: str
    role: str
    request: Request
    exact: bool


class _PreviewStopped(Exception):
    pass


async def preview(verifier: ServedVerifier, item: VerifierInput, secret: bytes) -> list[PlannedRequest]:
    """The requests about an item, one a step: the first exactly, later ones with stand-ins for earlier replies.

    Args:
        verifier: A judge or any other that asks servers.
        item: What is to be judged.
        secret: The database's own, or delimiters will be others.
    """
    planned: dict[tuple[str, str], PlannedRequest] = {}
    stand_ins: set[str] = set()
    calls = 0

    async def noted(request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        nonlocal calls
        calls += 1
        if calls > _ENOUGH:
            raise _PreviewStopped
        exact = not any(text in content for content in _texts(request) for text in stand_ins)
        planned.setdefault((step, role), PlannedRequest(step, role, request, exact))
        stand_in = f"⟨what the model replies to “{step}”⟩"
        stand_ins.add(stand_in)
        return Reply(text=stand_in, finish_reason="stop")

    # A verifier that can make nothing of a stand-in asks no more.
    with suppress(_PreviewStopped, CallFailed):
        await verifier.judge(item, noted, secret)
    return list(planned.values())


def _texts(request: Request) -> tuple[str, ...]:
    if isinstance(request, Chat):
        return tuple(message.content for message in request.messages)
    return request.texts
