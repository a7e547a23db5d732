"""Requests that are not taken: always a short JSON document that says what to do, never a trace."""

from __future__ import annotations

import re

import msgspec
from aiohttp import web

from workbench.core.errors import UsageError, WorkbenchError
from workbench.training.records import RewardRefusal
from workbench.training.texts import FieldError

RETRY_S = 1
"""Seconds after which a request that found no room is worth another try."""

_PLACE = re.compile(r"^(?P<wrong>.*) - at `\$\.?(?P<field>.*)`$", re.DOTALL)
_NAMED = re.compile(r"field `([^`]*)`")
_LONGEST = 1_000


class RequestRefused(Exception):
    """A request is not taken.

    Attributes:
        status: The status of the answer.
        error: What is wrong and what to do.
        field: Where the body is wrong.
        closes: The connection can't be used any more.
    """

    def __init__(self, status: int, error: str, field: str | None = None, *, closes: bool = False) -> None:
        super().__init__(error)
        self.status, self.error, self.field, self.closes = status, error, field, closes


def refusal(refused: RequestRefused) -> web.Response:
    """The answer to a request that is not taken."""
    document = RewardRefusal(error=refused.error[:_LONGEST], field=refused.field and refused.field[:_LONGEST])
    headers = {"Retry-After": str(RETRY_S)} if refused.status in (429, 503) else {}
    if refused.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    answer = web.Response(
        status=refused.status, body=msgspec.json.encode(document), content_type="application/json", headers=headers
    )
    if refused.closes:
        answer.force_close()
    return answer


def wrong_body(error: Exception) -> RequestRefused:
    """What is wrong with a body, by the exception it raised."""
    match error:
        case FieldError():
            return RequestRefused(400, error.message, error.field)
        case UsageError():
            return RequestRefused(400, str(error))
        case WorkbenchError():
            return RequestRefused(503, str(error))
        case RecursionError():
            return RequestRefused(400, "The body is nested too deeply.")
        case UnicodeDecodeError():
            return RequestRefused(400, "The body is no UTF-8 text.")
    place = _PLACE.match(str(error))
    wrong, field = (str(error), "") if place is None else (place["wrong"], place["field"])
    if (named := _NAMED.search(wrong)) is not None:
        field = f"{field}.{named[1]}".removeprefix(".")
    return RequestRefused(400, f"{field or 'The body'}: {wrong}.", field or None)
