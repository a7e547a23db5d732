"""Failures of attempts: classification, waiting times, and giving up."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.memory import HeldClock
from tests.servers.scripted import chat_reply
from workbench.llm.dialects import read
from workbench.llm.failures import AttemptFailed, classify_response, error_event
from workbench.llm.gate import MAX_ATTEMPTS, MAX_CALL_S, MIN_ATTEMPTS, Patience
from workbench.llm.waits import requested_wait

NOW = 1_800_000_000.0


def error(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (400, error("bad temperature"), "bad_request"),
        (400, error("This model's maximum context length is 8192 tokens."), "context_length"),
        (400, error("exceeds the available context size", type="exceed_context_size_error"), "context_length"),
        (400, {"object": "error", "message": "input is longer than the model's context length"}, "context_length"),
        (400, {"type": "error", "error": {"type": "x", "message": "prompt is too long: 9 tokens"}}, "context_length"),
        (413, error("request_too_large"), "context_length"),
        (400, error("The response was filtered", code="content_filter"), "content_filter"),
        (403, error("input flagged by moderation"), "content_filter"),
        (400, error("Your credit balance is too low"), "quota"),
        (400, error("'loc': ('body', 'top_k'), 'input': 'Find the limit: 0.5 miles a day'"), "bad_request"),
        (401, error("Incorrect API key"), "auth"),
        (403, error("no access"), "auth"),
        (402, error("Insufficient credits"), "quota"),
        (404, error("no such model"), "bad_request"),
        (408, {}, "timeout"),
        (409, {}, "server"),
        (422, {"detail": [{"msg": "field required"}]}, "bad_request"),
        (429, error("Rate limit reached for requests per min"), "rate_limit"),
        (429, error("You exceeded your current quota", code="insufficient_quota"), "quota"),
        (429, error("Rate limit reached on requests per day (RPD)"), "quota"),
        (429, error("Rate limit exceeded: free-models-per-day"), "quota"),
        (500, {}, "server"),
        (503, error("Loading model"), "server"),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "server"),
        (302, {}, "bad_request"),
        (418, {}, "bad_request"),
    ],
)  # fmt: skip
def test_every_class_of_failure(status: int, body: Any, code: str) -> None:
    failure = classify_response(status, {}, json.dumps(body).encode())
    assert (failure.code, failure.status) == (code, status)
    assert failure.may_be_repeated == (code in {"rate_limit", "server", "timeout"} or status == 401)
    assert failure.everywhere == (status in {401, 403, 404, 302} and code != "content_filter")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": {"message": "a", "code": "b"}}', "a (b)"),
        (b'{"error": "a"}', "a"),
        (b'{"message": "a\\n  b"}', "a b"),
        (b'{"detail": "a"}', "a"),
        (b"<html>502\nBad Gateway</html>", "an HTML page"),
        (b'{"error": {"message": "no: sk-abcdefghij1234 and Bearer xyz"}}', "no: [key] and [key]"),
        (b'{"error":' * 100_000, None),
        (b"\xff" * 5000, None),
        (b'{"error": "\xff"}', None),
        (b"[1]", "[1]"),
        (b"", ""),
    ],
)
def test_a_servers_words_are_one_short_line(body: bytes, words: str | None) -> None:
    text = error_event(body).words
    assert words is None or text == words
    assert len(text) <= 300
    assert "\n" not in text


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        # Amazon Bedrock, OpenAI's one request above a minute's limit, an account without billing.
        (400, {"__type": "ThrottlingException", "message": "Too many requests, please wait."}, "rate_limit"),
        (429, error("Request too large for gpt-4o on tokens per min (TPM): Limit 3, Requested 45."), "context_length"),
        (429, error("Your account is not active", code="billing_not_active"), "quota"),
        # xAI, SiliconFlow, Volcengine, OpenRouter, New API, Zhipu: credit.
        (403, {"code": "denied", "error": "Your newly created team doesn't have any credits yet."}, "quota"),
        (403, {"code": 30001, "message": "Sorry, your account balance is insufficient"}, "quota"),
        (403, error("Your account has an overdue balance.", code="AccountOverdueError"), "quota"),
        (429, error("You have reached the set inference limit.", code="SetLimitExceeded"), "quota"),
        (403, error("Key limit exceeded (total limit). Manage it at openrouter.ai"), "quota"),
        (403, error("user quota is not enough", code="insufficient_user_quota"), "quota"),
        (429, error("您的账户已欠费，请充值后重试", code="1113"), "quota"),
        # Cohere's trial, a gateway in plain words; a minute's limit looks much the same.
        (429, {"message": "You are using a Trial key, which is limited to 1000 API calls / month."}, "quota"),
        (429, {"message": "You are using a Trial key, which is limited to 20 API calls / minute."}, "rate_limit"),
        (429, {"message": "quota exceeded for today"}, "quota"),
        # Plans by the week or by hours, a day in Chinese: Kimi, Z.ai, Volcengine.
        (429, error("You have hit your weekly limit"), "quota"),
        (429, error("You've reached your 5-hour usage limit. Resets at 3pm."), "quota"),
        (429, {"detail": "Requests per 24 hours exceeded"}, "quota"),
        (429, {"error": "Requests/24h limit reached"}, "quota"),
        (429, error("已达到 5 小时的使用上限", code="1308"), "quota"),
        (429, error("该 API 今日调用次数限额已达上限", code="1304"), "quota"),
        (429, error("您的账户已达到速率限制，请您控制请求频率", code="1302"), "rate_limit"),
        # Self-hosted gateways, which print the message of the SDK with status 500.
        (500, {"detail": "Error code: 429 - {'error': {'message': 'Rate limit reached', 'code': 'x'}}"}, "rate_limit"),
        (500, {"detail": "Error code: 429 - {'error': {'code': 'insufficient_quota'}}"}, "quota"),
        (500, {"detail": "Error code: 401 - {'error': {'message': 'Incorrect API key provided: sk-1'}}"}, "auth"),
        (500, error("litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached"), "rate_limit"),
        (500, {"error": "upstream HTTP 403: forbidden"}, "auth"),
        (500, {"error": "it failed at item 12 with status 500"}, "server"),
        (500, {"error": "x" * 200 + " status: 401"}, "server"),
        (500, error("input exceeds the context length of 4096"), "context_length"),
        (400, error("Prompt contains 140000 tokens, too large for the window of 131072"), "context_length"),
        (403, {"error": "Content blocked by safety filters"}, "content_filter"),
        # Volcengine, Zhipu, Portkey: filters.
        (400, error("may contain sensitive information", code="InputTextSensitiveContentDetected"), "content_filter"),
        (400, error("系统检测到输入内容可能包含敏感内容", code="1301"), "content_filter"),
        (446, error("The guardrail checks defined in the config failed.", type="hooks_failed"), "content_filter"),
        # New API's quotas; plans and trials; TGI and Google of what may pass; Gemini's key.
        *((403, error(text), "quota") for text in ("该令牌额度已用尽", "用户额度不足", "预扣费额度失败")),
        *((429, error(text), "quota") for text in ("You're out of credits", "usage cap reached", "trial has ended")),
        (429, error("You've hit your session limit · resets 3am"), "quota"),
        (429, error("Too many requests in this session; slow down"), "rate_limit"),
        (424, {"error": "Request failed during generation", "error_type": "generation"}, "server"),
        (499, error("The operation was cancelled."), "server"),
        (400, error("API Key not found. Please pass a valid API key."), "auth"),
        # Too much to read, in the words of those who have no code for it: SGLang, Azure, Nova, Cohere on Vertex,
        # Moonshot, Google, OpenAI.
        *((400, error(text), "context_length") for text in (
            "Input length (9000 tokens) exceeds the maximum allowed length (8192 tokens).",
            "Request prompt exceeds the KV memory budget: input_len=90000.",
            "Input tokens exceed the configured limit of 272000 tokens.",
            "This model's maximum input length is 8192 tokens",
            "Input too long: 5000 input tokens, limit is 4096",
            "Invalid request: Your request exceeded model token limit: 262144 (requested: 425573)",
            "Request payload size exceeds the limit: 20971520 bytes.",
            "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760",
        )),
        # A limit of the request options is a fault of the request, whatever the item contains.
        (400, error("max_completion_tokens is too large: 99999. This model supports at most 8192"), "bad_request"),
        (400, error("Invalid 'user': string too long. Expected a string with maximum length 64"), "bad_request"),
        (400, error("max_tokens exceeds the model's limit of 8192"), "bad_request"),
        (400, error("top_logprobs exceeds the maximum of 20"), "bad_request"),
    ],
)  # fmt: skip
def test_failures_of_gateways_and_other_providers(status: int, body: Any, code: str) -> None:
    assert classify_response(status, {}, json.dumps(body).encode()).code == code


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ({"message": "You are being rate limited.", "retry_after": 12.5}, 12.5),
        ({"error": {"message": "slower", "retry_after_seconds": 7}}, 7.0),
        ({"error": {"message": "slower", "metadata": {"retryAfterMs": 1500}}}, 1.5),
        ({"error": {"message": "slower", "retry-after": "2m"}}, 120.0),
        ({"error": {"type": "usage_limit_reached", "resets_at": 1_800_009_000, "resets_in_seconds": 9000}}, 9000.0),
        ({"error": {"message": "slower", "retry_after": True}}, None),
        ({"error": {"message": "slower", "retry_after": -1}}, None),
        ({"error": {"message": "slower", "retry_after": "soon"}}, None),
    ],
)
def test_the_waiting_time_can_be_in_the_body(body: Any, seconds: float | None) -> None:
    assert classify_response(429, {}, json.dumps(body).encode(), NOW).wait == seconds
    assert classify_response(429, {"retry-after": "3"}, json.dumps(body).encode(), NOW).wait == 3.0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}, "choices": None}, "quota"),
        ({"base_resp": {"status_code": 1002, "status_msg": "rate limit exceeded(RPM)"}}, "rate_limit"),
        ({"code": "Throttling.RateQuota", "message": "Requests rate limit exceeded", "request_id": "1"}, "rate_limit"),
        ({"detail": "Unauthorized"}, "auth"),
        ({"success": False, "message": "upstream failed"}, "server"),
    ],
)
def test_an_error_in_place_of_a_reply_is_classified(body: Any, code: str) -> None:
    with pytest.raises(AttemptFailed) as caught:
        read(json.dumps(body).encode(), "chat", "openai")
    assert caught.value.code == code


NO_KEY: list[Any] = [
    # FastAPI's own, and what its users' tutorials have.
    *({"detail": text} for text in ("Not authenticated", "Could not validate credentials", "Invalid API key")),
    *({"detail": text} for text in ("Invalid or missing API Key", "Token has expired", "Authorization header missing")),
    {"detail": [{"loc": ["header", "authorization"], "msg": "Field required", "type": "missing"}]},
    {"detail": {"message": "API key is required", "code": "no_key"}},
    # API gateways: Kong, AWS, Apigee, Istio; One API, Baidu, problem details.
    *({"message": text} for text in ("Unauthorized", "No API key found in request", "Missing Authentication Token")),
    {"message": "The security token included in the request is invalid."},
    {"fault": {"faultstring": "Invalid ApiKey", "detail": {"errorcode": "oauth.v2.InvalidApiKey"}}},
    *({"message": "Jwt is missing"}, {"msg": "RBAC: access denied"}, {"Message": "User is not authorized to do this"}),
    *(
        {"success": False, "message": "无效的令牌"},
        {"error_code": 110, "error_msg": "Access token invalid or no longer valid"},
    ),
    *(
        {"status": 401, "title": "Unauthorized"},
        {"errors": [{"message": "Unauthorized"}]},
        {"errors": ["Unauthorized"]},
    ),
    *("Unauthorized", {"error": "Unauthorized"}),
]


@pytest.mark.parametrize("body", NO_KEY)
@pytest.mark.parametrize("server", ["openai", "anthropic", "scores"])
def test_a_rejected_key_is_recognised_at_any_status(body: Any, server: str) -> None:
    """A run pauses for it at once where nothing has been answered yet."""
    task, profile = ("score", "vllm") if server == "scores" else ("chat", server)
    with pytest.raises(AttemptFailed) as caught:
        read(json.dumps(body).encode(), task, profile)
    assert (caught.value.code, caught.value.everywhere) == ("auth", True)


def test_a_refusal_in_plain_words_or_with_a_500() -> None:
    for text in (b"Unauthorized", b"Not authenticated\n", b"invalid api key"):
        with pytest.raises(AttemptFailed) as caught:
            read(text, "chat", "openai")
        assert (caught.value.code, caught.value.everywhere) == ("auth", True)
    assert classify_response(500, {}, b'{"error":"Unauthorized"}').code == "auth"


@pytest.mark.parametrize("text", ["Invalid token count", "max token is invalid", "upstream failed", "no tokens left"])
def test_a_message_that_only_resembles_a_key_error_is_retried(text: str) -> None:
    with pytest.raises(AttemptFailed) as caught:
        read(json.dumps({"message": text}).encode(), "chat", "openai")
    assert caught.value.code == "server"
    assert classify_response(500, {}, json.dumps({"error": "x" * 100 + " unauthorized"}).encode()).code == "server"


def test_extra_fields_do_not_affect_a_reply() -> None:
    whole = chat_reply("Yes") | {"base_resp": {"status_code": 0, "status_msg": ""}, "message": "ok", "error": {}}
    whole["usage"] = {"input_tokens": 10, "output_tokens": 5}
    reply = read(b"\xef\xbb\xbf" + json.dumps(whole).encode(), "chat", "openai")
    assert (reply.text, reply.usage.prompt_tokens, reply.usage.completion_tokens) == ("Yes", 10, 5)


@pytest.mark.parametrize(
    "error", [None, {}, "", {"message": None, "code": None}, {"message": "", "type": "", "code": 0}]
)
def test_an_empty_error_is_ignored(error: Any) -> None:
    choice = chat_reply("Yes")["choices"][0]
    for whole in (chat_reply("Yes") | {"error": error}, {"choices": [choice | {"error": error}]}):
        assert read(json.dumps(whole).encode(), "chat", "openai").text == "Yes"


def test_a_reply_in_events_is_called_that() -> None:
    for body in (b"data: {}\n\n", b"event: message_start\ndata: {}\n\n", b": keep-alive\n\ndata: {}\n\n"):
        with pytest.raises(AttemptFailed, match="a stream of events, which is not read") as caught:
            read(body, "chat", "openai")
        assert caught.value.everywhere


def test_an_error_with_an_empty_list_of_choices_is_an_error() -> None:
    for name in (b"choices", b"content", b"output"):
        for empty in (b"null", b"[]"):
            with pytest.raises(AttemptFailed, match="Invalid API key") as caught:
                read(b'{"%b": %b, "message": "Invalid API key", "code": 401}' % (name, empty), "chat", "openai")
            assert caught.value.everywhere


def test_an_unknown_reply_is_quoted() -> None:
    """Tencent's gateway and a misconfigured Lambda answer with status 200, each in another format."""
    for data in ({"Response": {"Error": {"Message": "not in service"}}}, {"statusCode": 401, "body": "not in service"}):
        with pytest.raises(AttemptFailed, match="not in service"):
            read(json.dumps(data).encode(), "chat", "openai")


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=30) | st.just('{"error": "a"}'),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "detail", "metadata", "raw", "code", "msg", "loc"]), inner
        )
    ),
    max_leaves=12,
)


