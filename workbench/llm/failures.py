"""Classification of failed attempts: from a server's status, headers and message to one of `FailureCode`."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
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
    said = error_event(body)
    words = said.words
    if 300 <= status < 400:
        words = f"it sends calls on to {_redirect_host(headers)}, which is not followed: a key must not go elsewhere"
    asked = (requested_wait(headers, date), said.wait, reset_wait(headers, date), reset_wait(said.headers, date))
    wait = next((one for one in asked if one is not None), None)
    passed_on = _PASSED_ON.match(said.whole) if status == 500 else None
    return _classify(
        status if passed_on is None else int(passed_on[1]),
        said.whole,
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
    said = _error_body(error)
    named = (status for told in (said.signs, said.whole) for status, names in _STATUSES if names.search(told))
    status = _status_inside(error) or next(named, 500)
    return _classify(status, said.whole, said.wait, f"error {status} in the reply: {said.words}")


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
    said = inner if isinstance(inner, dict) else data
    return said if any(said.get(name) for name in _SAID_IN) else None


def refusal_in_words(text: str) -> AttemptFailed | None:
    """Classify a short text in place of a reply, if it is about the key; else return None."""
    if len(text) > _SHORT or not text[:1].isalpha():
        return None
    said = classify_error_object(text)
    return said if said.code == "auth" else None


def _status_inside(error: Any) -> int | None:
    names = ("code", "status_code", "status", "http_status")
    for code in (error.get(name) for name in names) if isinstance(error, dict) else ():
        code = int(code) if isinstance(code, str) and re.fullmatch(r"[0-9]{3}", code) else code
        if isinstance(code, int) and 400 <= code < 600:
            return code
    return None


_NO_KEY = (
    r"authentication_error|unauthenticated|\bnot authenticated|\bunauthori[sz]ed\b"
    r"|\bauthentication (?:has )?(?:fail\w*|error|is required|required)|\b(?:please log ?in|log ?in required)\b"
    r"|\b(?:incorrect|invalid|wrong|missing|expired|no|empty)[ _-](?:or \w+ )?(?:x-)?api[ _-]?key"
    r"|\b(?:x-)?api[ _-]?key (?:is |was |not )*(?:found|valid|provided|missing|invalid|required|expired|incorrect)"
    r"|\b(?:could not|cannot|failed to|unable to) (?:validate|verify|authenticate)\b"
    r"|\b(?:incorrect|invalid|missing|expired|no)\b[\w ]{0,24}\b(?<!max )"
    r"(?:credentials?|token|auth(?:orization)?)\b(?! (?:count|limit|length|budget|usage))"
    r"|\b(?<!max )(?:token|signature|jwt|credentials|authorization)\b[\w :]{0,40}"
    r"\b(?:expired|invalid|missing|required)\b"
    r"|无效的令牌|未提供令牌|令牌已过期"
)
"""Messages about keys of frameworks (FastAPI), gateways (Kong, Apigee, Istio, AWS, One API) and servers."""
_POLICY: Final = r"\b(?:bio|cyber|(?:image_)?content|misalignment|safety)_policy(?:_violation)?\b"
"""OpenAI's codes of requests that its policies block."""
_ONLY_NO_KEY = re.compile(rf"[\w ,:.]{{0,40}}(?:{_NO_KEY})[\w ,:.]{{0,40}}", re.IGNORECASE)
"""The whole message of a gateway (AIBrix) about the key, with status 500."""
_STATUSES = tuple(
    (status, re.compile(names, re.IGNORECASE))
    for status, names in (
        (402, r"billing_error|payment[_ ]?required|insufficient[_ ](?:balance|credits?|funds)"),
        (429, r"rate[_ ]?limit|too[_ ]?many[_ ]?requests|RESOURCE_EXHAUSTED|insufficient_quota|throttl"),
        (529, r"overloaded|\bUNAVAILABLE\b|engine_busy"),
        (401, _NO_KEY),
        (403, r"permission[_ ]?(?:denied|error)|forbidden|\baccess[_ ]denied|\bnot authori[sz]ed"),
        (404, r"not[_ ]?found"),
        (413, r"request_too_large"),
        (
            400,
            r"invalid_?(?:request|argument|parameter)|bad_?request|context_length|content_filter"
            rf"|invalid_prompt|{_POLICY}|\bdata_residency_mismatch\b",
        ),
    )
)
"""Names of errors that servers send without a status -> the status."""


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


