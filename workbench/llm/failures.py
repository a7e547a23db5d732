"""Classification of failed attempts: from a server's status, headers and message to one of `FailureCode`."""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from workbench.llm.records import CallFailed, FailureCode
from workbench.llm.server_json import decoded_json
from workbench.llm.waits import duration, requested_wait, reset_wait, wait_in_words

REPEATED: frozenset[FailureCode] = frozenset({"rate_limit", "server", "timeout", "transport", "malformed"})
"""Failures that may not recur; all others are final."""


class AttemptFailed(CallFailed):
    """One attempt failed.

    Attributes:
        status: The HTTP status, if the server answered.
        wait: Seconds that the server asks to wait; None if it doesn't ask.
        unreachable: Whether nothing listens at the address; the cause isn't an item.
        everywhere: Whether all calls will fail in this way if none has succeeded yet (a wrong key, path or model).
        busy: Whether the server reports that it is not ready or is overloaded: the client waits for it.
    """

    def __init__(
        self,
        code: FailureCode,
        detail: str,
        *,
        status: int | None = None,
        wait: float | None = None,
        unreachable: bool = False,
        everywhere: bool = False,
        busy: bool = False,
    ) -> None:
        super().__init__(code, detail)
        self.status = status
        self.wait = wait
        self.unreachable = unreachable
        self.everywhere = everywhere
        self.busy = busy

    @property
    def limited(self) -> bool:
        """Return whether the server is rate-limited or overloaded: the client waits without limit."""
        return self.busy or self.code == "rate_limit"

    @property
    def of_key(self) -> bool:
        """Return whether the key is rejected; a 403 may be about the content of the request."""
        return self.code == "auth" and self.status not in {None, 403}

    @property
    def may_be_repeated(self) -> bool:
        """Return whether another attempt may succeed. A key that worked is tried once more before the run pauses."""
        return self.code in REPEATED or self.of_key


def malformed(detail: str, *, everywhere: bool = False) -> AttemptFailed:
    """Return the failure of a reply that can't be parsed; it is not stored, so that it can be requested again."""
    return AttemptFailed("malformed", detail, status=200, everywhere=everywhere)


def classify_response(status: int, headers: Mapping[str, str], body: bytes, date: float = 0.0) -> AttemptFailed:
    """Classify an unsuccessful response.

    Args:
        headers: Header values by lower-case name.
        date: The current time in seconds since 1970.
    """
    event = error_event(body)
    words = event.words
    if 300 <= status < 400:
        words = f"it sends calls on to {_redirect_host(headers)}, which is not followed: a key must not go elsewhere"
    asked = (requested_wait(headers, date), event.wait, reset_wait(headers, date), reset_wait(event.headers, date))
    wait = next((one for one in asked if one is not None), None)
    passed_on = _PASSED_ON.match(event.whole) if status == 500 else None
    return _classify(
        status if passed_on is None else int(passed_on[1]),
        event.whole,
        wait,
        f"HTTP {status}" + (f": {words}" if words else ""),
    )


_PASSED_ON = re.compile(
    r"[^\n]{0,80}?\b(?:(?:error|response|status)[ _]code|http(?: status)?(?: error)?|status)[ :=]{1,3}"
    r"(401|402|403|429|503|529)\b",
    re.IGNORECASE,
)
"""The upstream error that gateways with only status 500 quote, such as an SDK's "Error code: 429 - …"."""


def classify_error_object(error: Any) -> AttemptFailed:
    """Classify an ``error`` inside a response of status 200 (sent by OpenRouter)."""
    fields = _error_body(error)
    named = (status for told in (fields.signs, fields.whole) for status, names in _STATUSES if names.search(told))
    status = _status_inside(error) or next(named, 500)
    return _classify(status, fields.whole, fields.wait, f"error {status} in the reply: {fields.words}")


def says_anything(field: Any) -> bool:
    """Return whether a field is filled in: some gateways add an empty ``error`` to every reply."""
    return any(field.values()) if isinstance(field, dict) else bool(field)


_SAID_IN: Final = (
    *("faultstring", "message", "detail", "msg", "status_msg", "error_msg"),
    *("errors", "fault", "Message", "title", "reason"),
)
"""Fields in which servers put the error message."""
_REPLY: Final = frozenset({"choices", "content", "output", "data", "results"})
_SHORT: Final = 200


def instead_of_reply(data: Any) -> Any:
    """Return the message that gateways, MiniMax and others send with status 200 instead of a reply, or None."""
    if not isinstance(data, dict) or any(data.get(name) for name in _REPLY):
        return None
    inner = data.get("base_resp")
    body = inner if isinstance(inner, dict) else data
    return body if any(body.get(name) for name in _SAID_IN) else None


def refusal_in_words(text: str) -> AttemptFailed | None:
    """Classify a short text in place of a reply, if it is about the key; else return None."""
    if len(text) > _SHORT or not text[:1].isalpha():
        return None
    failure = classify_error_object(text)
    return failure if failure.code == "auth" else None