@given(st.binary(max_size=60) | _JSON.map(lambda data: json.dumps(data).encode()), st.integers(300, 599))
def test_any_body_is_a_failure_of_one_line(body: bytes, status: int) -> None:
    failure = classify_response(status, {}, body, NOW)
    assert failure.detail.startswith(f"HTTP {status}")
    assert "\n" not in failure.detail


@pytest.mark.parametrize(
    "body", [b'{"error": "' + b"wait 9" * 300_000 + b'"}', b'[{"error":' * 50_000, b"<html><title>" + b"a" * 10**6]
)
def test_an_endless_body_is_read_in_no_time(body: bytes) -> None:
    assert len(classify_response(429, {}, body, NOW).detail) < 400


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "Provider returned error", "metadata": {"raw": "slow down"}}}, "slow down"),
        ({"error": {"message": '{"error": {"message": "inside", "status": "X"}}'}}, "inside"),
        ([{"error": {"message": "in a list"}}], "in a list"),
        ({"detail": [{"loc": ["body", "top_k"], "msg": "not permitted"}]}, "top_k: not permitted"),
        ({"error": "Too Many Requests", "message": "slower"}, "Too Many Requests: slower"),
    ],
)
def test_error_messages_are_found_in_every_field(body: Any, words: str) -> None:
    assert error_event(json.dumps(body).encode()).words == words