_KEY = re.compile(
    r"\b(?:incorrect|invalid|wrong|missing|expired)[ _-](?:x-)?api[ _-]?key"
    r"|\bapi[ _-]?key (?:you provided )?(?:is |was )?(?:not (?:valid|found)|invalid|expired)|API_KEY_INVALID",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context[ _]?(?:length|window|size|limit)|context (?:the )?overflows|tokens to keep from"
    r"|max(?:imum |_)model[ _]len|prompt (?:length|too long)|too many (?:input )?tokens|maximum number of tokens"
    r"|(?:prompt|input|request|body)[ a-z]* is too (?:long|large)|request body too large|input[_ ]too[_ ](?:large|long)"
    r"|\b(?<!max )(?:input|prompt|request|payload|token)[\w ()]{0,40}\bexceed(?:s|ed)?\b"
    r"[\w ']{0,40}\b(?:length|limit|budget)\b"
    r"|maximum input length|content'?: string too long"
    r"|longer than the (?:model's )?(?:maximum|context)|too large for (?:the )?(?:model|window)"
    r"|reduce the length|range of input length|`inputs` tokens \+ `max_new_tokens`|must have less than \d+ tokens",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content[ _-]?filter|content_?policy|content management policy|ResponsibleAI|moderation|\bflagged\b"
    r"|data_?inspection|inappropriate content|violat(?:es|ing) (?:our )?usage"
    r"|safety[ _](?:check|system|filter|setting)"
    rf"|PROHIBITED_CONTENT|SensitiveContent|\bguardrail|敏感|{_POLICY}",
    re.IGNORECASE,
)
_SPENT = re.compile(
    r"insufficient[ _](?:quota|credits?|balance|funds)|credit (?:balance|limit)|credit_limit"
    r"|billing_(?:hard_limit|error)|spend(?:ing)?[ _]limit|all available credits|\busage (?:limits|threshold)\b"
    r"|budget (?:has been )?exceeded|budget_exceeded|\bArrearage\b|in good standing"
    r"|free quota|free ?tier ?only|\bis suspended\b|billing_not_active|\bhave any credits\b"
    r"|AccountOverdue|SetLimitExceeded|\bbalance is (?:insufficient|not enough)|insufficient_user_quota"
    r"|\bKey limit exceeded \(total|\bout of credits?\b|\busage cap\b|\btrial (?:has )?(?:ended|expired)"
    r"|\bsession limit\b|欠费|余额不足|额度[^，。,.]{0,4}(?:不足|用尽|用完|失败)",
    re.IGNORECASE,
)
_DAY = re.compile(
    r"\b(?:per|a)[ -]?(?:day|week|month)\b|Per(?:Day|Week|Month)|ByDay\b|\b(?:daily|weekly|monthly)\b|_daily\b"
    r"|\b[RT]PD\b|\d [\w ]{1,20}/ ?(?:day|week|month)\b|\bfor today\b|\blimit: 0\b"
    r"|(?:\b(?:per|in|every)|/) ?(?:86[,.]?400 ?s|24 ?h)|\b(?:[2-9]|\d\d)[- ]?h(?:ou)?rs?[ -](?:\w+ )?limit"
    r"|[今每][日天]|[每本][周月]|[2-9] ?小时",
    re.IGNORECASE,
)
_MINUTES = re.compile(
    r"(?<!free )allocated quota exceeded|exceeded your usage limits\. please try again later", re.IGNORECASE
)
"""Messages that resemble a spent quota but report a limit per minute."""
_THROTTLED = re.compile(r"\bThrottlingException\b|\bRateLimitError\b")
"""Bedrock's name of the error, with status 400, and the SDKs' names, with status 500."""
_TOO_LARGE = re.compile(r"^Request too large for|tokens must be reduced in order to run", re.IGNORECASE)
"""Messages about one request larger than the limit per minute: waiting doesn't help."""
_BUSY = re.compile(
    r"^loading(?: the)? model|\bmodel\b[^.]{0,120}\b(?:is|are) (?:currently |still )*(?:loading|being loaded)\b"
    r"|\bstill (?:loading|starting|warming)|\b(?:warming|starting) up\b|\bwaiting for (?:the )?model\b"
    r"|\bmodel (?:is )?not (?:yet )?(?:ready|loaded yet)|\bserver busy\b|\btoo busy\b|\bqueue is full\b"
    r"|overloaded(?:_error)?\b|\bat capacity\b|capacity[ _](?:limits|exceeded)|no capacity",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"\b(?:fail(?:ed|ure|s)?|unable|cannot|can't|could not|error loading|out of memory|no such)\b", re.IGNORECASE
)
_GONE = re.compile(r"\b(?:fail(?:ed|ure) to load|error loading|out of memory|no such|routing requirements)\b", re.I)
"""Messages of a server that will stay unavailable."""


def _is_busy(status: int, whole: str, wait: float | None) -> bool:
    if status == 503:
        return wait is not None or not _GONE.search(whole)
    says = status >= 400 and status not in {401, 402, 403, 429} and _BUSY.search(whole) is not None
    return status == 529 or (says and not _BROKEN.search(whole))


def _failure_code(status: int, whole: str, wait: float | None) -> FailureCode:
    if (status in {400, 401, 403} and _KEY.search(whole)) or (status == 500 and _ONLY_NO_KEY.fullmatch(whole)):
        return "auth"
    if status in {413, 429} and _TOO_LARGE.search(whole):
        return "context_length"
    may_be_limit = status in {400, 402, 403, 412, 429} or (status == 500 and _THROTTLED.search(whole))
    if may_be_limit and (limit := _limit_code(status, whole, wait)) is not None:
        return limit
    if status in {400, 403, 413, 422, 446} and _FILTER.search(whole):
        return "content_filter"
    if status == 413 or (status in {400, 403, 422, 500} and _CONTEXT.search(whole)):
        return "context_length"
    if status in {401, 403}:
        return "auth"
    if status == 408:
        return "timeout"
    return "server" if status in _PASSING or status >= 500 else "bad_request"


_PASSING: Final = frozenset({409, 424, 425, 499})
"""Statuses whose cause may pass: TGI's 424 is an interrupted reply, Google's 499 a call that it cancelled."""


def _limit_code(status: int, whole: str, wait: float | None) -> FailureCode | None:
    if _MINUTES.search(whole):
        return "rate_limit"
    if status == 402:
        # With a wait, the credit is only reserved by calls in flight.
        return "quota" if wait is None else "rate_limit"
    if _SPENT.search(whole) or (status in {403, 429} and _DAY.search(whole)):
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