def _status_inside(error: Any) -> int | None:
    names = ("code", "status_code", "status", "http_status")
    for code in (error.get(name) for name in names) if isinstance(error, dict) else ():
        code = int(code) if isinstance(code, str) and re.fullmatch(r"[0-9]{3}", code) else code
        if isinstance(code, int) and 400 <= code < 600:
            return code
    return None


_TABLE: Final = tomllib.loads(Path(__file__).with_name("failures.toml").read_text(encoding="utf-8"))


def _pattern(alternatives: list[str]) -> re.Pattern[str]:
    text = "|".join(alternatives)
    for name, fragment in _TABLE["fragments"].items():
        text = text.replace(f"<{name}>", "|".join(fragment))
    return re.compile(text, re.IGNORECASE)


_MESSAGES: Final = {name: _pattern(alternatives) for name, alternatives in _TABLE["messages"].items()}
_STATUSES: Final = [(int(status), _pattern(alternatives)) for status, alternatives in _TABLE["statuses"].items()]
"""The status of an error that is sent without one, and the names of such errors."""


def _classify(status: int, whole: str, wait: float | None, detail: str) -> AttemptFailed:
    busy = _is_busy(status, whole, wait)
    code = "server" if busy else _failure_code(status, whole, wait)
    everywhere = code == "auth" or (
        not busy and code in {"bad_request", "malformed"} and (status in {404, 405, 407, 410} or status < 400)
    )
    return AttemptFailed(code, detail, status=status, wait=wait, everywhere=everywhere, busy=busy)


def _redirect_host(headers: Mapping[str, str]) -> str:
    try:
        return one_line(urlsplit(headers.get("location", "")).hostname or "another path")
    except ValueError:
        return "another place"


# -- Classification by status and by message.


_THROTTLED = re.compile(r"\bThrottlingException\b|\bRateLimitError\b")
"""Bedrock's name of the error, with status 400, and the SDKs' names, with status 500."""


def _says(message: str, whole: str) -> bool:
    return _MESSAGES[message].search(whole) is not None


def _is_busy(status: int, whole: str, wait: float | None) -> bool:
    if status == 503:
        return wait is not None or not _says("gone", whole)
    says = status >= 400 and status not in {401, 402, 403, 429} and _says("busy", whole)
    return status == 529 or (says and not _says("broken", whole))


def _failure_code(status: int, whole: str, wait: float | None) -> FailureCode:
    if (status in {400, 401, 403} and _says("key", whole)) or (
        status == 500 and _MESSAGES["only_no_key"].fullmatch(whole)
    ):
        return "auth"
    if status in {413, 429} and _says("too_large", whole):
        return "context_length"
    may_be_limit = status in {400, 402, 403, 412, 429} or (status == 500 and _THROTTLED.search(whole))
    if may_be_limit and (limit := _limit_code(status, whole, wait)) is not None:
        return limit
    if status in {400, 403, 413, 422, 446} and _says("filter", whole):
        return "content_filter"
    if status == 413 or (status in {400, 403, 422, 500} and _says("context", whole)):
        return "context_length"
    if status in {401, 403}:
        return "auth"
    if status == 408:
        return "timeout"
    return "server" if status in _PASSING or status >= 500 else "bad_request"


_PASSING: Final = frozenset({409, 424, 425, 499})
"""Statuses whose cause may pass: TGI's 424 is an interrupted reply, Google's 499 a call that it cancelled."""


def _limit_code(status: int, whole: str, wait: float | None) -> FailureCode | None:
    if _says("minutes", whole):
        return "rate_limit"
    if status == 402:
        # With a wait, the credit is only reserved by calls in flight.
        return "quota" if wait is None else "rate_limit"
    if _says("spent", whole) or (status in {403, 429} and _says("day", whole)):
        return "quota"
    return "rate_limit" if status == 429 or _THROTTLED.search(whole) else None


# -- The content of an error's body: servers put it in different places.


_MAX_DETAIL_CHARACTERS: Final = 300
_LONGEST_READ: Final = 2000
_MAX_DEPTH: Final = 8
_LONG_KEY = re.compile(r"\b(?:sk|pk|key|rk)[-_][\w*.…-]{6,}|\bBearer\s+\S+")
EVENT = re.compile(rb"\s*(?:(?:event|id|retry)?:[^\n]*\n)*+(?:data|error):")
"""The beginning of a stream."""
_PAGE = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_SIGNS: Final = frozenset(
    {"type", "__type", "code", "status", "error_type", "error_code", "reason", "quotaId", "limit_source", "reasons"}
)
"""Fields that name the kind of an error."""


