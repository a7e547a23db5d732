"""Custom parts of requests: fields, headers, effort, and a key from a file or a program."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.memory import HeldClock, MemoryJournal
from tests.servers.scripted import Received, scripted
from tests.unit.llm.calling import NO_LIMITS, SECRET, chat_of
from workbench.llm.caller import Caller
from workbench.llm.records import Chat, Halt, PromptMessage
from workbench.llm.server import ModelServer
from workbench.verifiers.base import identity
from workbench.verifiers.judges.verifier import LlmJudge
from workbench.verifiers.serving import server_from

GIVEN = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
CHAT = Chat(messages=(PromptMessage("system", "Be brief."), PromptMessage("user", "q")))


def judge_on(options: dict[str, str], environment: dict[str, str], journal: MemoryJournal, clock: HeldClock) -> Caller:
    return Caller({"judge": server_from(options)}, NO_LIMITS, journal, environment=environment, clock=clock)


async def sent(options: dict[str, str], environment: dict[str, str] | None = None, chat: Chat = CHAT) -> Received:
    """Return the request that a server receives."""
    with scripted(lambda _: "Yes") as server:
        whole = GIVEN | options | {"base_url": server.url}
        async with judge_on(whole, environment or {}, MemoryJournal(), HeldClock()) as caller:
            await caller.call(1, "judge", chat)
        (received,) = server.received
        return received


async def body_of(options: dict[str, str], chat: Chat = CHAT) -> dict[str, Any]:
    found: dict[str, Any] = (await sent({"server": "vllm"} | options, {"K": "key"}, chat)).body
    return found


async def test_custom_fields_override_all_others() -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "temperature": 0.3, "min_p": 0.1}
    body = await body_of({"extra_body": json.dumps(extra)})
    assert {name: body[name] for name in extra} == extra
    assert body["model"] == "m"


async def test_effort_is_in_the_field_of_the_server_kind() -> None:
    options = {"reasoning_effort": "high", "api_key_env": "K"}
    assert (await body_of(options))["reasoning_effort"] == "high"
    assert (await body_of(options | {"server": "openrouter"}))["reasoning"] == {"effort": "high"}
    assert (await body_of(options | {"server": "anthropic"}))["output_config"] == {"effort": "high"}


async def test_the_longest_reply_has_the_name_that_was_chosen() -> None:
    body = await body_of({"max_tokens_field": "max_new_tokens"}, chat_of("q", 9))
    assert (body["max_new_tokens"], "max_tokens" in body) == (9, False)


@pytest.mark.parametrize("server", ["vllm", "anthropic"])
async def test_the_systems_words_open_the_users(server: str) -> None:
    body = await body_of({"fold_system": "true", "server": server, "api_key_env": "K"})
    assert body["messages"] == [{"role": "user", "content": "Be brief.\n\nq"}]
    assert "system" not in body


async def test_headers_are_sent_and_secret_ones_not_stored() -> None:
    journal = MemoryJournal()

    def quoting(received: Received) -> str:
        return f"{received.headers['x-team']} {received.headers['x-gateway-key']}"

    headers = {"X-Team": "judges", "X-Gateway-Key": "$GATEWAY"}
    with scripted(quoting) as server:
        options = GIVEN | {"base_url": server.url, "extra_headers": json.dumps(headers)}
        async with judge_on(options, {"GATEWAY": SECRET}, journal, HeldClock()) as caller:
            reply = (await caller.call(1, "judge", chat_of("q"))).reply
    assert reply.text == "judges [key]"
    assert SECRET.encode() not in next(iter(journal.responses.values())).body
    config = json.dumps(LlmJudge(**options).config())
    assert "judges" in config
    assert "GATEWAY" not in config


async def test_a_header_whose_variable_is_not_set_halts() -> None:
    options = GIVEN | {"extra_headers": '{"X-Gateway-Key": "$GATEWAY"}'}
    async with judge_on(options, {}, MemoryJournal(), HeldClock()) as caller:
        with pytest.raises(Halt, match="x-gateway-key from GATEWAY") as caught:
            await caller.call(1, "judge", chat_of("q"))
    assert caught.value.code == "auth"


def test_the_identity_includes_fields_but_not_key_locations() -> None:
    plain = identity(LlmJudge(**GIVEN))
    for name, value in (
        ("extra_body", '{"min_p": 0.1}'),
        ("extra_headers", '{"X-Team": "a"}'),
        ("reasoning_effort", "low"),
        ("max_tokens_field", "max_new_tokens"),
        ("fold_system", "true"),
        ("temperature", "none"),
        ("max_tokens", "none"),
    ):
        assert identity(LlmJudge(**GIVEN, **{name: value})) != plain, name
    for name, value in (("api_key_file", "k"), ("api_key_command", "k"), ("api_key_env", "K"), ("extra_body", "{}")):
        assert identity(LlmJudge(**GIVEN, **{name: value})) == plain, name


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"extra_body": "{"}, "extra_body: it is not valid JSON"),
        ({"extra_body": "[1]"}, "extra_body: must be a JSON object"),
        ({"extra_body": '{"messages": []}'}, "extra_body: 'messages' is a field that the judge sets itself; remove it"),
        ({"extra_headers": '{"Authorization": "Bearer sk-1234567890"}'}, "extra_headers: Authorization: put the value"),
        ({"extra_headers": '{"X-Api-Key": "secret"}'}, "extra_headers: X-Api-Key: put the value"),
        ({"extra_headers": '{"X-A": "a\\nb"}'}, "extra_headers: names are letters"),
        ({"extra_headers": '{"X-A": "$not a name"}'}, "extra_headers: X-A: write the name of an environment variable"),
        ({"extra_headers": '{"X A": "a"}'}, "extra_headers: names are letters"),
        ({"max_tokens_field": "a b"}, "max_tokens_field: must be the name of a field"),
        ({"server": "anthropic", "max_tokens_field": "x"}, "max_tokens_field: must be the name of a field"),
        ({"reasoning_effort": "very high"}, "reasoning_effort: must be one word"),
        ({"api_key_file": "a", "api_key_env": "B"}, "api_key_env: the key has two sources"),
        ({"api_key_command": "a 'b"}, "api_key_command: "),
        ({"api_key_command": " "}, "api_key_command: "),
        ({"api_key_file": "a\nb"}, "api_key_file: must be one line"),
    ],
)
def test_invalid_options_are_rejected_without_echoing_a_secret(options: dict[str, str], wrong: str) -> None:
    with pytest.raises(ValueError, match="^" + wrong.replace("$", r"\$").replace("{", r"\{")) as caught:
        server_from(GIVEN | options)
    assert "sk-1234567890" not in str(caught.value)


async def test_sampling_is_omitted_if_set_to_none() -> None:
    (template,) = {call.sampling for call in LlmJudge(**GIVEN, temperature="none", max_tokens="none")._template.calls}
    body = await body_of({}, Chat(messages=CHAT.messages, sampling=template))
    assert body.keys() == {"model", "messages"}
    LlmJudge(**GIVEN, temperature="none", samples="5")


async def test_a_key_is_read_of_a_file_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(f"{SECRET}\n")
    clock, journal = HeldClock(), MemoryJournal()
    with scripted(lambda _: "Yes") as server:
        options = GIVEN | {"base_url": server.url, "api_key_file": os.fspath(path)}
        async with judge_on(options, {"OPENAI_API_KEY": "other"}, journal, clock) as caller:
            await caller.call(1, "judge", chat_of("a"))
            path.write_text("another-long-key")
            await caller.call(1, "judge", chat_of("b"))
            clock.time += 301
            await caller.call(1, "judge", chat_of("c"))
    keys = [received.headers["authorization"] for received in server.received]
    assert keys == [f"Bearer {SECRET}", f"Bearer {SECRET}", "Bearer another-long-key"]
    assert SECRET not in repr(journal.attempts) + repr(options)


async def test_a_key_can_come_from_a_program_run_without_a_shell(tmp_path: Path) -> None:
    script = "import sys; print(sys.argv[1])"
    marker = tmp_path / "run"
    command = f"{sys.executable} -c '{script}' 'abcdefgh;touch${{IFS}}{marker}'"
    received = await sent({"api_key_command": command})
    assert received.headers["authorization"] == f"Bearer abcdefgh;touch${{IFS}}{marker}"
    assert not marker.exists()


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("api_key_file", "/nowhere/key", "No such file"),
        ("api_key_command", "/nowhere/program", "No such file"),
        ("api_key_command", f"{sys.executable} -c 'raise SystemExit(3)'", "it ended with 3"),
        ("api_key_command", f"{sys.executable} -c 'pass'", "it holds no key"),
    ],
)
async def test_a_key_that_is_not_there_halts(option: str, value: str, says: str) -> None:
    with scripted(lambda _: "Yes") as server:
        options = GIVEN | {"base_url": server.url, option: value}
        async with judge_on(options, {}, MemoryJournal(), HeldClock()) as caller:
            with pytest.raises(Halt, match=says) as caught:
                await caller.call(1, "judge", chat_of("a"))
    assert caught.value.code == "auth"
    assert server.received == []


async def test_replies_under_other_headers_are_others() -> None:
    journal = MemoryJournal()
    with scripted(lambda _: "Yes") as server:
        for headers in ({}, {"X-Beta": "a"}, {"X-Beta": "b"}, {"X-Beta": "a"}):
            options = GIVEN | {"base_url": server.url, "extra_headers": json.dumps(headers)}
            async with judge_on(options, {}, journal, HeldClock()) as caller:
                await caller.call(1, "judge", chat_of("q"))
    assert len(server.received) == 3


async def test_an_unknown_setting_never_reaches_another_host() -> None:
    judge = LlmJudge(
        **GIVEN,
        strategy="test-cases",
        test_base_url="http://127.0.0.1:10/v1",
        test_model="m",
        extra_headers='{"X-Gateway-Key": "$G"}',
        api_key_file="k",
    )
    tests: ModelServer = judge.servers()["tests"]
    assert (tests.extras.headers, tests.key_file) == ({}, None)


async def test_a_call_without_these_settings_is_unchanged() -> None:
    assert await body_of({}) == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "q"}],
    }
