"""The options shared by all verifiers with a server."""

from __future__ import annotations

from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.options import Options, option
from workbench.llm.server import Limits, ModelServer
from workbench.verifiers.option_record import parse_record
from workbench.verifiers.serving import InsertionOptions, limits_from, server_from


class Numbers(Options, frozen=True, kw_only=True):
    share: Annotated[float, option(ge=0, le=100)] = 0.0
    count: Annotated[int, option(ge=0, le=100)] = 0


LOCAL = {"base_url": "http://localhost:8000/v1", "model": "m"}


def test_missing_options_have_defaults() -> None:
    server = server_from(LOCAL)
    assert server == ModelServer(profile="openai-compatible", base_url="http://localhost:8000/v1", model="m")
    assert limits_from({}) == Limits()


def test_every_option_can_be_set() -> None:
    options = {
        "base_url": "http://a:1/v1",
        "model": "m",
        "server": "vllm",
        "api_key_env": "MY_KEY_2",
        "timeout": "2.5",
        "concurrency": "7",
        "rpm": "0.5",
        "tpm": "1e6",
        "max_calls": "0",
        "max_tokens_total": "10",
        "max_cost": "0",
        "strategy": "another's option",
    }
    assert server_from(options) == ModelServer(
        profile="vllm", base_url="http://a:1/v1", model="m", key_variable="MY_KEY_2", timeout_s=2.5
    )
    assert limits_from(options) == Limits(concurrency=7, rpm=0.5, tpm=1e6, max_calls=0, max_tokens_total=10, max_cost=0)


@pytest.mark.parametrize("urls", ["http://a:1/v1,http://b:2/v1", "http://a:1/v1, http://b:2/v1", "http://a:1/v1,"])
def test_several_addresses_are_rejected_with_advice(urls: str) -> None:
    with pytest.raises(ValueError, match=r"^base_url: .*one address.*load balancer or proxy"):
        server_from({**LOCAL, "base_url": urls})


@pytest.mark.parametrize(
    ("url", "kind"),
    [("https://api.openai.com/v1", "openai"), ("https://api.anthropic.com/v1", "anthropic"), ("http://h/v1", None)],
)
def test_the_kind_of_server_is_inferred(url: str, kind: str | None) -> None:
    assert server_from({**LOCAL, "base_url": url}).profile == (kind or "openai-compatible")


@pytest.mark.parametrize(("text", "value"), [("true", True), ("on", True), ("false", False), ("off", False)])
def test_a_switch(text: str, value: bool) -> None:
    assert parse_record(InsertionOptions, {"fence": text}).fence is value
    assert parse_record(InsertionOptions, {}).fence is None


@pytest.mark.parametrize(
    "text", ["", " 3 ", "1_0", "\u0663", "\u00bd", "0x10", "nan", "inf", "1e999", "9" * 5000, "x" * 5000]
)
def test_an_invalid_number_is_rejected_in_a_short_sentence(text: str) -> None:
    for name in ("share", "count"):
        with pytest.raises(ValueError, match=rf"^{name}: ") as caught:
            parse_record(Numbers, {name: text})
        assert len(str(caught.value)) < 120
        assert str(caught.value).isascii()


@pytest.mark.parametrize("text", ["", "  ", "a\nb", "\x1b[2J", "\u202eled", "\udc80", "x" * 301])
def test_an_invalid_model_name_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"^model: "):
        server_from({**LOCAL, "model": text})


def test_an_invalid_choice_is_quoted_in_short() -> None:
    with pytest.raises(ValueError, match=r"^fence: ") as caught:
        parse_record(InsertionOptions, {"fence": "\x1b" * 5000})
    assert len(str(caught.value)) < 300
    assert "\x1b" not in str(caught.value)


@given(st.text(max_size=20))
def test_any_text_is_a_number_or_rejected_with_the_option_name(text: str) -> None:
    for name in ("share", "count"):
        try:
            value = getattr(parse_record(Numbers, {name: text}), name)
        except ValueError:
            with pytest.raises(ValueError, match=rf"^{name}: "):
                parse_record(Numbers, {name: text})
        else:
            assert 0 <= value <= 100
