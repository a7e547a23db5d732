"""The replies that a verifier's verdicts rest on, as exchanges that `workbench replay` serves again."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from workbench.core.project import Project
from workbench.llm.dialects.fields import without_keep_alives
from workbench.runs.running_verdicts import run_of
from workbench.runs.store.verdict_calls import replies_of


class RecordedExchange(Struct, frozen=True, kw_only=True):
    """One line of a recording.

    Attributes:
        request: The request's body, as it was sent; a key is never in it.
        response: The response's, without its blanks; what is no JSON stands there as text.
        server: The name or address of the server that gave it; None where that isn't known.
        sample: Tells apart replies to one request.
        origin: Where the reply had been recorded before; None for a live one.
    """

    request: msgspec.Raw
    response: msgspec.Raw
    model: str
    server: str | None
    sample: int
    origin: str | None


def recorded(project: Project, verifier: str, run: int | None = None) -> Iterator[RecordedExchange]:
    """Every reply once, in the order they came.

    Args:
        verifier: Its name.
        run: A run of it; by default the newest that has been complete, or the newest while none has.

    Raises:
        UsageError: There is no such verifier, or the run isn't one of its.
    """
    found = run_of(project, verifier, run)
    for request, response, model, server, sample, origin in (
        replies_of(project.database.reader(), found) if found else ()
    ):
        yield RecordedExchange(
            request=_on_a_line(request),
            response=_on_a_line(response),
            model=model,
            server=server,
            sample=sample,
            origin=origin,
        )


def _on_a_line(body: bytes) -> msgspec.Raw:
    """A JSON document as it came but for blanks and keep-alives; what is none, as text."""
    try:
        body.decode()
        return msgspec.Raw(msgspec.json.format(without_keep_alives(body), indent=-1))
    except (ValueError, RecursionError):
        return msgspec.Raw(msgspec.json.encode(body.decode("utf-8", "replace")))