def test_a_page_is_named_by_its_title() -> None:
    page = b"<!DOCTYPE html><html><head><title>Sign in &amp; go on</title></head><body>" + b"x" * 5000
    assert classify_response(502, {}, page).detail == "HTTP 502: an HTML page, “Sign in & go on”"


def test_a_redirect_names_only_the_host() -> None:
    failure = classify_response(307, {"location": "https://evil.example/x?token=abc"}, b"")
    assert "evil.example" in failure.detail
    assert "abc" not in failure.detail


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": formatdate(NOW + 90, usegmt=True)}, 90.0),
        ({"retry-after": formatdate(NOW - 90, usegmt=True)}, 0.0),
        # The zone that isn't said is Greenwich's, wherever this machine is.
        ({"retry-after": datetime.fromtimestamp(NOW + 90, UTC).strftime("%a %b %d %H:%M:%S %Y")}, 90.0),
        ({"retry-after": formatdate(NOW + 90)}, 90.0),
        ({"retry-after": datetime.fromtimestamp(NOW + 90, UTC).strftime("%Y-%m-%dT%H:%M:%S")}, 90.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Fri, 99 Foo 2026 00:00:00 GMT"}, None),
    ],
)
def test_forms_of_retry_after(headers: dict[str, str], seconds: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for zone in ("UTC", "America/Los_Angeles"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        try:
            assert requested_wait(headers, NOW) == seconds
        finally:
            monkeypatch.undo()
            time.tzset()


@given(st.text(max_size=40))
def test_any_retry_after_is_a_time_or_nothing(text: str) -> None:
    wait = requested_wait({"retry-after": text}, NOW)
    assert wait is None or wait >= 0


def waits(*failures: AttemptFailed) -> list[float | None]:
    patience = Patience(HeldClock())
    return [patience.wait(failure) for failure in failures]


def server(status: int = 500) -> AttemptFailed:
    return AttemptFailed("server", "x", status=status)


def test_backoff_doubles_up_to_ten_seconds_and_ends_after_eight_attempts() -> None:
    assert waits(*[server()] * 8) == [0.5, 1, 2, 4, 8, 10, 10, None]


def test_a_call_is_abandoned_after_five_identical_failures() -> None:
    mixed = [server(500), server(502)] * 6
    assert None not in waits(*mixed)
    assert waits(*mixed, *[server(500)] * 5).index(None) == len(mixed) + 4
    assert waits(*[server(500), server(502)] * MAX_ATTEMPTS).index(None) == MAX_ATTEMPTS - 1


@pytest.mark.parametrize("code", ["auth", "bad_request", "context_length", "content_filter", "quota"])
def test_final_failures_are_not_repeated(code: Any) -> None:
    assert waits(AttemptFailed(code, "x")) == [None]


def test_no_attempt_is_made_before_the_server_allows_it() -> None:
    asked = AttemptFailed("rate_limit", "x", status=429, wait=33.5)
    assert waits(asked) == [33.5]
    assert waits(AttemptFailed("rate_limit", "x", status=429, wait=0.0)) == [0.5]


def test_rate_limits_use_up_patience_but_no_attempts() -> None:
    clock = HeldClock()
    patience = Patience(clock)
    limited = AttemptFailed("rate_limit", "x", status=429, wait=30.0)
    count = 0
    while (wait := patience.wait(limited)) is not None:
        clock.time += wait
        count += 1
    assert count > 10 * MIN_ATTEMPTS
    assert clock.time <= MAX_CALL_S
    assert None not in waits(*[limited] * MAX_ATTEMPTS, server())