class ErrorBody(Struct, frozen=True):
    """The content of an error's body.

    Attributes:
        words: The message for users, in one line.
        whole: All text that indicates the kind of error.
        signs: The part of ``whole`` from fields with codes or types instead of prose.
        wait: Seconds the server asks to wait.
        headers: Headers of a provider behind the server, as the body quotes them.
    """

    words: str
    whole: str
    wait: float | None = None
    headers: Mapping[str, str] = {}
    signs: str = ""


def error_event(body: bytes) -> ErrorBody:
    if (page := page_in(body)) is not None:
        return ErrorBody(page, page)
    event = EVENT.match(body)
    try:
        return _error_body(decoded_json(body[event.end() :].partition(b"\n")[0] if event else body))
    except (ValueError, RecursionError):
        text = body[:_LONGEST_READ].decode("utf-8", "replace")
        return ErrorBody(one_line(text), text, wait_in_words(text))


def page_in(body: bytes) -> str | None:
    """Summarise an HTML page; return None if the body is not one."""
    if not _PAGE.match(body[:_LONGEST_READ]):
        return None
    title = _TITLE.search(body[:_LONGEST_READ].decode("utf-8", "replace"))
    shown = one_line(html.unescape(re.sub(r"<[^>]*>", " ", title[2]))) if title else ""
    return f"an HTML page, “{shown}”" if shown else "an HTML page"


def _error_body(data: Any) -> ErrorBody:
    words = _message_text(data)[:_LONGEST_READ]
    fields = list(_text_fields(data))
    signs = " ".join(value for name, value in fields if name in _SIGNS)
    delays = (asked for name, value in fields if (asked := _delay_seconds(name, value)) is not None)
    wait = next(delays, wait_in_words(words))
    headers = {
        name.lower(): value for name, value in fields if name.lower().startswith(("x-ratelimit-", "retry-after"))
    }
    return ErrorBody(one_line(words), f"{words} {signs}"[:_LONGEST_READ], wait, headers, signs[:_LONGEST_READ])


def _delay_seconds(name: str, value: str) -> float | None:
    """Return the seconds that a field asks to wait; None unless it is ``retryDelay`` (Google) or ``retry_after``."""
    if not _is_delay(name):
        return None
    seconds = duration(value if value[-1:].isalpha() else f"{value}s")
    return seconds if seconds is None or not name.lower().endswith("ms") else seconds / 1000


_DELAYS: Final = frozenset({"retrydelay", "retryafter", "retryafterseconds", "retryafterms", "resetsinseconds"})


def _is_delay(name: str) -> bool:
    plain = name.replace("_", "").replace("-", "").lower()
    return plain in _DELAYS


def _message_text(data: Any) -> str:
    for _ in range(_MAX_DEPTH):
        data = _unwrap(data)
        if not isinstance(data, dict):
            break
        inner = _inner_message(data)
        if inner is None:
            break
        if isinstance(inner, str) and not inner.lstrip().startswith(("{", "[")):
            kind = data.get("code") if isinstance(data.get("code"), str) else data.get("type")
            other = data.get("message") if inner is data.get("error") else None
            inner = f"{inner}: {other}" if isinstance(other, str) and other else inner
            return inner if not isinstance(kind, str) else f"{inner} ({kind})"
        data = inner
    return data if isinstance(data, str) else msgspec.json.encode(data)[:_LONGEST_READ].decode("utf-8", "replace")


def _inner_message(data: dict[str, Any]) -> Any:
    metadata = data.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return next((one for one in (raw, *(data.get(name) for name in ("error", *_SAID_IN))) if one), None)


def _unwrap(data: Any) -> Any:
    if isinstance(data, str) and data.lstrip().startswith(("{", "[")):
        try:
            data = decoded_json(data)
        except (ValueError, RecursionError):
            return data
    if isinstance(data, list) and data and all(isinstance(one, dict) and "msg" in one for one in data):
        return "; ".join(f"{_field_path(one.get('loc'))}{one['msg']}" for one in data)
    is_one = isinstance(data, list) and len(data) == 1 and isinstance(data[0], dict)
    return data[0] if is_one else data


def _field_path(loc: Any) -> str:
    return "" if not isinstance(loc, list) else ".".join(str(one) for one in loc if one != "body") + ": "


def _text_fields(data: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(data, str) and data.lstrip().startswith(("{", "[")):
        data = _unwrap(data)
    if depth > _MAX_DEPTH:
        return
    if isinstance(data, dict):
        for name, value in data.items():
            if isinstance(value, str) or (_is_delay(name) and isinstance(value, int | float)):
                yield name, str(value)[:_LONGEST_READ]
            yield from _text_fields(value, depth + 1)
    elif isinstance(data, list):
        for value in data[:20]:
            yield from _text_fields(value, depth + 1)


def one_line(text: str) -> str:
    """Shorten untrusted text to one line, without anything that resembles a key."""
    return _LONG_KEY.sub("[key]", " ".join(text.split()))[:_MAX_DETAIL_CHARACTERS]
